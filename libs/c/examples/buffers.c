/*
 * A server's way with memory: threads take a buffer for each request, fill it, hand it on, and give it back
 * soon. Here the buffers come from a pool of pages, and what the pool did is printed by tier.
 *
 *     cc -O2 -pthread -I include examples/buffers.c -lkilocore_c -o buffers && ./buffers
 */
#include "kilocore_pages.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { WORKERS = 3, REQUESTS = 500, POOL_PAGES = 4096 };

static struct kc_pages *pool;

/* Prints what is wrong, and how often. */
static int faults;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void expect(int holds, const char *what)
{
	if (holds)
		return;
	pthread_mutex_lock(&lock);
	faults++;
	printf("wrong: %s\n", what);
	pthread_mutex_unlock(&lock);
}

static int all(const unsigned char *bytes, size_t count, unsigned char value)
{
	for (size_t at = 0; at < count; at++)
		if (bytes[at] != value)
			return 0;
	return 1;
}

/* A request: a page for its head, and a buffer for its body, of which the second half goes back early. */
static void serve(unsigned char own, size_t body_bytes)
{
	size_t half = body_bytes / 2 / KC_PAGES_BYTES * KC_PAGES_BYTES;
	unsigned char *head = kc_pages_allocate(pool);
	unsigned char *body = kc_pages_map(pool, body_bytes);

	expect(head != NULL && body != NULL, "there is a buffer");
	if (head == NULL || body == NULL)
		return;
	expect(all(head, KC_PAGES_BYTES, 0), "a page is zero");
	expect(all(body, body_bytes, 0), "a buffer is zero");
	memset(head, own, KC_PAGES_BYTES);
	memset(body, own, body_bytes);
	if (half > 0 && half < body_bytes) {
		expect(kc_pages_unmap(pool, body + half, body_bytes - half) == 0, "a part goes back");
		body_bytes = half;
	}
	expect(all(head, KC_PAGES_BYTES, own), "nobody else has the page");
	expect(all(body, body_bytes, own), "nobody else has the buffer");
	expect(kc_pages_unmap(pool, body, body_bytes) == 0, "the rest goes back");
	kc_pages_release(pool, head);
}

static void *work(void *number)
{
	unsigned char own = (unsigned char)(1 + *(int *)number);

	for (size_t request = 0; request < REQUESTS; request++)
		serve(own, 1 + request * 7919 % (200 * KC_PAGES_BYTES));
	return NULL;
}

/* What is asked for in a wrong way is refused. */
static void refuse(void)
{
	struct kc_pages_options options = KC_PAGES_OPTIONS_INIT;
	struct kc_pages *none;
	unsigned char *page = kc_pages_allocate_uninit(pool);

	expect(kc_pages_new(&none, &options) == -EINVAL, "a pool has pages");
	options.pages = 1;
	options.backing = 7;
	expect(kc_pages_new(&none, &options) == -EINVAL, "there is no such backing");
	errno = 0;
	expect(kc_pages_map(pool, 0) == NULL && errno == EINVAL, "a range has bytes");
	expect(kc_pages_unmap(pool, page + 1, 1) == -EINVAL, "a range begins with a page");
	expect(kc_pages_unmap(pool, page, 0) == -EINVAL, "a range has bytes");
	expect(kc_pages_owns(pool, page) && !kc_pages_owns(pool, &options), "the pool knows its own");
	kc_pages_release(pool, page);
	kc_pages_release(pool, NULL);
	errno = 0;
	expect(kc_pages_map(pool, (size_t)-1) == NULL && errno == ENOMEM, "there is not so much");
}

int main(void)
{
	struct kc_pages_options options = KC_PAGES_OPTIONS_INIT;
	struct kc_pages_statistics done;
	pthread_t workers[WORKERS];
	int numbers[WORKERS];
	unsigned char *large;

	options.pages = POOL_PAGES;
	options.private_pages = 64;
	options.guarded = true;
	int result = kc_pages_new(&pool, &options);
	if (result != 0) {
		printf("no pool: %s\n", strerror(-result));
		return 1;
	}
	refuse();
	for (int number = 0; number < WORKERS; number++) {
		numbers[number] = number;
		pthread_create(&workers[number], NULL, work, &numbers[number]);
	}
	for (int number = 0; number < WORKERS; number++)
		pthread_join(workers[number], NULL);

	/* What is too long for the pool is the system's. */
	large = kc_pages_map(pool, 3 * KC_PAGES_LONGEST_MAP);
	expect(large != NULL && !kc_pages_owns(pool, large), "the system maps it");
	expect(large != NULL && all(large, 3 * KC_PAGES_LONGEST_MAP, 0), "it is zero");
	expect(kc_pages_unmap(pool, large, 3 * KC_PAGES_LONGEST_MAP) == 0, "the system unmaps it");

	expect(kc_pages_trim(pool).pages > 0, "idle memory goes back");
	kc_pages_get_statistics(pool, &done);
	expect(done.allocated == done.released, "all pages are back");
	expect(done.private_now + done.shared_now + done.cold_now == kc_pages_count(pool),
	       "all pages are free");
	expect(done.from_private > 0 && done.from_cold > 0, "pages came from the tiers");
	printf("%d workers served %d requests each\n", WORKERS, REQUESTS);
	kc_pages_destroy(pool);
	return faults != 0;
}
