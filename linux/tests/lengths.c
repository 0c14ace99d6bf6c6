// SPDX-License-Identifier: GPL-2.0
// Leaves mappings that are gone in the logs of files, of which nobody looks for mappings.
//
// `lengths protect FILE TIMES` protects a part of a mapping, which splits it, and makes it whole again, so many times.
// `lengths grow FILE TIMES` lets a mapping grow by a page and shrink again.
// `lengths files FILES TIMES` maps and unmaps each of so many files of its own so many times, prints a line, and keeps
// the files open until its input ends.
// `lengths lots FILES TIMES` does the same, but maps each so many times and then unmaps all at once.
// `lengths closed FOLDER FILES` maps each of so many files in a folder twice, unmaps both and closes it.
// `lengths merged FOLDER FILES` maps each once, protects parts of it, so that it is three mappings and then one again, unmaps
// that and closes it.
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define PAGE 4096UL

static char *map(int file, unsigned long pages)
{
	char *at = mmap(NULL, pages * PAGE, PROT_READ, MAP_PRIVATE, file, 0);

	if (at == MAP_FAILED)
		err(1, "mmap");
	return at;
}

static void protect(char *at, int how)
{
	if (mprotect(at, PAGE, how))
		err(1, "mprotect");
}

/* Unmaps them also in the order in which they came. */
static void map_twice(int file, bool later_first)
{
	char *first = map(file, 1), *second = map(file, 1);

	munmap(later_first ? second : first, PAGE);
	munmap(later_first ? first : second, PAGE);
}

static void map_and_merge(int file)
{
	char *at = map(file, 3);

	protect(at, PROT_NONE);
	protect(at + 2 * PAGE, PROT_READ | PROT_EXEC);
	protect(at + PAGE, PROT_READ | PROT_EXEC);
	protect(at, PROT_READ | PROT_EXEC);
	munmap(at, 3 * PAGE);
}

static void map_one_by_one(int file, int times)
{
	for (int i = 0; i < times; i++)
		munmap(map(file, 1), PAGE);
}

static void map_lots(int file, int times)
{
	char *room = mmap(NULL, times * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (room == MAP_FAILED)
		err(1, "mmap");
	for (int i = 0; i < times; i++) {
		if (mmap(room + i * PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0) == MAP_FAILED)
			err(1, "mmap");
	}
	munmap(room, times * PAGE);
}

int main(int count, char **arguments)
{
	if (count != 4)
		errx(2, "lengths protect|grow|files|lots|closed|merged FILE|FILES|FOLDER TIMES|FILES");
	int times = atoi(arguments[3]);
	bool lots = strcmp(arguments[1], "lots") == 0, merged = strcmp(arguments[1], "merged") == 0;

	if (lots || strcmp(arguments[1], "files") == 0) {
		int files = atoi(arguments[2]);
		struct rlimit limit = { files + 16, files + 16 };

		if (setrlimit(RLIMIT_NOFILE, &limit))
			err(1, "setrlimit");
		for (int i = 0; i < files; i++) {
			int file = memfd_create("file", 0);

			if (file < 0 || ftruncate(file, PAGE))
				err(1, "memfd_create");
			if (lots)
				map_lots(file, times);
			else
				map_one_by_one(file, times);
		}
		puts("mapped");
		fflush(stdout);
		getchar();
		return 0;
	}
	if (merged || strcmp(arguments[1], "closed") == 0) {
		for (int i = 0; i < times; i++) {
			char name[200];

			snprintf(name, sizeof(name), "%s/%d", arguments[2], i);
			int file = open(name, O_RDWR | O_CREAT, 0600);

			if (file < 0 || ftruncate(file, 3 * PAGE))
				err(1, "%s", name);
			if (merged)
				map_and_merge(file);
			else
				map_twice(file, i % 2);
			close(file);
		}
		return 0;
	}
	int file = open(arguments[2], O_RDWR | O_CREAT, 0600);

	if (file < 0 || ftruncate(file, 8 * PAGE))
		err(1, "%s", arguments[2]);
	char *at = map(file, 4);

	for (int i = 0; i < times; i++) {
		if (strcmp(arguments[1], "protect") == 0) {
			protect(at + PAGE, PROT_NONE);
			protect(at + PAGE, PROT_READ);
		} else {
			char *larger = mremap(at, 4 * PAGE, 5 * PAGE, MREMAP_MAYMOVE);

			if (larger == MAP_FAILED || mremap(larger, 5 * PAGE, 4 * PAGE, 0) != larger)
				err(1, "mremap");
			at = larger;
		}
	}
	return 0;
}
