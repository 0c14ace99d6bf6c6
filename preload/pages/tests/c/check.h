/* What the test programs share. Each checks itself and prints "ok". */
#ifndef CHECK_H
#define CHECK_H

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096UL

/* Ends the program with a message if something does not hold. */
#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: %s does not hold (errno %d)\n", __FILE__, __LINE__, \
			        #condition, errno); \
			_exit(1); \
		} \
	} while (0)

/* Returns new memory of the kind that the pool serves. */
static inline unsigned char *map(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(memory != MAP_FAILED);
	return memory;
}

/* Whether all bytes are the same. */
static inline int all(const unsigned char *memory, size_t bytes, unsigned char value)
{
	return bytes == 0 || (memory[0] == value && memcmp(memory, memory + 1, bytes - 1) == 0);
}

/* A number that looks like chance, for each thread its own. */
static inline unsigned chance(unsigned *state)
{
	*state = *state * 1103515245u + 12345u;
	return *state >> 8;
}

/* Whether a child does this without a fault, and returns 0. */
static inline int child(int (*work)(void *), void *argument)
{
	pid_t pid = fork();
	int status;

	CHECK(pid >= 0);
	if (pid == 0)
		_exit(work(argument));
	CHECK(waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

#endif
