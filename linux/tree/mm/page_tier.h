/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lists of free pages that are presumably in a last-level cache, for each zone, migrate type and such
 * cache. They are between the per-CPU lists and the buddy lists: see page_tier.c.
 */
#ifndef _MM_PAGE_TIER_H
#define _MM_PAGE_TIER_H

#include <linux/jump_label.h>
#include <linux/mmzone.h>
#include <linux/percpu.h>

enum page_tier_count {
	PAGE_TIER_PUT,		/* pages that were put onto the lists */
	PAGE_TIER_GOT,		/* of these, pages that a per-CPU list was refilled with */
	PAGE_TIER_RETURNED,	/* of these, pages that went to the buddy lists: spilled or drained */
	PAGE_TIER_DRAINED,	/* of those, the drained ones */
	PAGE_TIER_RETYPED,	/* of these, pages whose type was another one when they were taken */
	PAGE_TIER_PUT_HELD,	/* lots that were not put, as others held the lists, or the lists have no room at all */
	PAGE_TIER_TAKE_HELD,	/* refills that passed the lists by, as others held them */
	/* With CONFIG_PAGE_TIER_STATS, whether the lists are on or not: */
	PAGE_TIER_LOCKS,	/* zone->lock was taken for a lot of pages */
	PAGE_TIER_FREED,	/* pages that so went to the buddy lists */
	PAGE_TIER_FILLED,	/* pages that so went to per-CPU lists */
	PAGE_TIER_SINGLE_LOCKS,	/* zone->lock was taken to allocate or free one run of pages */
	PAGE_TIER_COUNTS
};

#ifdef CONFIG_PAGE_TIER
DECLARE_STATIC_KEY_FALSE(page_tier_on);
DECLARE_PER_CPU(unsigned long [PAGE_TIER_COUNTS], page_tier_counts);

int __page_tier_put(struct zone *zone, struct per_cpu_pages *pcp, int pages, int pindex);
int __page_tier_take(struct zone *zone, int pages, struct list_head *list, int migratetype);
unsigned long page_tier_drain(struct zone *zone);

/* In page_alloc.c. Frees at most so many pages of a chain, and returns the rest of it. */
struct page *free_page_tier_chain(struct zone *zone, struct page *chain, int most);

/* Whether pages may be on the lists. */
static inline bool page_tier_is_on(void)
{
	return static_branch_unlikely(&page_tier_on);
}

/*
 * Moves up to @pages of the oldest of a per-CPU list to a list of this CPU's cache. Returns how many. The
 * caller holds the lock of the per-CPU lists.
 */
static inline int page_tier_put(struct zone *zone, struct per_cpu_pages *pcp, int pages, int pindex)
{
	if (!page_tier_is_on() || pindex >= MIGRATE_PCPTYPES)
		return 0;
	return __page_tier_put(zone, pcp, pages, pindex);
}

/*
 * Moves up to @pages from a list of this CPU's cache to a per-CPU list, the newest first. Returns how many.
 * The caller holds the lock of the per-CPU lists. A refill with one page is that of lists that are disabled.
 */
static inline int page_tier_take(struct zone *zone, unsigned int order, int pages,
				 struct list_head *list, int migratetype)
{
	if (!page_tier_is_on() || order || pages < 2)
		return 0;
	return __page_tier_take(zone, pages, list, migratetype);
}
#else
static inline bool page_tier_is_on(void)
{
	return false;
}

static inline int page_tier_put(struct zone *zone, struct per_cpu_pages *pcp, int pages, int pindex)
{
	return 0;
}

static inline int page_tier_take(struct zone *zone, unsigned int order, int pages,
				 struct list_head *list, int migratetype)
{
	return 0;
}

static inline unsigned long page_tier_drain(struct zone *zone)
{
	return 0;
}
#endif

/* zone->lock is taken for a lot of so many pages. */
static inline void page_tier_count_lot(enum page_tier_count what, int pages)
{
#ifdef CONFIG_PAGE_TIER_STATS
	this_cpu_inc(page_tier_counts[PAGE_TIER_LOCKS]);
	this_cpu_add(page_tier_counts[what], pages);
#endif
}

/* zone->lock is taken for one run of pages. */
static inline void page_tier_count_single(void)
{
#ifdef CONFIG_PAGE_TIER_STATS
	this_cpu_inc(page_tier_counts[PAGE_TIER_SINGLE_LOCKS]);
#endif
}

#endif /* _MM_PAGE_TIER_H */
