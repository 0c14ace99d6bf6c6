// SPDX-License-Identifier: GPL-2.0
// Processes that allocate and free single pages, and look for pages that two of them have:
//
//   pages pairs PAIRS ROUNDS PAGES       of each two neighbouring processors, one writes pages of a file in
//                                        memory, and the other one checks them and frees them
//   pages faults PROCESSES ROUNDS PAGES  each process touches so many fresh pages and unmaps them, on a
//                                        processor of its own
//   pages patterns PROCESSES SECONDS PAGES
//                                        each process finds fresh pages zero, writes into them, and finds
//                                        what it wrote when it has written all; they free them in many ways
//
// Prints how many pages were allocated.
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

#define WORDS (PAGE / sizeof(uint64_t))

static void fill(uint64_t *page, uint64_t value)
{
	for (size_t i = 0; i < WORDS; i++)
		page[i] = value + i;
}

// Says of a page what is wrong with it: it has another value, and so perhaps another owner.
static void expect(const uint64_t *page, uint64_t value, int counting, const char *when)
{
	for (size_t i = 0; i < WORDS; i++)
		if (page[i] != value + (counting ? i : 0))
			errx(1, "WRONG PAGE %s: word %zu is %#lx, not %#lx", when, i, page[i],
			     value + (counting ? i : 0));
}

static uint64_t *fresh(int pages)
{
	uint64_t *memory = mmap(NULL, (size_t)pages * PAGE, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || madvise(memory, (size_t)pages * PAGE, MADV_NOHUGEPAGE))
		err(1, "mmap");
	return memory;
}

// What the pages of a round have.
static uint64_t value_of(int writer, int round, int page)
{
	return (uint64_t)(writer + 1) << 56 | (uint64_t)round << 32 | (uint64_t)page << 12;
}

static void token(int pipe, int give)
{
	char byte = 0;

	if ((give ? write(pipe, &byte, 1) : read(pipe, &byte, 1)) != 1)
		errx(1, "the other process is gone");
}

static void pair(int number, int rounds, int pages)
{
	int file, full[2], empty[2], writes;
	uint64_t buffer[WORDS];
	pid_t other;
	int status;

	file = memfd_create("pages", 0);
	if (file < 0 || pipe(full) || pipe(empty))
		err(1, "memfd_create");
	other = fork();
	if (other < 0)
		err(1, "fork");
	writes = other != 0;
	close(writes ? full[0] : full[1]);
	close(writes ? empty[1] : empty[0]);
	pin(2 * number + !writes);
	for (int round = 0; round < rounds; round++) {
		// Two parts of the file in turn, so that both processes run.
		off_t part = (off_t)(round % 2) * pages * PAGE;

		if (writes ? round >= 2 : 1)
			token(writes ? empty[0] : full[0], 0);
		for (int page = 0; page < pages; page++) {
			off_t at = part + (off_t)page * PAGE;

			if (writes)
				fill(buffer, value_of(number, round, page));
			if ((writes ? pwrite(file, buffer, PAGE, at) : pread(file, buffer, PAGE, at)) != PAGE)
				err(1, "a page of a file in memory");
			if (!writes)
				expect(buffer, value_of(number, round, page), 1, "of a file");
		}
		if (!writes &&
		    fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, part, (off_t)pages * PAGE))
			err(1, "fallocate");
		if (writes || round + 2 < rounds)
			token(writes ? full[1] : empty[1], 1);
	}
	if (!writes)
		_exit(0);
	if (waitpid(other, &status, 0) != other || status)
		errx(1, "a reader ended with %d", status);
}

static void faults(int number, int rounds, int pages)
{
	pin(number);
	for (int round = 0; round < rounds; round++) {
		uint64_t *memory = fresh(pages);

		for (int page = 0; page < pages; page++)
			memory[page * WORDS] = 1;
		munmap(memory, (size_t)pages * PAGE);
	}
}

static uint64_t patterns(int number, int seconds, int pages)
{
	time_t end = time(NULL) + seconds;
	uint64_t checked = 0;

	for (int round = 0; time(NULL) < end; round++) {
		uint64_t *memory = fresh(pages);
		int half = (pages / 2) * PAGE;

		for (int page = 0; page < pages; page++) {
			expect(memory + page * WORDS, 0, 0, "that is fresh");
			fill(memory + page * WORDS, value_of(number, round, page));
		}
		for (int page = 0; page < pages; page++)
			expect(memory + page * WORDS, value_of(number, round, page), 1, "of a process");
		if (round % 3 == 0)
			madvise((char *)memory + half, half, MADV_DONTNEED);
		// A child that is the last one to have them frees them, on another processor perhaps.
		if (round % 5 == 0) {
			pid_t child = fork();

			if (child == 0) {
				sched_yield();
				_exit(0);
			}
			munmap(memory, (size_t)pages * PAGE);
			waitpid(child, NULL, 0);
		} else {
			munmap(memory, (size_t)pages * PAGE);
		}
		checked += pages;
	}
	return checked;
}

int main(int count, char **arguments)
{
	if (count != 5)
		errx(2, "pages pairs|faults|patterns PROCESSES ROUNDS|SECONDS PAGES");
	const char *what = arguments[1];
	int processes = atoi(arguments[2]), rounds = atoi(arguments[3]), pages = atoi(arguments[4]);
	uint64_t *checked = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t sum = (uint64_t)processes * rounds * pages;

	if (checked == MAP_FAILED || processes > (int)WORDS)
		errx(1, "too many processes");
	for (int i = 0; i < processes; i++)
		if (fork() == 0) {
			if (!strcmp(what, "pairs"))
				pair(i, rounds, pages);
			else if (!strcmp(what, "faults"))
				faults(i, rounds, pages);
			else
				checked[i] = patterns(i, rounds, pages);
			_exit(0);
		}
	for (int i = 0; i < processes; i++) {
		int status;

		if (wait(&status) < 0 || status)
			errx(1, "a process ended with %d", status);
	}
	if (!strcmp(what, "patterns"))
		for (int i = sum = 0; i < processes; i++)
			sum += checked[i];
	printf("%lu\n", sum);
	return 0;
}
