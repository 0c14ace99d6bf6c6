/*
 * Many threads map, fill, check, cut and unmap memory, and allocate blocks of zeros. None of them may
 * ever see what another one wrote. Some of them fork meanwhile, and the children go on in the same way.
 */
#include "check.h"

enum { THREADS = 6, RANGES = 8, BYTES = 2 << 20 };

struct range {
	unsigned char *memory;
	size_t bytes;
	unsigned char value;
	int block; /* whether it is one of calloc */
};

static void fill(struct range *range, unsigned char value)
{
	memset(range->memory, value, range->bytes);
	range->value = value;
}

static void take(struct range *range, unsigned *state, unsigned char value)
{
	range->bytes = (1 + chance(state) % (BYTES / PAGE)) * PAGE;
	if (chance(state) % 2)
		range->bytes = (1 + chance(state) % 40) * PAGE;
	range->block = chance(state) % 3 == 0;
	if (range->block) {
		range->memory = calloc(1, range->bytes);
		CHECK(range->memory != NULL);
	} else {
		range->memory = map(range->bytes);
	}
	CHECK(all(range->memory, range->bytes, 0));
	fill(range, value);
}

static void give(struct range *range)
{
	CHECK(all(range->memory, range->bytes, range->value));
	if (range->block)
		free(range->memory);
	else
		CHECK(munmap(range->memory, range->bytes) == 0);
	range->memory = NULL;
}

/* Unmaps a part of a range: the begin, the end, or a hole. What is behind a hole goes, too. */
static void cut(struct range *range, unsigned *state)
{
	size_t pages = range->bytes / PAGE, from, count;

	if (range->block || pages < 3)
		return;
	from = chance(state) % pages;
	count = 1 + chance(state) % (pages - from);
	CHECK(munmap(range->memory + from * PAGE, count * PAGE) == 0);
	if (from == 0) {
		range->memory += count * PAGE;
		range->bytes -= count * PAGE;
	} else {
		size_t behind = (from + count) * PAGE;

		CHECK(all(range->memory + behind, range->bytes - behind, range->value));
		if (behind < range->bytes)
			CHECK(munmap(range->memory + behind, range->bytes - behind) == 0);
		range->bytes = from * PAGE;
	}
	if (range->bytes == 0)
		range->memory = NULL;
}

static void move(struct range *range, unsigned *state)
{
	size_t bytes = (1 + chance(state) % (BYTES / PAGE)) * PAGE;
	size_t same = bytes < range->bytes ? bytes : range->bytes;
	unsigned char *memory;

	if (range->block)
		memory = realloc(range->memory, bytes);
	else
		memory = mremap(range->memory, range->bytes, bytes, MREMAP_MAYMOVE);
	CHECK(memory != NULL && memory != MAP_FAILED);
	CHECK(all(memory, same, range->value));
	if (!range->block)
		CHECK(all(memory + same, bytes - same, 0));
	range->memory = memory;
	range->bytes = bytes;
	fill(range, range->value);
}

static void work(unsigned seed, int rounds, int forks)
{
	struct range ranges[RANGES];
	unsigned state = seed * 7919;
	int round;

	memset(ranges, 0, sizeof ranges);
	for (round = 0; round < rounds; round++) {
		struct range *range = &ranges[chance(&state) % RANGES];

		if (range->memory == NULL) {
			take(range, &state, 1 + (seed * 16 + chance(&state) % 16) % 255);
			continue;
		}
		switch (chance(&state) % 8) {
		case 0:
			cut(range, &state);
			break;
		case 1:
			move(range, &state);
			break;
		case 2:
			if (forks && round % 16 == 0) {
				pid_t pid = fork();
				int status;

				CHECK(pid >= 0);
				if (pid == 0) {
					int at;

					for (at = 0; at < RANGES; at++)
						if (ranges[at].memory)
							give(&ranges[at]);
					work(seed + 100, 20, 0);
					_exit(0);
				}
				CHECK(waitpid(pid, &status, 0) == pid);
				CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
			}
			break;
		default:
			give(range);
		}
	}
	for (round = 0; round < RANGES; round++)
		if (ranges[round].memory)
			give(&ranges[round]);
}

static void *thread(void *argument)
{
	work((unsigned)(size_t)argument, 400, 1);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	size_t at;

	for (at = 0; at < THREADS; at++)
		CHECK(pthread_create(&threads[at], NULL, thread, (void *)(at + 1)) == 0);
	for (at = 0; at < THREADS; at++)
		CHECK(pthread_join(threads[at], NULL) == 0);
	puts("ok");
	return 0;
}
