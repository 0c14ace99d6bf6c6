/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A log of the VMAs that are still to be put into a file's interval tree, mapping->i_mmap.
 *
 * fork, mmap and exit put a VMA into the tree of each file and take it out again, under i_mmap_rwsem,
 * and with many CPUs this lock is where they stand. Most of these VMAs are never looked for. So:
 *
 *  - Whoever looks for VMAs in the tree says so before it takes the lock, and takes that back when it has left. Having
 *    the lock, it looks at the log, and applies it first if it is not empty.
 *  - An insertion pushes the VMA to the file's log. If somebody looks then, who may not have seen the push, it
 *    takes the lock and applies the log.
 *  - A removal whose insertion is still in the log cancels it, without the lock. Any other removal
 *    takes the lock, as page tables are freed after it and a walker may be in them.
 *  - A VMA that changes is taken out and put back under the lock, which keeps walkers out meanwhile. If the log has it,
 *    it is put back into the log, and otherwise into the tree.
 *  - VMAs go into the tree in the order in which they were logged. fork and mremap rely on that: they copy or move page
 *    tables without the lock, and a walker has to come to the VMA from which they are taken first. A VMA that changes may
 *    come behind others, as it may in a tree; neither VMA of a pair does while fork or mremap is at it.
 *
 * So walkers find in the tree what they always found, in that order, and no walker is in a VMA after its removal. The
 * algorithm is kilocore's, compiled from its Rust, and is checked there: libs/ldu/src/insertion_log.rs.
 */
#ifndef _LINUX_I_MMAP_LDU_H
#define _LINUX_I_MMAP_LDU_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/types.h>
#include <asm/barrier.h>

struct address_space;
struct rw_semaphore;
struct vm_area_struct;

#ifdef CONFIG_I_MMAP_LDU

/* In each address_space. C uses @newest and @looking. */
struct i_mmap_log {
	void *newest;		/* NULL if the log is empty */
	u32 length;
	u32 stayed;
	u64 id;
	atomic_t looking;	/* how many look for VMAs, or are about to */
	u32 taking;
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
	I_MMAP_HELD = 2,	/* Somebody looks for VMAs, so the log was applied. */
	I_MMAP_FULL = 3,	/* The log was full, and much of it was not cancelled, so it was applied. */
	I_MMAP_SWEPT = 4,	/* The log was full, so that what was cancelled has left it. */
};

/* Errors that tests plant, to see whether they are noticed. The second to the fourth are those of the published patch. */
enum i_mmap_planted {
	I_MMAP_RIGHT,
	I_MMAP_BLIND_WALKS,	/* Who takes the lock takes the log for empty. */
	I_MMAP_BLIND_INSERTIONS, /* An insertion does not see who looks. */
	I_MMAP_LATE_REMOVALS,	/* A removal is logged as well, and page tables are freed meanwhile. */
	I_MMAP_EARLY_FREES,	/* A VMA is freed with the log still at it. */
	I_MMAP_STRAY_CHILDREN,	/* Of i_mmap_split.h: a child's VMA does not go to its parent's tree. */
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
 * Who is going to take i_mmap_rwsem and to look for VMAs says so. It is counted whatever the setting is, as that may
 * change meanwhile.
 *
 * The walker adds to @looking and then reads @newest; an insertion writes @newest and then reads @looking. There is a
 * full barrier between the two on either side, so that one of both sees the other.
 */
static inline void i_mmap_log_begin_looking(struct i_mmap_log *log)
{
	atomic_inc(&log->looking);
	smp_mb__after_atomic();
}

/* The caller has left the lock. An insertion that sees this, and so waits for nobody, comes after what the caller did. */
static inline void i_mmap_log_end_looking(struct i_mmap_log *log)
{
	smp_mb__before_atomic();
	atomic_dec(&log->looking);
}

/* Whether there is nothing to apply, for a caller that has said that it looks. */
static inline bool i_mmap_log_is_empty(const struct i_mmap_log *log)
{
	if (i_mmap_is_planted(I_MMAP_BLIND_WALKS))
		return true;
	smp_mb();
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

/*
 * For a caller that holds the lock for writing and looks for no VMA. Each returns false if the caller has to do it in the
 * tree. @full becomes true if the log is too long; the caller shortens it when it has left the lock.
 */
/* Log that @vma is put in, if the log has @beside, of which it was a part. */
bool i_mmap_ldu_insert_beside(struct vm_area_struct *vma, struct vm_area_struct *beside,
			      struct address_space *mapping, bool *full);
/* Take @vma out by cancelling its insertion. */
bool i_mmap_ldu_take_out(struct vm_area_struct *vma, struct address_space *mapping);
/* Log that @vma is put back, which was taken out so. */
bool i_mmap_ldu_put_back(struct vm_area_struct *vma, struct address_space *mapping, bool *full);
/* Sweep a log that is too long, and apply it if much of it stays. */
void i_mmap_ldu_shorten(struct address_space *mapping);
/*
 * For a caller that has left the lock, and has taken a VMA out under it, from the log perhaps: takes what is gone out of the
 * log if all logs together have much of it.
 */
void i_mmap_ldu_clear_cancelled(struct address_space *mapping);
/* Whether a log may have something in it, or has had. */
bool i_mmap_ldu_is_used(void);
/* The log of a file that nobody maps any more: free the VMAs in it that are gone. */
void i_mmap_ldu_clear(struct address_space *mapping);

void i_mmap_ldu_dup(struct vm_area_struct *new);
/* Whether a log still has @vma, which is being freed, and frees it later. */
bool i_mmap_ldu_keeps(struct vm_area_struct *vma);

#else

struct i_mmap_log { };

static inline void i_mmap_log_init(struct i_mmap_log *log) { }
static inline void i_mmap_log_begin_looking(struct i_mmap_log *log) { }
static inline void i_mmap_log_end_looking(struct i_mmap_log *log) { }
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
static inline bool i_mmap_ldu_insert_beside(struct vm_area_struct *vma, struct vm_area_struct *beside,
					    struct address_space *mapping, bool *full)
{
	return false;
}
static inline bool i_mmap_ldu_put_back(struct vm_area_struct *vma, struct address_space *mapping, bool *full)
{
	return false;
}
static inline void i_mmap_ldu_shorten(struct address_space *mapping) { }
static inline void i_mmap_ldu_clear_cancelled(struct address_space *mapping) { }
static inline bool i_mmap_ldu_take_out(struct vm_area_struct *vma, struct address_space *mapping)
{
	return false;
}
static inline bool i_mmap_ldu_is_used(void) { return false; }
static inline void i_mmap_ldu_clear(struct address_space *mapping) { }
static inline void i_mmap_ldu_dup(struct vm_area_struct *new) { }
static inline bool i_mmap_ldu_keeps(struct vm_area_struct *vma) { return false; }

#endif /* CONFIG_I_MMAP_LDU */

#ifdef CONFIG_I_MMAP_ORACLE
/*
 * Notices if a walk does not visit @first before @second. Page tables were copied or moved from the one to the other.
 * Looks at one of so many pairs as debugfs says.
 */
void i_mmap_check_order(struct vm_area_struct *first, struct vm_area_struct *second);
#else
static inline void i_mmap_check_order(struct vm_area_struct *first, struct vm_area_struct *second) { }
#endif

#ifdef CONFIG_I_MMAP_LDU_STATS
void i_mmap_ldu_count_lock(bool write);
/* The same for a lock of i_mmap_split.h. */
void i_mmap_ldu_count_sibling(bool write);
#else
static inline void i_mmap_ldu_count_lock(bool write) { }
static inline void i_mmap_ldu_count_sibling(bool write) { }
#endif

#endif /* _LINUX_I_MMAP_LDU_H */
