/*
 * kilocore_pages.h: a pool of pages that are still in some cache.
 *
 * A page that was released a moment ago is given to the same core again, or to one that shares a cache
 * with it. Whoever needs memory by the page, and gives it back soon, gets it without a system call, without
 * a page fault, and faster to fill.
 *
 *     struct kc_pages_options options = KC_PAGES_OPTIONS_INIT;
 *     struct kc_pages *pool;
 *
 *     options.pages = 25600;
 *     if (kc_pages_new(&pool, &options) != 0)
 *             ...
 *     char *page = kc_pages_allocate(pool);
 *     char *buffer = kc_pages_map(pool, 1 << 20);
 *     ...
 *     kc_pages_unmap(pool, buffer, 1 << 20);
 *     kc_pages_release(pool, page);
 *
 * Link with -lkilocore_c.
 *
 * Units. A page has 4096 bytes and begins at a multiple of that. Numbers of pages are called pages; all
 * else is bytes.
 *
 * Errors. Functions that return an int return 0, or an error number of <errno.h> with a minus sign.
 * Functions that return a pointer return NULL and set errno. errno is left alone otherwise. What breaks the
 * rules below is no error, but undefined; a guarded pool ends the process with a message instead, if a page
 * is released that is not allocated.
 *
 * Threads. All functions but kc_pages_destroy may be called by any number of threads at a time, for one
 * pool. A page may be released by another thread than the one that allocated it.
 *
 * Signals. All functions but kc_pages_new and kc_pages_destroy may be called in a signal handler, whatever
 * it interrupts: nobody ever waits in them, and they use no other allocator.
 *
 * fork. A child has a copy of the pool and of the pages that its parent held, and may use both. Free pages
 * that other threads were moving at the moment of the fork are lost to the child's pool.
 */
#ifndef KILOCORE_PAGES_H
#define KILOCORE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The bytes of a page. */
#define KC_PAGES_BYTES 4096

/* What is longer than this does not come from the pool; see kc_pages_map. */
#define KC_PAGES_LONGEST_MAP (512 * KC_PAGES_BYTES)

struct kc_pages;

/* What is behind the pages of a pool. */
enum {
	/* Whatever the system does by itself. */
	KC_PAGES_PLAIN = 0,
	/* Huge pages where the system has some. Giving a part of one back splits it. */
	KC_PAGES_TRANSPARENT = 1,
	/* Huge pages of 2 MiB that the administrator has set aside (sysctl vm.nr_hugepages). Their memory
	 * is not given back before the pool is destroyed: what goes idle is cleared instead. */
	KC_PAGES_HUGETLB = 2,
};

/* As large as the caches of this machine. */
#define KC_PAGES_AUTO UINT32_MAX

/* What a pool is made with. */
struct kc_pages_options {
	/* The most pages that may be allocated at a time. They take addresses, and memory only when
	 * they are used. */
	uint32_t pages;
	/* One of the above. */
	int32_t backing;
	/* The NUMA node whose memory the pages are to be from, or -1 for that of who uses a page first. */
	int32_t node;
	/* The most free pages of a core's list: the private-hot tier. */
	uint32_t private_pages;
	/* The most free pages of the list of a last-level cache: the shared-hot tier. 0 leaves it out. */
	uint32_t shared_pages;
	/* Whether to watch for pages that are released twice. It costs an atomic operation each time. */
	bool guarded;
};

/* clang-format off */
#define KC_PAGES_OPTIONS_INIT { 0, KC_PAGES_PLAIN, -1, KC_PAGES_AUTO, KC_PAGES_AUTO, false }
/* clang-format on */

/*
 * Makes a pool, and stores it if that succeeds.
 *
 * -EINVAL  options.pages is 0 or more than a pool can have, or another option has no such value
 * -ENOMEM  there are not so many addresses (ulimit -v), or huge pages
 * -ENOTSUP the system's pages are larger than 4096 bytes, or it has no transparent huge pages
 * -ENODEV  there is no such node, or it may not be used
 */
int kc_pages_new(struct kc_pages **pool, const struct kc_pages_options *options);

/* Gives all memory of a pool back to the system. Nobody may use it any more, nor any page of it. */
void kc_pages_destroy(struct kc_pages *pool);

/* Returns how many pages the pool has, free or not. */
uint32_t kc_pages_count(const struct kc_pages *pool);

/* Returns whether an address is that of a page of this pool, allocated or not. */
bool kc_pages_owns(const struct kc_pages *pool, const void *page);

/* Allocates a page whose bytes are zero. ENOMEM if no page is free. */
void *kc_pages_allocate(struct kc_pages *pool);

/* The same for who writes to it before reading: its bytes are what they are. */
void *kc_pages_allocate_uninit(struct kc_pages *pool);

/* Releases a page of kc_pages_allocate, or of a range of kc_pages_map. NULL is allowed. */
void kc_pages_release(struct kc_pages *pool, void *page);

/* The same for a page whose bytes are all zero, which spares its next owner from clearing it. */
void kc_pages_release_zero(struct kc_pages *pool, void *page);

/*
 * Allocates so many bytes of zeros, rounded up to pages, that lie side by side. The first page begins at a
 * multiple of the length rounded up to a power of two.
 *
 * What is longer than KC_PAGES_LONGEST_MAP the system maps, as by mmap: it belongs to no pool, begins at a
 * multiple of a page, and is unmapped in the same way.
 *
 * EINVAL  no bytes were asked for
 * ENOMEM  no pages that lie side by side are free, or the system has no addresses
 */
void *kc_pages_map(struct kc_pages *pool, size_t bytes);

/* The same without zeros, for who writes to the memory before reading. */
void *kc_pages_map_uninit(struct kc_pages *pool, size_t bytes);

/*
 * Releases memory of kc_pages_map: all of it or any pages of it, also of neighbouring ranges at once. The
 * length is rounded up to pages.
 *
 * -EINVAL  the address is not that of a page, there are no bytes, or some are the pool's and some not
 */
int kc_pages_unmap(struct kc_pages *pool, void *address, size_t bytes);

/* What giving memory back did. */
struct kc_pages_decayed {
	uint32_t pages; /* whose memory went back, or was cleared; they are zero now */
	uint32_t calls; /* of the system */
};

/*
 * Gives the memory of free pages back to the system that were idle in the cold tier since the last call.
 * What is in the hot tiers stays. Call it some times in a minute, from any thread.
 */
struct kc_pages_decayed kc_pages_decay(struct kc_pages *pool);

/* Gives the memory of all free pages back to the system. */
struct kc_pages_decayed kc_pages_trim(struct kc_pages *pool);

/* What a pool has done, in pages, and where its free pages are. */
struct kc_pages_statistics {
	uint64_t allocated;
	uint64_t zero; /* of these, those that were known to be zero */
	uint64_t released;
	uint64_t from_private; /* of those allocated, those that were on a core's list */
	uint64_t from_shared;  /* and those whose list got them from the shared-hot tier */
	uint64_t from_cold;    /* and from the cold tier, from which all ranges are */
	uint64_t spilled;      /* from cores' lists into the tier below */
	uint32_t private_now;  /* free at present, in each tier */
	uint32_t shared_now;
	uint32_t cold_now;
};

/* Stores what the pool has done. While others use it, the numbers are near to the truth. */
void kc_pages_get_statistics(const struct kc_pages *pool, struct kc_pages_statistics *statistics);

#ifdef __cplusplus
}
#endif

#endif
