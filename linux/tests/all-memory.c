// SPDX-License-Identifier: GPL-2.0
// Touches memory on processor 0 until the kernel kills it for that, and prints how many pages it had then.
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "processes.h"

static void *map(size_t bytes, int flags)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		err(1, "mmap");
	return at;
}

// The kernel is to kill this process before any other.
static void be_the_first(void)
{
	int file = open("/proc/self/oom_score_adj", O_WRONLY);

	if (file < 0 || write(file, "1000", 4) != 4)
		err(1, "/proc/self/oom_score_adj");
	close(file);
}

int main(void)
{
	volatile size_t *touched = map(PAGE, MAP_SHARED);
	size_t pages = 2 * sysconf(_SC_PHYS_PAGES);
	pid_t child = fork();
	int status;

	if (child < 0)
		err(1, "fork");
	if (child == 0) {
		pin(0);
		be_the_first();
		char *memory = map(pages * PAGE, MAP_PRIVATE);

		if (madvise(memory, pages * PAGE, MADV_NOHUGEPAGE))
			err(1, "madvise");
		for (size_t i = 0; i < pages; i++) {
			memory[i * PAGE] = 1;
			*touched = i + 1;
		}
		errx(1, "there are %zu pages", pages);
	}
	if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		errx(1, "it ended with %#x", status);
	printf("%zu\n", *touched);
	return 0;
}
