/* Mappings at addresses that the program names, where it had memory a moment ago or still has some. */
#include "check.h"

enum { BYTES = 16 * 4096, PLAIN = MAP_PRIVATE | MAP_ANONYMOUS, MOVE = MREMAP_MAYMOVE | MREMAP_FIXED };

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

static void *at(void *address, size_t bytes, int flags)
{
	return mmap(address, bytes, PROT_READ | PROT_WRITE, PLAIN | flags, -1, 0);
}

/* Moves that the kernel refuses, after which all is as it was. */
static void refused(void)
{
	unsigned char *from = map(BYTES), *to = map(BYTES), *other;

	memset(from, 1, BYTES);
	memset(to, 2, BYTES);
	other = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(other != MAP_FAILED);
#define REFUSED(...) \
	do { \
		errno = 0; \
		CHECK(mremap(__VA_ARGS__) == MAP_FAILED && errno == EINVAL); \
		CHECK(all(from, BYTES, 1) && all(to, BYTES, 2)); \
	} while (0)
	REFUSED(from, PAGE, PAGE, MREMAP_FIXED, to);
	REFUSED(from, 2 * PAGE, 2 * PAGE, MOVE, to + 1);
	REFUSED(from, 2 * PAGE, 2 * PAGE, MOVE, from + PAGE);
	REFUSED(from + PAGE, 2 * PAGE, 2 * PAGE, MOVE, from);
	REFUSED(from, PAGE, (size_t)-1, MOVE, to);
	REFUSED(from, PAGE, (size_t)-1, MREMAP_MAYMOVE, NULL);
	REFUSED(from, PAGE, PAGE, MREMAP_DONTUNMAP, NULL);
	REFUSED(from, PAGE, 2 * PAGE, MREMAP_DONTUNMAP | MREMAP_MAYMOVE, NULL);
	REFUSED(from + 1, PAGE, 2 * PAGE, MREMAP_MAYMOVE, NULL);
	REFUSED(from, PAGE, 0, MREMAP_MAYMOVE, NULL);
	REFUSED(from, PAGE, PAGE, 0x100, NULL);
	/* From a mapping of the kernel's. */
	REFUSED(other, PAGE, PAGE, MREMAP_FIXED, to);
	REFUSED(other + 1, PAGE, PAGE, MOVE, to);
	REFUSED(other, PAGE, 0, MOVE, to);
	CHECK(munmap(from, BYTES) == 0 && munmap(to, BYTES) == 0 && munmap(other, BYTES) == 0);
	/* A mapping that fails takes nothing away. */
	errno = 0;
	CHECK(mmap(from, BYTES, PROT_READ, MAP_PRIVATE | MAP_FIXED, -1, 0) == MAP_FAILED && errno == EBADF);
	from = map(BYTES);
	CHECK(all(from, BYTES, 0));
	CHECK(munmap(from, BYTES) == 0);
}

/* What is free can be mapped, and what is not is an error. */
static void free_or_not(void)
{
	unsigned char *memory = map(BYTES), *other, *more;

	memset(memory, 1, BYTES);
	CHECK(at(memory, BYTES, MAP_FIXED_NOREPLACE) == MAP_FAILED && errno == EEXIST);
	CHECK(all(memory, BYTES, 1));
	CHECK(munmap(memory, BYTES) == 0);
	CHECK(at(memory, BYTES, MAP_FIXED_NOREPLACE) == memory);
	CHECK(all(memory, BYTES, 0));
	memset(memory, 2, BYTES);
	/* Nobody else gets it. */
	other = map(BYTES);
	CHECK(all(other, BYTES, 0));
	memset(other, 3, BYTES);
	CHECK(all(memory, BYTES, 2));
	CHECK(munmap(memory, BYTES / 2) == 0);
	CHECK(at(memory, BYTES, MAP_FIXED_NOREPLACE) == MAP_FAILED && errno == EEXIST);
	CHECK(all(memory + BYTES / 2, BYTES / 2, 2));
	more = at(memory, BYTES / 2, MAP_FIXED_NOREPLACE);
	CHECK(more == memory && all(memory, BYTES / 2, 0) && all(memory + BYTES / 2, BYTES / 2, 2));
	CHECK(munmap(memory, BYTES) == 0 && munmap(other, BYTES) == 0);
}

static int is_free(unsigned char *page)
{
	unsigned char state;

	return mincore(page, PAGE, &state) == -1 && errno == ENOMEM;
}

/* A stack that grows down into where memory was, which is its own from then on. */
static void stack(void)
{
	enum { GAP = 256, ROOM = 32, TOP = 4, ALL = GAP + ROOM + TOP, MANY = 40 };
	unsigned char *start = map(ALL * PAGE), *top = start + (GAP + ROOM) * PAGE, *others[MANY];
	volatile unsigned char *page;
	size_t number;

	memset(start, 1, ALL * PAGE);
	CHECK(munmap(start, ALL * PAGE) == 0);
	CHECK(at(top, TOP * PAGE, MAP_FIXED | MAP_GROWSDOWN) == top);
	CHECK(is_free(top - PAGE));
	for (page = top + TOP * PAGE - 1; page > top - ROOM * PAGE; page -= PAGE) {
		CHECK(*page == 0);
		*page = 9;
	}
	CHECK(!is_free(top - PAGE));
	for (number = 0; number < MANY; number++) {
		others[number] = map(ALL * PAGE);
		CHECK(all(others[number], ALL * PAGE, 0));
		memset(others[number], 2, ALL * PAGE);
	}
	for (page = top + TOP * PAGE - 1; page > top - ROOM * PAGE; page -= PAGE)
		CHECK(*page == 9);
	CHECK(munmap(top - ROOM * PAGE, (ROOM + TOP) * PAGE) == 0);
	for (number = 0; number < MANY; number++) {
		CHECK(all(others[number], ALL * PAGE, 2));
		CHECK(munmap(others[number], ALL * PAGE) == 0);
	}
	for (number = 0; number < MANY; number++) {
		others[number] = map(ALL * PAGE);
		CHECK(all(others[number], ALL * PAGE, 0));
	}
	for (number = 0; number < MANY; number++)
		CHECK(munmap(others[number], ALL * PAGE) == 0);
}

int main(void)
{
	int round;

	for (round = 0; round < 20; round++) {
		refused();
		free_or_not();
		stack();
	}
	puts("ok");
	return 0;
}
