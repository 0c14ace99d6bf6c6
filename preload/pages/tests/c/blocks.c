/* Blocks of malloc of all sizes, which are aligned, have room, keep their bytes, and are zero where asked. */
#include "check.h"
#include <malloc.h>

enum { THREADS = 4, BLOCKS = 32 };

static void *thread(void *argument)
{
	unsigned char *blocks[BLOCKS] = { 0 };
	size_t sizes[BLOCKS];
	unsigned state = (unsigned)(size_t)argument, round;
	unsigned char own = (unsigned char)(size_t)argument;

	for (round = 0; round < 4000; round++) {
		size_t at = chance(&state) % BLOCKS;
		size_t size = 1 + chance(&state) % (1u << (chance(&state) % 23));

		if (blocks[at]) {
			CHECK(all(blocks[at], sizes[at], own));
			if (chance(&state) % 3 == 0) {
				size_t same = size < sizes[at] ? size : sizes[at];

				blocks[at] = realloc(blocks[at], size);
				CHECK(blocks[at] && all(blocks[at], same, own));
				sizes[at] = size;
				memset(blocks[at], own, size);
				continue;
			}
			free(blocks[at]);
			blocks[at] = NULL;
			continue;
		}
		switch (chance(&state) % 4) {
		case 0:
			blocks[at] = calloc(1, size);
			CHECK(blocks[at] && all(blocks[at], size, 0));
			break;
		case 1: {
			size_t align = 16UL << (chance(&state) % 15);
			void *block = NULL;

			CHECK(posix_memalign(&block, align, size) == 0);
			CHECK((size_t)block % align == 0);
			blocks[at] = block;
			break;
		}
		default:
			blocks[at] = malloc(size);
		}
		CHECK(blocks[at] != NULL);
		CHECK(size < 16 || (size_t)blocks[at] % 16 == 0);
		CHECK(malloc_usable_size(blocks[at]) >= size);
		sizes[at] = size;
		memset(blocks[at], own, size);
	}
	for (round = 0; round < BLOCKS; round++)
		free(blocks[round]);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	unsigned char *block;
	size_t at, size;
	volatile size_t too_much = (size_t)-4096;

	block = NULL;
	/* It grows by small steps, as a buffer does that is appended to. */
	for (size = 100000; size < 6 << 20; size += 5000) {
		block = realloc(block, size);
		CHECK(block != NULL);
		memset(block + size - 5000, 3, 5000);
	}
	CHECK(all(block + 95000, size - 5000 - 95000, 3));
	/* It shrinks, and becomes small. */
	for (; size > 1000; size /= 2) {
		block = realloc(block, size);
		CHECK(block != NULL);
	}
	free(block);
	free(NULL);
	CHECK(realloc(malloc(1 << 20), 0) == NULL);
	CHECK(calloc(too_much, 2) == NULL && errno == ENOMEM);
	CHECK(malloc(too_much) == NULL && errno == ENOMEM);
	errno = 77;
	block = malloc(1 << 20);
	free(block);
	CHECK(errno == 77);
	for (at = 0; at < 20; at++) {
		void *aligned = memalign(1UL << at, 1 << 20);

		CHECK(aligned && (size_t)aligned % (1UL << at) == 0);
		free(aligned);
		aligned = aligned_alloc(1UL << at, 1 << 20);
		CHECK(aligned && (size_t)aligned % (1UL << at) == 0);
		free(aligned);
	}
	CHECK(posix_memalign((void **)&block, 3, 1 << 20) == EINVAL);
	for (at = 0; at < THREADS; at++)
		CHECK(pthread_create(&threads[at], NULL, thread, (void *)(at + 1)) == 0);
	for (at = 0; at < THREADS; at++)
		CHECK(pthread_join(threads[at], NULL) == 0);
	puts("ok");
	return 0;
}
