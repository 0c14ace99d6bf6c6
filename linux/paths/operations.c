// SPDX-License-Identifier: GPL-2.0
// Does an operation once on each processor, one processor after the other, and tells the recorder
// (papers/kernel-recorder) when each begins and ends: `operations fork|exec PROCESSORS`. Each processor has done the
// same some times before, so that caches are filled. All processes are there meanwhile.
#define _GNU_SOURCE
#include <err.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// Instructions that do nothing, with constants that the recorder knows.
#define BEGIN() __asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00, 1, 'L', 'I', 'K'" ::: "memory")
#define END() __asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00, 2, 'L', 'I', 'K'" ::: "memory")

#define MOST 64
#define UNRECORDED 20

static int pipes[MOST][2];
static int executes;

// A process that ends at once, or executes a program that does.
static void operation(void)
{
	pid_t child = fork();
	int status;

	if (child < 0)
		err(1, "fork");
	if (child == 0) {
		if (executes)
			execl("/bin/true", "true", NULL);
		_exit(executes);
	}
	if (waitpid(child, &status, 0) != child || status)
		errx(1, "a child ended with %d", status);
}

// Waits until it is this processor's turn.
static void wait_for_turn(int processor)
{
	char token;

	if (read(pipes[processor][0], &token, 1) != 1)
		err(1, "read");
}

static void pass_on(int processor, int processors)
{
	if (write(pipes[(processor + 1) % processors][1], "", 1) != 1)
		err(1, "write");
}

static void work(int processor, int processors)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(processor, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "processor %d", processor);
	wait_for_turn(processor);
	for (int i = 0; i < UNRECORDED; i++)
		operation();
	pass_on(processor, processors);
	wait_for_turn(processor);
	BEGIN();
	operation();
	END();
	pass_on(processor, processors);
}

int main(int count, char **arguments)
{
	int processors = count == 3 ? atoi(arguments[2]) : 0;

	if (processors < 1 || processors > MOST)
		errx(2, "operations fork|exec PROCESSORS, of which there are at most %d", MOST);
	executes = !strcmp(arguments[1], "exec");
	for (int i = 0; i < processors; i++)
		if (pipe(pipes[i]))
			err(1, "pipe");
	for (int i = 0; i < processors; i++) {
		pid_t worker = fork();

		if (worker < 0)
			err(1, "fork");
		if (worker == 0) {
			work(i, processors);
			_exit(0);
		}
	}
	pass_on(processors - 1, processors);
	for (int i = 0; i < processors; i++) {
		int status;

		if (wait(&status) < 0 || status)
			errx(1, "a processor ended with %d", status);
	}
	return 0;
}
