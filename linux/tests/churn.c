// SPDX-License-Identifier: GPL-2.0
// Processes that map one file, fork, exit, protect, move, unmap, execute, truncate and reclaim it, for as long as asked:
// `churn PROCESSES SECONDS FILE`. Prints how many forks there were. A child that dies of a page that was
// truncated away (SIGBUS) is right; anything else is not.
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "processes.h"

#define PAGES 64
#define MAPPINGS 6

static char *map_file(int file, int flags)
{
	char *at = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, flags, file, 0);

	if (at == MAP_FAILED)
		err(1, "mmap");
	return at;
}

// Protects a part of a mapping, which splits it, and then makes it whole again.
static void protect_part(char *at)
{
	char *part = at + (1 + chance(PAGES / 2)) * PAGE;

	if (mprotect(part, 4 * PAGE, PROT_READ) || mprotect(part, 4 * PAGE, PROT_READ | PROT_WRITE))
		err(1, "mprotect");
}

// Moves a mapping to another address, with its entries, and returns where it is.
static char *move(char *at)
{
	char *to = mmap(NULL, PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (to == MAP_FAILED || mremap(at, PAGES * PAGE, PAGES * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to)
		err(1, "mremap");
	return to;
}

// What one process does until the end: it keeps some mappings, and each child touches, unmaps and ends.
static unsigned long churn(int file, const char *path, double end)
{
	char *mappings[MAPPINGS];
	unsigned long forks = 0;
	volatile char sum = 0;

	for (int i = 0; i < MAPPINGS; i++) {
		mappings[i] = map_file(file, i % 2 ? MAP_PRIVATE : MAP_SHARED);
		// A private mapping that was written makes fork copy the entries for the file's pages as well.
		if (i % 2)
			mappings[i][(PAGES - 1 - i) * PAGE] = 1;
	}
	while (now() < end) {
		pid_t child;
		int status;

		for (int i = 0; i < MAPPINGS; i++)
			sum += mappings[i][chance(PAGES / 2) * PAGE];
		child = fork();
		if (child < 0)
			err(1, "fork");
		if (child == 0) {
			for (int i = 0; i < MAPPINGS; i++)
				sum += mappings[i][chance(PAGES / 2) * PAGE];
			if (chance(4) == 0)
				protect_part(mappings[chance(MAPPINGS)]);
			if (chance(4) == 0) {
				int i = chance(MAPPINGS);

				mappings[i] = move(mappings[i]);
				sum += mappings[i][chance(PAGES / 2) * PAGE];
			}
			if (chance(3) == 0)
				munmap(mappings[chance(MAPPINGS)], PAGES / 2 * PAGE);
			if (chance(16) == 0)
				execl("/bin/true", "true", (char *)NULL);
			if (chance(4) == 0) {
				pid_t grandchild = fork();

				if (grandchild == 0)
					_exit(0);
				if (grandchild > 0)
					waitpid(grandchild, &status, 0);
			}
			_exit(0);
		}
		forks++;
		if (chance(8) == 0) {
			int i = chance(MAPPINGS);

			munmap(mappings[i], PAGES * PAGE);
			mappings[i] = map_file(file, i % 2 ? MAP_PRIVATE : MAP_SHARED);
			if (i % 2)
				mappings[i][(PAGES - 1 - i) * PAGE] = 1;
		}
		if (chance(8) == 0) {
			int i = chance(MAPPINGS);

			mappings[i] = move(mappings[i]);
			protect_part(mappings[chance(MAPPINGS)]);
		}
		// The lower half stays, so that nobody is killed for reading it.
		if (chance(32) == 0) {
			if (truncate(path, (PAGES - chance(4)) * PAGE) || truncate(path, PAGES * PAGE))
				err(1, "truncate");
		}
		if (chance(16) == 0)
			madvise(mappings[chance(MAPPINGS)], PAGES * PAGE, MADV_PAGEOUT);
		if (waitpid(child, &status, 0) != child)
			err(1, "waitpid");
		if (status && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS))
			errx(1, "a child ended with %#x", status);
	}
	return forks;
}

int main(int count, char **arguments)
{
	if (count != 4)
		errx(2, "churn PROCESSES SECONDS FILE");
	int processes = atoi(arguments[1]);
	double end = now() + atof(arguments[2]);
	const char *path = arguments[3];
	int file = open(path, O_RDWR | O_CREAT, 0600), results[2];
	unsigned long forks = 0;

	if (file < 0 || ftruncate(file, PAGES * PAGE) || pipe(results))
		err(1, "%s", path);
	for (int i = 0; i < processes; i++)
		if (fork() == 0) {
			state = i + 1;
			unsigned long own = churn(file, path, end);

			_exit(write(results[1], &own, sizeof(own)) != sizeof(own));
		}
	for (int i = 0; i < processes; i++) {
		unsigned long own;
		int status;

		if (wait(&status) < 0 || (status && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS)))
			errx(1, "a process ended with %#x", status);
		if (!status && read(results[0], &own, sizeof(own)) == sizeof(own))
			forks += own;
	}
	printf("%lu\n", forks);
	return 0;
}
