/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The LRU lists of a memory group on a node, cut into stripes with a lock each: see mm/finer_lru.c.
 *
 * The group's own lruvec is the first stripe. It also has what there is once for all stripes, and is what
 * folio_lruvec() and mem_cgroup_lruvec() return: the "whole" below.
 */
#ifndef _LINUX_FINER_LRU_H
#define _LINUX_FINER_LRU_H

#include <linux/jump_label.h>
#include <linux/minmax.h>
#include <linux/stddef.h>
#include <linux/types.h>

struct finer_lru;
struct folio;
struct lruvec;
struct mem_cgroup_per_node;

/* Pages of a list that reclaim is to scan, stripe by stripe. */
struct finer_lru_scan {
	struct lruvec *whole;
	int lru;
	int reclaim_idx;	/* pages of higher zones do not count */
	unsigned long left;	/* pages still to scan, once those of this stripe are */
	unsigned long nr;	/* pages to scan in this stripe */
	u32 round;		/* `Round` of kilocore's libs/lru: zero before the first stripe */
};

#ifdef CONFIG_FINER_LRU
/* On if there is more than one stripe, from boot on. */
DECLARE_STATIC_KEY_FALSE(finer_lru_key);

struct lruvec *__finer_lru_stripe(struct lruvec *whole, struct folio *folio);
struct lruvec *__finer_lru_next(struct finer_lru_scan *scan);
struct lruvec *__finer_lru_whole(struct lruvec *stripe);
bool __finer_lru_matches(struct lruvec *stripe, struct folio *folio);
unsigned long __finer_lru_others_size(struct lruvec *whole, int lru, int zone);
void finer_lru_make(struct mem_cgroup_per_node *pn, int node);
void finer_lru_unmake(struct mem_cgroup_per_node *pn);

static inline bool finer_lru_on(void)
{
	return static_branch_unlikely(&finer_lru_key);
}
#else
static inline bool finer_lru_on(void)
{
	return false;
}

static inline struct lruvec *__finer_lru_stripe(struct lruvec *whole, struct folio *folio)
{
	return whole;
}

static inline struct lruvec *__finer_lru_next(struct finer_lru_scan *scan)
{
	return NULL;
}

static inline struct lruvec *__finer_lru_whole(struct lruvec *stripe)
{
	return stripe;
}

static inline bool __finer_lru_matches(struct lruvec *stripe, struct folio *folio)
{
	return true;
}

static inline unsigned long __finer_lru_others_size(struct lruvec *whole, int lru, int zone)
{
	return 0;
}

static inline void finer_lru_make(struct mem_cgroup_per_node *pn, int node)
{
}

static inline void finer_lru_unmake(struct mem_cgroup_per_node *pn)
{
}
#endif

/* The stripe that a folio of these lists is on, or belongs to. */
static inline struct lruvec *finer_lru_stripe(struct lruvec *whole, struct folio *folio)
{
	return finer_lru_on() ? __finer_lru_stripe(whole, folio) : whole;
}

/* All pages that are to be scanned are of the only stripe. */
static inline struct lruvec *finer_lru_only(struct finer_lru_scan *scan)
{
	scan->nr = scan->left;
	scan->left = 0;
	return scan->nr ? scan->whole : NULL;
}

/* The next stripe to scan pages of, or NULL if that is all. scan->nr says how many. */
static inline struct lruvec *finer_lru_next(struct finer_lru_scan *scan)
{
	return finer_lru_on() ? __finer_lru_next(scan) : finer_lru_only(scan);
}

/*
 * So many pages were scanned in this stripe. They are more than were to be, if the last folio is large. What one has too
 * many is not scanned in others.
 */
static inline void finer_lru_took(struct finer_lru_scan *scan, unsigned long pages)
{
	if (pages > scan->nr)
		scan->left -= min(scan->left, pages - scan->nr);
}

/* The group's own lruvec, given any of its stripes. */
static inline struct lruvec *finer_lru_whole(struct lruvec *stripe)
{
	return finer_lru_on() ? __finer_lru_whole(stripe) : stripe;
}

/* Whether a folio, which is of the same memory group and node, is of this stripe. */
static inline bool finer_lru_matches(struct lruvec *stripe, struct folio *folio)
{
	return !finer_lru_on() || __finer_lru_matches(stripe, folio);
}

/* How many pages all stripes but the first have on a list. */
static inline unsigned long finer_lru_others_size(struct lruvec *whole, int lru, int zone)
{
	return finer_lru_on() ? __finer_lru_others_size(whole, lru, zone) : 0;
}

#ifdef CONFIG_FINER_LRU_CHECK
void finer_lru_count(struct lruvec *lruvec);
#else
/* The lock of a stripe is about to be taken. */
static inline void finer_lru_count(struct lruvec *lruvec)
{
}
#endif

#endif /* _LINUX_FINER_LRU_H */
