/*
 * What one owner does to a mapping must not reach the next: protection, advice, locks. The next owners are
 * found by mapping as much again, over and over.
 */
#include "check.h"

enum { BYTES = 64 * 4096, AGAIN = 40 };

static int touch(void *memory)
{
	memset(memory, 7, BYTES);
	return 0;
}

/* Whether a child sees what is in the memory. */
static int sees(void *memory)
{
	return !all(memory, BYTES, 9);
}

/* Maps memory again and again, and checks that all of it is as new memory is. */
static void check_next(void)
{
	unsigned char *next[AGAIN];
	int at;

	for (at = 0; at < AGAIN; at++) {
		next[at] = map(BYTES);
		CHECK(all(next[at], BYTES, 0));
		memset(next[at], 9, BYTES);
	}
	for (at = 0; at < AGAIN; at += 13) {
		CHECK(child(touch, next[at]));
		CHECK(child(sees, next[at])); /* neither missing nor wiped in the child */
	}
	for (at = 0; at < AGAIN; at++)
		CHECK(munmap(next[at], BYTES) == 0);
}

/* The kilobytes of memory that the process has locked. */
static long locked(void)
{
	char line[256];
	long kilobytes = -1;
	FILE *file = fopen("/proc/self/status", "r");

	CHECK(file != NULL);
	while (fgets(line, sizeof line, file))
		if (sscanf(line, "VmLck: %ld", &kilobytes) == 1)
			break;
	fclose(file);
	return kilobytes;
}

int main(void)
{
	static const int advices[] = { MADV_DONTFORK, MADV_WIPEONFORK, MADV_HUGEPAGE, MADV_NOHUGEPAGE,
		                       MADV_DONTDUMP, MADV_RANDOM,     MADV_DONTNEED, MADV_FREE };
	unsigned char *memory;
	size_t at;

	memory = map(BYTES);
	memset(memory, 1, BYTES);
	CHECK(mprotect(memory, BYTES, PROT_NONE) == 0);
	CHECK(munmap(memory, BYTES) == 0);
	check_next();

	/* Of a part only, and in the middle. */
	memory = map(BYTES);
	memset(memory, 1, BYTES);
	CHECK(mprotect(memory + 5 * PAGE, 3 * PAGE, PROT_READ) == 0);
	CHECK(memory[5 * PAGE] == 1);
	CHECK(munmap(memory, BYTES) == 0);
	check_next();

	for (at = 0; at < sizeof advices / sizeof *advices; at++) {
		memory = map(BYTES);
		memset(memory, 1, BYTES);
		if (madvise(memory, BYTES, advices[at]) != 0)
			CHECK(errno == EINVAL); /* a kernel without it */
		else if (advices[at] == MADV_DONTNEED)
			CHECK(all(memory, BYTES, 0));
		else if (advices[at] != MADV_FREE)
			CHECK(all(memory, BYTES, 1));
		CHECK(munmap(memory, BYTES) == 0);
		check_next();
	}

	/* A child must not have what the parent does not want it to have. */
	memory = map(BYTES);
	memset(memory, 9, BYTES);
	CHECK(madvise(memory, BYTES, MADV_WIPEONFORK) == 0);
	CHECK(!child(sees, memory));
	CHECK(munmap(memory, BYTES) == 0);

	memory = map(4 * PAGE);
	if (mlock(memory, 4 * PAGE) == 0) {
		CHECK(locked() >= 16);
		CHECK(munmap(memory, 4 * PAGE) == 0);
		CHECK(locked() == 0);
		check_next();
		CHECK(locked() == 0);
	}

	/* Another mapping in the place of a part. */
	memory = map(BYTES);
	memset(memory, 3, BYTES);
	CHECK(mmap(memory + 2 * PAGE, 2 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
	           0) == memory + 2 * PAGE);
	CHECK(all(memory, 2 * PAGE, 3) && all(memory + 2 * PAGE, 2 * PAGE, 0));
	CHECK(munmap(memory, BYTES) == 0);
	check_next();

	/* The memory of blocks, too. */
	memory = aligned_alloc(PAGE, BYTES * 4);
	CHECK(memory != NULL);
	memset(memory, 1, BYTES * 4);
	CHECK(mprotect(memory, BYTES * 4, PROT_READ) == 0);
	CHECK(mprotect(memory, BYTES * 4, PROT_READ | PROT_WRITE) == 0);
	CHECK(madvise(memory, BYTES * 4, MADV_DONTFORK) == 0);
	free(memory);
	check_next();

	/* Memory in a pipe is not written to by its next owner. */
	{
		int ends[2];
		char buffer[4096];
		struct iovec piece;

		CHECK(pipe(ends) == 0);
		memory = map(PAGE);
		memset(memory, 5, PAGE);
		piece.iov_base = memory;
		piece.iov_len = PAGE;
		CHECK(vmsplice(ends[1], &piece, 1, 0) == (ssize_t)PAGE);
		CHECK(munmap(memory, PAGE) == 0);
		for (at = 0; at < 64; at++) {
			memory = map(PAGE);
			memset(memory, 6, PAGE);
			CHECK(munmap(memory, PAGE) == 0);
		}
		CHECK(read(ends[0], buffer, sizeof buffer) == (ssize_t)sizeof buffer);
		CHECK(all((unsigned char *)buffer, sizeof buffer, 5));
	}
	puts("ok");
	return 0;
}
