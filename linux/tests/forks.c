// SPDX-License-Identifier: GPL-2.0
// Processes that fork children which end at once, each with mappings of one file: `forks PROCESSES CHILDREN
// MAPPINGS FILE`. Prints how many forks there were, and how many nanoseconds they took, which is a count of
// instructions where the clock is one.
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void fork_children(int children)
{
	for (int i = 0; i < children; i++) {
		pid_t child = fork();
		int status;

		if (child < 0)
			err(1, "fork");
		if (child == 0)
			_exit(0);
		if (waitpid(child, &status, 0) != child || status)
			errx(1, "a child ended with %d", status);
	}
}

int main(int count, char **arguments)
{
	if (count != 5)
		errx(2, "forks PROCESSES CHILDREN MAPPINGS FILE");
	int processes = atoi(arguments[1]), children = atoi(arguments[2]), mappings = atoi(arguments[3]);
	int file = open(arguments[4], O_RDONLY);

	if (file < 0)
		err(1, "%s", arguments[4]);
	// Every second page, so that no two of them merge.
	for (int i = 0; i < mappings; i++)
		if (mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, (i % 64) * 8192) == MAP_FAILED)
			err(1, "mmap");
	struct timespec begun, ended;

	clock_gettime(CLOCK_MONOTONIC, &begun);
	for (int i = 0; i < processes; i++)
		if (fork() == 0) {
			fork_children(children);
			_exit(0);
		}
	for (int i = 0; i < processes; i++) {
		int status;

		if (wait(&status) < 0 || status)
			errx(1, "a process ended with %d", status);
	}
	clock_gettime(CLOCK_MONOTONIC, &ended);
	printf("%d %ld\n", processes * children,
	       (ended.tv_sec - begun.tv_sec) * 1000000000L + ended.tv_nsec - begun.tv_nsec);
	return 0;
}
