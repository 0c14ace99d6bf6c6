/*
 * A program that maps much and touches little must not end up with more memory than it touches: the pool
 * finds out, and no longer clears what is never looked at.
 */
#include "check.h"

enum { BYTES = 2 << 20, ROUNDS = 100, COUNT = 30 };

static long resident(void)
{
	long size, pages;
	FILE *file = fopen("/proc/self/statm", "r");

	CHECK(file != NULL && fscanf(file, "%ld %ld", &size, &pages) == 2);
	fclose(file);
	return pages;
}

int main(void)
{
	unsigned char *memory[COUNT];
	long before = resident(), more = 0;
	int at, round;

	for (round = 0; round < ROUNDS; round++) {
		for (at = 0; at < COUNT; at++) {
			memory[at] = map(BYTES);
			CHECK(memory[at][round * 5 * PAGE] == 0);
			memory[at][round * 5 * PAGE] = 1;
		}
		more = resident() - before;
		for (at = 0; at < COUNT; at++)
			CHECK(munmap(memory[at], BYTES) == 0);
	}
	/* One page of 512 is touched; the others have no memory. */
	CHECK(more < COUNT * 512 / 4);
	puts("ok");
	return 0;
}
