/*
 * A program that maps much and touches little must not end up with more memory than it touches: the pool
 * finds out, and no longer clears what is never looked at.
 */
#include "check.h"

enum { BYTES = 2 << 20, ROUNDS = 3000, KEPT = 100 };

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
	unsigned char *kept[KEPT];
	long before;
	int at;

	for (at = 0; at < ROUNDS; at++) {
		unsigned char *memory = map(BYTES);

		CHECK(memory[at % 512 * PAGE] == 0);
		memory[at % 512 * PAGE] = 1;
		CHECK(munmap(memory, BYTES) == 0);
	}
	before = resident();
	for (at = 0; at < KEPT; at++) {
		kept[at] = map(BYTES);
		kept[at][0] = 1;
	}
	/* Two in a hundred of the pages, or a huge page for each if the system likes these. */
	printf(resident() - before < KEPT * 512 / 4 ? "ok\n" : "%ld pages are too many\n",
	       resident() - before);
	return 0;
}
