/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A log of the VMAs that are still to be put into a file's interval tree, mapping->i_mmap.
 *
 * fork, mmap and exit put a VMA into the tree of each file and take it out again, under i_mmap_rwsem,
 * and with many CPUs this lock is where they stand. Most of these VMAs are never looked for. So:
 *
 *  - An insertion pushes the VMA to the file's log. It then looks at the lock. If somebody is inside,
 *    who may not have seen the push, it takes the lock and applies the log.
 *  - Whoever takes the lock looks at the log afterwards, and applies it first if it is not empty.
 *  - A removal whose insertion is still in the log cancels it, without the lock. Any other removal
 *    takes the lock, as page tables are freed after it and a walker may be in them.
 *
 * So walkers find in the tree what they always found, and no walker is in a VMA after its removal. The
 * algorithm is kilocore's, compiled from its Rust, and is checked there: libs/ldu/src/insertion_log.rs.
 */
#ifndef _LINUX_I_MMAP_LDU_H
#define _LINUX_I_MMAP_LDU_H

#include <linux/compiler.h>
#include <linux/types.h>
#include <asm/barrier.h>

struct address_space;
struct rw_semaphore;
struct vm_area_struct;

#ifdef CONFIG_I_MMAP_LDU

/* In each address_space. Of its fields, C uses @newest alone. */
struct i_mmap_log {
	void *newest;		/* NULL if the log is empty */
	u32 length;
	u64 id;
};

/* In each VMA. All zero: the VMA is in no log. Only Rust uses its fields. */
struct i_mmap_node {
	u64 state;
	void *next;
	u64 id;
};

/* How an insertion was made. The numbers are those of linux/object/src/i_mmap.rs. */
enum i_mmap_logged {
	I_MMAP_ELSEWHERE = 0,	/* It was not: the VMA is in another file's log. */
	I_MMAP_PENDING = 1,
	I_MMAP_HELD = 2,	/* The lock was held, so the log was applied. */
	I_MMAP_FULL = 3,	/* The log was full, so it was applied. */
};

/* Errors that tests plant, to see whether they are noticed. The last three are those of the published patch. */
enum i_mmap_planted {
	I_MMAP_RIGHT,
	I_MMAP_BLIND_WALKS,	/* Who takes the lock takes the log for empty. */
	I_MMAP_BLIND_INSERTIONS, /* An insertion takes the lock for free. */
	I_MMAP_LATE_REMOVALS,	/* A removal is logged as well, and page tables are freed meanwhile. */
	I_MMAP_EARLY_FREES,	/* A VMA is freed with the log still at it. */
	I_MMAP_PLANTED_COUNT
};

#ifdef CONFIG_I_MMAP_ORACLE
extern enum i_mmap_planted i_mmap_planted;
static inline bool i_mmap_is_planted(enum i_mmap_planted which)
{
	return unlikely(READ_ONCE(i_mmap_planted) == which);
}
/* Puts a removal off if that error is planted, and makes those that were put off. */
bool i_mmap_plant_removal(struct vm_area_struct *vma, struct address_space *mapping);
void i_mmap_plant_removals(struct address_space *mapping);
#else
static inline bool i_mmap_is_planted(enum i_mmap_planted which) { return false; }
static inline bool i_mmap_plant_removal(struct vm_area_struct *vma, struct address_space *mapping)
{
	return false;
}
static inline void i_mmap_plant_removals(struct address_space *mapping) { }
#endif

void i_mmap_log_init(struct i_mmap_log *log);

/*
 * Whether there is nothing to apply. The caller has just taken i_mmap_rwsem. On the other side, the push is
 * a full barrier before the look at the lock.
 */
static inline bool i_mmap_log_is_empty(const struct i_mmap_log *log)
{
	if (i_mmap_is_planted(I_MMAP_BLIND_WALKS))
		return true;
	smp_mb__after_atomic();
	return likely(!READ_ONCE(log->newest));
}

/* Apply the log. The caller holds i_mmap_rwsem for writing. */
void i_mmap_ldu_apply(struct address_space *mapping);
/* The same for a caller that holds it for reading, which leaves it meanwhile. */
void i_mmap_ldu_catch_up(struct address_space *mapping);
/* The same without waiting. Returns false, with the lock left, if that was not possible. */
bool i_mmap_ldu_try_catch_up(struct address_space *mapping);

/* Log that @vma is put in. Returns false if the caller has to do that itself, under the lock. */
bool i_mmap_ldu_insert(struct vm_area_struct *vma, struct address_space *mapping);
/* Take @vma out again if its insertion is still in the log. If not, the caller does it, under the lock. */
bool i_mmap_ldu_cancel(struct vm_area_struct *vma, struct address_space *mapping);
/* The log of a file that nobody maps any more: free the VMAs in it that are gone. */
void i_mmap_ldu_clear(struct address_space *mapping);

void i_mmap_ldu_dup(struct vm_area_struct *new);
/* Whether a log still has @vma, which is being freed, and frees it later. */
bool i_mmap_ldu_keeps(struct vm_area_struct *vma);

#else

struct i_mmap_log { };

static inline void i_mmap_log_init(struct i_mmap_log *log) { }
static inline bool i_mmap_log_is_empty(const struct i_mmap_log *log) { return true; }
static inline void i_mmap_ldu_apply(struct address_space *mapping) { }
static inline void i_mmap_ldu_catch_up(struct address_space *mapping) { }
static inline bool i_mmap_ldu_try_catch_up(struct address_space *mapping) { return true; }
static inline bool i_mmap_ldu_insert(struct vm_area_struct *vma, struct address_space *mapping)
{
	return false;
}
static inline bool i_mmap_ldu_cancel(struct vm_area_struct *vma, struct address_space *mapping)
{
	return false;
}
static inline void i_mmap_ldu_clear(struct address_space *mapping) { }
static inline void i_mmap_ldu_dup(struct vm_area_struct *new) { }
static inline bool i_mmap_ldu_keeps(struct vm_area_struct *vma) { return false; }

#endif /* CONFIG_I_MMAP_LDU */

#ifdef CONFIG_I_MMAP_LDU_STATS
void i_mmap_ldu_count_lock(bool write);
/* The same for a lock of i_mmap_split.h. */
void i_mmap_ldu_count_sibling(bool write);
#else
static inline void i_mmap_ldu_count_lock(bool write) { }
static inline void i_mmap_ldu_count_sibling(bool write) { }
#endif

#endif /* _LINUX_I_MMAP_LDU_H */
