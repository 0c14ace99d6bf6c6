/*
 * Threads take jobs from a queue and enter the results into a table that others read. The same
 * program runs under every algorithm, or under the one that is named on the command line.
 *
 *     cc -O2 -pthread -I include examples/jobs.c -lkilocore_c -o jobs && ./jobs mcs-park
 */
#include "kilocore_locks.h"

#include <pthread.h>
#include <stdio.h>

enum { WORKERS = 3, JOBS = 200, ROOM = 4 };

/* A queue with little room. */
static struct kc_lock lock = KC_LOCK_INIT(kc_futex);
static struct kc_condition more = KC_CONDITION_INIT;
static struct kc_condition room = KC_CONDITION_INIT;
static int queue[ROOM];
static unsigned first, last;

/* What came out, and how often. The two change together. */
static struct kc_rwlock *table;
static long sum, count;

static void put(int job)
{
	kc_lock_acquire(&lock);
	while (last - first == ROOM)
		kc_condition_wait(&room, &lock);
	queue[last++ % ROOM] = job;
	kc_lock_release(&lock);
	kc_condition_signal(&more);
}

static int take(void)
{
	kc_lock_acquire(&lock);
	while (first == last)
		/* It wakes now and then, as a worker with something else to do would. */
		kc_condition_wait_for(&more, &lock, 1000000);
	int job = queue[first++ % ROOM];
	kc_lock_release(&lock);
	kc_condition_signal(&room);
	return job;
}

/* Enters a result, and looks at the table without letting another writer in between. */
static void enter(int result)
{
	kc_rwlock_acquire(table);
	sum += result;
	long mine = ++count;
	struct kc_reader reader = kc_rwlock_downgrade(table);
	if (count != mine)
		puts("another writer came in between");
	kc_rwlock_release_shared(table, reader);
}

static void *work(void *unused)
{
	for (int job; (job = take()) != 0;)
		enter(job * 2);
	return unused;
}

static void *watch(void *unused)
{
	for (long seen = 0; seen < JOBS;) {
		struct kc_reader reader;

		if (!kc_rwlock_try_acquire_shared(table, &reader))
			reader = kc_rwlock_acquire_shared(table);
		seen = count;
		if (seen == JOBS && sum != (long)JOBS * (JOBS + 1))
			puts("a result is missing");
		kc_rwlock_release_shared(table, reader);
	}
	return unused;
}

static int run(const struct kc_lock_algorithm *lock_algorithm,
               const struct kc_rwlock_algorithm *table_algorithm)
{
	pthread_t workers[WORKERS], watcher;

	kc_lock_init(&lock, lock_algorithm);
	table = kc_rwlock_new(table_algorithm);
	first = last = 0;
	sum = count = 0;
	if (pthread_create(&watcher, NULL, watch, NULL))
		return 1;
	for (int i = 0; i < WORKERS; i++)
		if (pthread_create(&workers[i], NULL, work, NULL))
			return 1;
	for (int job = 1; job <= JOBS; job++)
		put(job);
	for (int i = 0; i < WORKERS; i++)
		put(0);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	pthread_join(watcher, NULL);
	if (!kc_lock_try_acquire(&lock) || kc_lock_try_acquire(&lock))
		return 1;
	kc_lock_release(&lock);
	struct kc_reader reader;
	if (!kc_rwlock_try_acquire(table) || kc_rwlock_try_acquire_shared(table, &reader))
		return 1;
	kc_rwlock_release(table);
	printf("%s, %s: %ld results\n", lock_algorithm->name, table_algorithm->name, count);
	kc_rwlock_destroy(table);
	return sum != (long)JOBS * (JOBS + 1);
}

int main(int argc, char **argv)
{
	const struct kc_lock_algorithm *const *locks = kc_lock_algorithms();
	const struct kc_rwlock_algorithm *const *tables = kc_rwlock_algorithms();
	const struct kc_lock_algorithm *only = NULL;

	if (argc > 1 && !(only = kc_lock_find(argv[1]))) {
		fprintf(stderr, "jobs: no lock is called %s; try mcs-park\n", argv[1]);
		return 2;
	}
	for (size_t i = 0; locks[i]; i++)
		for (size_t j = 0; tables[j]; j++)
			if ((!only || only == locks[i]) && run(locks[i], tables[j]))
				return 1;
	kc_condition_broadcast(&more);
	kc_condition_destroy(&more);
	kc_condition_destroy(&room);
	return kc_rwlock_find("no-such-lock") != NULL;
}
