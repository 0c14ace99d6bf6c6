// SPDX-License-Identifier: GPL-2.0
// Processes that move folios between the kernel's LRU lists:
//
//   lru write PROCESSES ROUNDS PAGES FOLDER   each writes a file of its own, over and over, on a processor of
//                                             its own: prints how many pages were written
//   lru read FOLDER                           reads all that `write` has left there
//   lru sparse FOLDER GROUP                   reads the first of them in the memory group, and leaves one page
//                                             of each 2 MiB there: prints how many are left
//   lru churn PROCESSES SECONDS FOLDER GROUP  each writes, reads, maps, locks, ages, pages out, splits and
//                                             truncates, and finds what it wrote; every other one in the
//                                             memory group: prints how often
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "processes.h"

#define CHUNK 16
#define FILE_PAGES 1536
#define HUGE_PAGES 512

static int open_own(const char *folder, int number, int flags)
{
	char path[4096];
	int file;

	snprintf(path, sizeof(path), "%s/%d", folder, number);
	file = open(path, flags, 0600);
	if (file < 0 && (flags & O_CREAT))
		err(1, "%s", path);
	return file;
}

// Page `page` of a file, or of memory, has this at its begin.
static uint64_t mark(uint64_t owner, uint64_t page)
{
	return owner << 32 | (page + 1);
}

static void write_pages(int file, uint64_t owner, int from, int pages)
{
	static char chunk[CHUNK * PAGE];

	for (int at = from; at < from + pages; at += CHUNK) {
		for (int i = 0; i < CHUNK; i++)
			*(uint64_t *)(chunk + i * PAGE) = mark(owner, at + i);
		if (pwrite(file, chunk, sizeof(chunk), (off_t)at * PAGE) != sizeof(chunk))
			err(1, "pwrite");
	}
}

static void writer(const char *folder, int number, int rounds, int pages)
{
	int file = open_own(folder, number, O_RDWR | O_CREAT | O_TRUNC);

	pin(number);
	for (int round = 0; round < rounds; round++) {
		if (ftruncate(file, 0))
			err(1, "ftruncate");
		write_pages(file, number, 0, pages);
	}
}

// Pages that were cut off are zero, or not there; others are as written.
static void expect(uint64_t value, uint64_t owner, int page, const char *where)
{
	if (value && value != mark(owner, page))
		errx(1, "WRONG PAGE: page %d of %s has %#lx, not %#lx", page, where, value, mark(owner, page));
}

static void read_pages(int file, uint64_t owner, int times)
{
	static char chunk[CHUNK * PAGE];
	ssize_t got;

	for (; times > 0; times--)
		for (int at = 0; (got = pread(file, chunk, sizeof(chunk), (off_t)at * PAGE)) > 0; at += CHUNK)
			for (int i = 0; i < got / PAGE; i++)
				expect(*(uint64_t *)(chunk + i * PAGE), owner, at + i, "a file");
}

static char *map(size_t pages, int flags, int file)
{
	char *at = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, flags, file, 0);

	if (at == MAP_FAILED)
		err(1, "mmap");
	return at;
}

// What is done to mapped pages, which have the marks of their owner or are zero.
static void handle(char *at, int pages, uint64_t owner)
{
	int from = chance(pages / 2), some = 1 + chance(pages - from - 1);
	char *there = at + (size_t)from * PAGE;
	size_t size = (size_t)some * PAGE;

	switch (chance(7)) {
	case 0:
		// There may be too many locked pages already.
		if (!mlock(there, size) && chance(2))
			munlock(at, (size_t)pages * PAGE / 2);
		munlock(there, size);
		break;
	case 1:
		madvise(there, size, MADV_PAGEOUT);
		break;
	case 2:
		madvise(there, size, MADV_COLD);
		break;
	case 3:
		madvise(there, size, MADV_FREE);
		break;
	case 4:
		madvise(there, size, MADV_DONTNEED);
		break;
	case 5:
		mprotect(there, size, PROT_READ);
		mprotect(there, size, PROT_READ | PROT_WRITE);
		break;
	case 6:
		msync(at, (size_t)pages * PAGE, MS_ASYNC);
		break;
	}
	for (int i = 0; i < pages; i++)
		expect(*(volatile uint64_t *)(at + (size_t)i * PAGE), owner, i, "a mapping");
}

static void in_memory(uint64_t owner, int huge)
{
	size_t pages = huge ? 3 * HUGE_PAGES : 64 + chance(512);
	char *memory = map(pages, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	madvise(memory, pages * PAGE, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		*(uint64_t *)(memory + i * PAGE) = mark(owner, i);
	for (int i = chance(4); i >= 0; i--)
		handle(memory, pages, owner);
	if (chance(3) == 0) {
		pid_t child = fork();

		if (child == 0) {
			for (size_t i = 0; i < pages; i += 1 + chance(8))
				*(uint64_t *)(memory + i * PAGE) = mark(owner, i);
			handle(memory, pages, owner);
			_exit(0);
		}
		if (child > 0) {
			int status;

			if (waitpid(child, &status, 0) < 0 || status)
				errx(1, "a child failed: %#x", status);
		}
	}
	munmap(memory, pages * PAGE);
}

static void in_file(const char *folder, int number)
{
	int file = open_own(folder, number, O_RDWR | O_CREAT), pages = CHUNK * (1 + chance(FILE_PAGES / CHUNK));
	char *mapped;

	switch (chance(6)) {
	case 0:
		if (ftruncate(file, (off_t)chance(FILE_PAGES) * PAGE))
			err(1, "ftruncate");
		// So that what others read is whole.
		write_pages(file, number, 0, FILE_PAGES);
		break;
	case 1:
	case 2:
		read_pages(file, number, 1 + chance(3));
		break;
	case 3:
		if (chance(2))
			fsync(file);
		posix_fadvise(file, 0, (off_t)pages * PAGE, POSIX_FADV_DONTNEED);
		break;
	default:
		write_pages(file, number, 0, pages);
		mapped = map(pages, chance(2) ? MAP_SHARED : MAP_PRIVATE, file);
		handle(mapped, pages, number);
		munmap(mapped, (size_t)pages * PAGE);
	}
	close(file);
}

static void join(const char *group)
{
	FILE *processes;
	char path[4096];

	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	processes = fopen(path, "w");
	if (!processes || fprintf(processes, "%d", getpid()) < 0 || fclose(processes))
		err(1, "%s", path);
}

// Of the first pages of a file, so many are in memory.
static int in_cache(int file, size_t pages)
{
	unsigned char *found = malloc(pages);
	char *mapped = map(pages, MAP_SHARED, file);
	int sum = 0;

	if (!found || mincore(mapped, pages * PAGE, found))
		err(1, "mincore");
	for (size_t i = 0; i < pages; i++)
		sum += found[i] & 1;
	munmap(mapped, pages * PAGE);
	free(found);
	return sum;
}

// Pages that are 2 MiB apart in a file are so in memory, roughly: they were read one after the other.
static void sparse(const char *folder, const char *group)
{
	int file = open_own(folder, 0, O_RDWR);
	off_t size;

	if (file < 0 || (size = lseek(file, 0, SEEK_END)) < 0)
		err(1, "%s/0", folder);
	join(group);
	posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
	read_pages(file, 0, 1);
	for (off_t at = 0; at < size; at += HUGE_PAGES * PAGE)
		posix_fadvise(file, at + PAGE, (HUGE_PAGES - 1) * PAGE, POSIX_FADV_DONTNEED);
	printf("%d\n", in_cache(file, size / PAGE));
}

static uint64_t churn(const char *folder, int number, double end)
{
	uint64_t times = 0;

	state = number * 7919 + 1;
	for (; now() < end; times++) {
		if (chance(2))
			in_file(folder, number);
		else
			in_memory(number, chance(4) == 0);
	}
	return times;
}

int main(int arguments, char **argument)
{
	int is_write = arguments == 6 && !strcmp(argument[1], "write");
	int is_churn = arguments == 6 && !strcmp(argument[1], "churn");
	uint64_t *done = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int processes, failed = 0;
	double end;

	if (arguments == 3 && !strcmp(argument[1], "read")) {
		int file;

		for (int i = 0; (file = open_own(argument[2], i, O_RDONLY)) >= 0; i++)
			read_pages(file, i, 2);
		return 0;
	}
	if (arguments == 4 && !strcmp(argument[1], "sparse")) {
		sparse(argument[2], argument[3]);
		return 0;
	}
	if (!is_write && !is_churn)
		errx(2, "usage: lru write|read|sparse|churn ...");
	processes = atoi(argument[2]);
	end = now() + atoi(argument[3]);
	for (int i = 0; i < processes; i++) {
		pid_t child = fork();

		if (child < 0)
			err(1, "fork");
		if (child > 0)
			continue;
		if (is_write) {
			writer(argument[5], i, atoi(argument[3]), atoi(argument[4]));
			_exit(0);
		}
		if (i % 2)
			join(argument[5]);
		__atomic_fetch_add(done, churn(argument[4], i, end), __ATOMIC_RELAXED);
		_exit(0);
	}
	for (int i = 0; i < processes; i++) {
		int status;

		if (wait(&status) < 0 || status) {
			warnx("a process failed: %#x", status);
			failed = 1;
		}
	}
	printf("%ld\n", is_write ? (long)processes * atoi(argument[3]) * atoi(argument[4]) : (long)*done);
	return failed;
}
