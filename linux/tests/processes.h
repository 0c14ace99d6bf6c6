/* SPDX-License-Identifier: GPL-2.0 */
/* What the tests' programs with several processes have in common. */
#ifndef PROCESSES_H
#define PROCESSES_H

#include <err.h>
#include <sched.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096

/* Of the chance of each process. */
static uint64_t state;

static inline unsigned int chance(unsigned int below)
{
	state = state * 6364136223846793005UL + 1442695040888963407UL;
	return (state >> 33) % below;
}

static inline double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static inline void pin(int processor)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(processor % sysconf(_SC_NPROCESSORS_ONLN), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "sched_setaffinity");
}

#endif /* PROCESSES_H */
