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
#include <linux/types.h>

struct finer_lru;
struct folio;
struct lruvec;
struct mem_cgroup_per_node;

#ifdef CONFIG_FINER_LRU
/* On if there is more than one stripe, from boot on. */
DECLARE_STATIC_KEY_FALSE(finer_lru_key);

struct lruvec *__finer_lru_stripe(struct lruvec *whole, struct folio *folio);
struct lruvec *__finer_lru_turn(struct lruvec *whole, int lru);
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

static inline struct lruvec *__finer_lru_turn(struct lruvec *whole, int lru)
{
	return whole;
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

/* The stripe from whose list reclaim is to take next. */
static inline struct lruvec *finer_lru_turn(struct lruvec *whole, int lru)
{
	return finer_lru_on() ? __finer_lru_turn(whole, lru) : whole;
}

/* What a stripe is a stripe of. */
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
