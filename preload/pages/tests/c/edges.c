/* What calls answer at the edges, with the pool and without it. */
#include "check.h"

enum { BYTES = 16 * 4096 };

static void unmapping(void)
{
	unsigned char *memory = map(BYTES), *fixed, *around;

	/* Nothing there is no error, and does nothing. */
	memset(memory, 1, BYTES);
	CHECK(munmap(memory, BYTES) == 0);
	errno = 77;
	CHECK(munmap(memory, BYTES) == 0);
	CHECK(errno == 77);
	memory = map(BYTES);
	CHECK(munmap(memory + 1, PAGE) == -1 && errno == EINVAL);
	CHECK(munmap(memory, 0) == -1 && errno == EINVAL);
	CHECK(munmap(memory, (size_t)-4096) == -1 && errno == EINVAL);
	/* A length that is no multiple of a page is rounded up. */
	memset(memory, 2, BYTES);
	CHECK(munmap(memory, BYTES - 100) == 0);
	memory = map(BYTES - 100);
	CHECK(all(memory, BYTES, 0));

	/* After the memory is gone, calls say so. */
	CHECK(munmap(memory, BYTES) == 0);
	CHECK(mprotect(memory, BYTES, PROT_NONE) == -1 && errno == ENOMEM);
	CHECK(madvise(memory, BYTES, MADV_RANDOM) == -1 && errno == ENOMEM);
	CHECK(madvise(memory, BYTES, MADV_DONTNEED) == -1 && errno == ENOMEM);
	CHECK(mlock(memory, BYTES) == -1 && errno == ENOMEM);
	CHECK(msync(memory, BYTES, MS_ASYNC) == -1 && errno == ENOMEM);
	CHECK(mremap(memory, BYTES, 2 * BYTES, MREMAP_MAYMOVE) == MAP_FAILED && errno == EFAULT);

	/* Advice reaches what is there, around what is gone. */
	memory = map(BYTES);
	memset(memory, 3, BYTES);
	CHECK(munmap(memory + 4 * PAGE, 2 * PAGE) == 0);
	errno = 0;
	CHECK(madvise(memory, BYTES, MADV_DONTNEED) == -1 && errno == ENOMEM);
	CHECK(all(memory, 4 * PAGE, 0) && all(memory + 6 * PAGE, BYTES - 6 * PAGE, 0));
	CHECK(munmap(memory, BYTES) == 0);

	/* A kernel's mapping is unmapped in parts as ever. */
	around = mmap(NULL, 4 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(around != MAP_FAILED);
	CHECK(munmap(around + PAGE, PAGE) == 0);
	fixed = mmap(around + PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
	             -1, 0);
	CHECK(fixed == around + PAGE && all(fixed, PAGE, 0));
	CHECK(munmap(around, 4 << 20) == 0);
}

static void mapping(void)
{
	unsigned char *memory;

	errno = 0;
	CHECK(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
	CHECK(errno == EINVAL);
	CHECK(mmap(NULL, 1UL << 62, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
	      MAP_FAILED);
	CHECK(errno == ENOMEM);
	errno = 77;
	memory = map(BYTES);
	CHECK(errno == 77);
	CHECK(mmap(memory, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) ==
	          MAP_FAILED &&
	      errno == EEXIST);
	CHECK(munmap(memory, BYTES) == 0);
	/* Kinds that are the kernel's, each of which works. */
	memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(memory != MAP_FAILED && all(memory, BYTES, 0));
	CHECK(munmap(memory, BYTES) == 0);
	memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	CHECK(memory != MAP_FAILED && all(memory, BYTES, 0));
	CHECK(munmap(memory, BYTES) == 0);
	memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1,
	              0);
	CHECK(memory != MAP_FAILED && all(memory, BYTES, 0));
	CHECK(munmap(memory, BYTES) == 0);
	CHECK(mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE, -1, 0) == MAP_FAILED && errno == EBADF);
}

static void moving(void)
{
	unsigned char *memory = map(BYTES), *moved, *place, *other;

	memset(memory, 4, BYTES);
	/* Smaller, in place. */
	CHECK(mremap(memory, BYTES, BYTES / 2, 0) == memory);
	CHECK(all(memory, BYTES / 2, 4));
	CHECK(madvise(memory + BYTES / 2, PAGE, MADV_RANDOM) == -1 && errno == ENOMEM);
	/* The same. */
	CHECK(mremap(memory, BYTES / 2, BYTES / 2, 0) == memory);
	/* Larger, and larger again, beyond what the pool has. */
	moved = mremap(memory, BYTES / 2, 4 << 20, MREMAP_MAYMOVE);
	CHECK(moved != MAP_FAILED && all(moved, BYTES / 2, 4));
	CHECK(all(moved + BYTES / 2, (4 << 20) - BYTES / 2, 0));
	memset(moved, 4, 4 << 20);
	memory = mremap(moved, 4 << 20, 8 << 20, MREMAP_MAYMOVE);
	CHECK(memory != MAP_FAILED && all(memory, 4 << 20, 4) && all(memory + (4 << 20), 4 << 20, 0));
	CHECK(munmap(memory, 8 << 20) == 0);
	/* With another protection. */
	memory = map(BYTES);
	memset(memory, 5, BYTES);
	CHECK(mprotect(memory, BYTES, PROT_READ) == 0);
	moved = mremap(memory, BYTES, 2 * BYTES, MREMAP_MAYMOVE);
	CHECK(moved != MAP_FAILED && all(moved, BYTES, 5));
	CHECK(mprotect(moved, 2 * BYTES, PROT_READ | PROT_WRITE) == 0);
	CHECK(all(moved + BYTES, BYTES, 0));
	CHECK(munmap(moved, 2 * BYTES) == 0);
	/* To a place of the kernel's, and of the pool's. */
	place = mmap(NULL, 4 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(place != MAP_FAILED);
	memory = map(BYTES);
	memset(memory, 6, BYTES);
	moved = mremap(memory, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, place + PAGE);
	CHECK(moved == place + PAGE && all(moved, BYTES, 6));
	other = map(2 * BYTES);
	memset(other, 7, 2 * BYTES);
	CHECK(mremap(moved, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, other) == other);
	CHECK(all(other, BYTES, 6) && all(other + BYTES, BYTES, 7));
	/* From one of the pool's to another, and larger. */
	memory = map(BYTES);
	memset(memory, 8, BYTES);
	CHECK(mremap(memory, BYTES, 2 * BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, other) == other);
	CHECK(all(other, BYTES, 8) && all(other + BYTES, BYTES, 0));
	CHECK(munmap(other, 2 * BYTES) == 0);
	CHECK(munmap(place, 4 << 20) == 0);
	memory = map(BYTES);
	CHECK(mremap(memory + 1, PAGE, PAGE, 0) == MAP_FAILED && errno == EINVAL);
	CHECK(mremap(memory, BYTES, 0, 0) == MAP_FAILED && errno == EINVAL);
	CHECK(munmap(memory, BYTES) == 0);
}

/* Where memory was a moment ago, something else can be put. */
static void returning(void)
{
	size_t bytes = (1 + (size_t)rand() % 300) * PAGE, more = 7 * PAGE;
	unsigned char *memory = map(bytes), *other, *kept = map(more);

	memset(memory, 1, bytes);
	memset(kept, 3, more);
	CHECK(munmap(memory, bytes) == 0);
	other = mmap(memory, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	CHECK(other == memory && all(other, bytes, 0));
	memset(other, 2, bytes);
	/* Nobody else gets it. */
	memory = map(bytes);
	CHECK(all(memory, bytes, 0));
	memset(memory, 4, bytes);
	CHECK(all(other, bytes, 2) && all(kept, more, 3));
	CHECK(munmap(other, bytes) == 0);
	/* Nor if it is moved there. */
	other = mremap(memory, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, other);
	CHECK(other != MAP_FAILED && all(other, bytes, 4) && all(kept, more, 3));
	CHECK(munmap(other, bytes) == 0 && munmap(kept, more) == 0);
}

int main(void)
{
	int at;

	for (at = 0; at < 20; at++) {
		unmapping();
		mapping();
		moving();
		returning();
	}
	puts("ok");
	return 0;
}
