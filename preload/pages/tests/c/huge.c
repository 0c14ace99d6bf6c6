/*
 * Huge pages where the pool's are: the kernel maps whole ones, however few bytes the program asks for. As root
 * the program sets some aside, and gives them back; otherwise it says that it could not.
 */
#include "check.h"
#include <sys/file.h>

#ifndef MFD_HUGETLB
#define MFD_HUGETLB 4u
#endif

enum { HUGE = 2 << 20, SMALL = 64 * 4096, MANY = 100 };

static const char name[] = "/proc/sys/vm/nr_hugepages";
static int file = -1;
static long before;

static long number(void)
{
	char text[32] = { 0 };

	CHECK(pread(file, text, sizeof text - 1, 0) > 0);
	return atol(text);
}

static void set(long wanted)
{
	char text[32];
	int length = snprintf(text, sizeof text, "%ld", wanted);

	CHECK(pwrite(file, text, (size_t)length, 0) == length);
}

/* Whatever is mapped now, and once more, is zero and lies elsewhere. */
static void check_others(unsigned char *huge)
{
	unsigned char *others[MANY];
	size_t at, round;

	for (round = 0; round < 3; round++) {
		for (at = 0; at < MANY; at++) {
			others[at] = map(SMALL);
			CHECK(others[at] + SMALL <= huge || huge + HUGE <= others[at]);
			CHECK(all(others[at], SMALL, 0));
			memset(others[at], 1, SMALL);
		}
		for (at = 0; at < MANY; at++)
			CHECK(munmap(others[at], SMALL) == 0);
	}
}

/* Returns an address where nothing is, with room for a huge page. */
static unsigned char *place(void)
{
	unsigned char *address = map(HUGE);

	memset(address, 2, HUGE);
	CHECK(munmap(address, HUGE) == 0);
	address += -(size_t)address % HUGE;
	return address;
}

static void use(unsigned char *huge)
{
	CHECK(huge != MAP_FAILED && all(huge, HUGE, 0));
	memset(huge, 3, HUGE);
	check_others(huge);
	CHECK(all(huge, HUGE, 3));
	CHECK(munmap(huge, HUGE) == 0);
	check_others((unsigned char *)4096);
}

static void work(void)
{
	enum { PLAIN = MAP_PRIVATE | MAP_ANONYMOUS, BOTH = PROT_READ | PROT_WRITE };
	unsigned char *huge, *moved;
	int pages;

	use(mmap(place(), PAGE, BOTH, PLAIN | MAP_FIXED | MAP_HUGETLB, -1, 0));
	use(mmap(place(), PAGE, BOTH, PLAIN | MAP_FIXED | MAP_HUGETLB | 21 << MAP_HUGE_SHIFT, -1, 0));
	use(mmap(place(), PAGE, BOTH, PLAIN | MAP_FIXED_NOREPLACE | MAP_HUGETLB, -1, 0));
	pages = memfd_create("huge", MFD_HUGETLB);
	if (pages >= 0 && ftruncate(pages, HUGE) == 0) {
		use(mmap(place(), PAGE, BOTH, MAP_PRIVATE | MAP_FIXED, pages, 0));
		CHECK(close(pages) == 0);
	}
	/* One that is moved there. Old kernels move none. */
	huge = mmap(NULL, HUGE, BOTH, PLAIN | MAP_HUGETLB, -1, 0);
	CHECK(huge != MAP_FAILED);
	moved = mremap(huge, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, place());
	if (moved != MAP_FAILED)
		use(moved);
}

/* Starts a process that gives back what was set aside, whatever becomes of this one. */
static pid_t start_guardian(int *until_closed)
{
	int ends[2];
	pid_t pid;
	char nothing;

	CHECK(pipe(ends) == 0);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		close(ends[1]);
		CHECK(read(ends[0], &nothing, 1) == 0);
		set(before);
		_exit(0);
	}
	close(ends[0]);
	*until_closed = ends[1];
	return pid;
}

int main(void)
{
	int enough, end;
	pid_t guardian;

	file = open(name, O_RDWR | O_CLOEXEC);
	if (file < 0) {
		printf("not tested: %s: %s\n", name, strerror(errno));
		return 0;
	}
	CHECK(flock(file, LOCK_EX) == 0);
	before = number();
	guardian = start_guardian(&end);
	set(before + 2);
	enough = number() >= before + 2;
	if (enough)
		work();
	close(end);
	CHECK(waitpid(guardian, NULL, 0) == guardian);
	puts(enough ? "ok" : "not tested: no two huge pages can be set aside");
	return 0;
}
