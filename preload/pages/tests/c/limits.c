/*
 * Limits on the address space hold as without the pool: memory is there up to the limit, and what was
 * taken before can be used and given back. With an argument, the process was started under a limit.
 */
#include "check.h"

enum { BYTES = 256 * 1024, MANY = 400 };

/* The bytes of addresses that the process has. */
static size_t addresses(void)
{
	size_t pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	CHECK(file != NULL && fscanf(file, "%zu", &pages) == 1);
	fclose(file);
	return pages * PAGE;
}

/* Takes memory until there is no more, and returns how much there was. */
static size_t fill(unsigned char **taken)
{
	size_t count = 0;

	while (count < MANY) {
		unsigned char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
		                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED) {
			CHECK(errno == ENOMEM);
			break;
		}
		CHECK(all(memory, BYTES, 0));
		memset(memory, 1, BYTES);
		taken[count++] = memory;
	}
	return count;
}

int main(int arguments, char **words)
{
	unsigned char *taken[MANY], *before = map(BYTES), *block = malloc(BYTES);
	struct rlimit limit;
	size_t count, at;

	CHECK(before != NULL && block != NULL);
	memset(before, 2, BYTES);
	memset(block, 3, BYTES);
	if (arguments > 1) {
		/* Started with a limit of 64 MiB: most of it must be there for the program. */
		count = fill(taken);
		CHECK(count * BYTES > 30u << 20 && count * BYTES < 64u << 20);
	} else {
		size_t now;

		CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
		/* The limit is below what the pool has in store. */
		limit.rlim_cur = 100u << 20;
		CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
		now = addresses();
		CHECK(now < 50u << 20);
		count = fill(taken);
		CHECK(count * BYTES > 40u << 20 && count * BYTES < 100u << 20);
	}
	CHECK(all(before, BYTES, 2) && all(block, BYTES, 3));
	for (at = 0; at < count; at++)
		CHECK(all(taken[at], BYTES, 1) && munmap(taken[at], BYTES) == 0);
	CHECK(munmap(before, BYTES) == 0);
	free(block);
	CHECK(fill(taken) >= count);
	(void)words;
	puts("ok");
	return 0;
}
