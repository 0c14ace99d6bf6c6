/* A library whose constructor and destructor use much memory. */
#include "check.h"

static unsigned char *kept, *block;

__attribute__((constructor)) static void start(void)
{
	unsigned char *memory = map(1 << 20);

	CHECK(all(memory, 1 << 20, 0));
	memset(memory, 1, 1 << 20);
	CHECK(munmap(memory, 1 << 20) == 0);
	kept = map(1 << 20);
	CHECK(all(kept, 1 << 20, 0));
	memset(kept, 2, 1 << 20);
	block = malloc(1 << 20);
	CHECK(block != NULL);
	memset(block, 3, 1 << 20);
}

__attribute__((destructor)) static void end(void)
{
	CHECK(all(kept, 1 << 20, 2) && all(block, 1 << 20, 3));
	CHECK(munmap(kept, 1 << 20) == 0);
	free(block);
}
