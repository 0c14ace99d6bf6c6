/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file's interval tree as several trees, each with a lock of its own: another way to relieve
 * i_mmap_rwsem, to compare the log with (i_mmap_ldu.h). The design is that of Huang Shijie's series "mm:
 * split the file's i_mmap tree for NUMA", version 2 of June 2026; the code is not.
 *
 *  - An insertion puts the VMA into the tree of its memory node, or of its group of CPUs if there is one
 *    node, under that tree's lock. The VMA keeps the tree's number, and a removal takes the same lock.
 *  - Whoever looks for VMAs, or changes one that is in a tree, takes the locks of all trees.
 *
 * The trees beside mapping->i_mmap are made when the first VMA is put into one, under i_mmap_rwsem, and
 * stay until the inode goes. So who holds i_mmap_rwsem, which all take first, knows which others there are.
 * Files whose trees are never split have a pointer more, and a branch at each lock.
 */
#ifndef _LINUX_I_MMAP_SPLIT_H
#define _LINUX_I_MMAP_SPLIT_H

#include <linux/types.h>

struct address_space;
struct i_mmap_siblings;
struct rb_root_cached;
struct vm_area_struct;

#ifdef CONFIG_I_MMAP_SPLIT

/* The locks of all trees but mapping->i_mmap. The caller holds i_mmap_rwsem in the same way. */
void i_mmap_siblings_lock(struct address_space *mapping, bool write);
void i_mmap_siblings_unlock(struct address_space *mapping, bool write);
/* Takes them without waiting. If that is not possible, it takes none and returns false. */
bool i_mmap_siblings_trylock(struct address_space *mapping, bool write);
/* Whether one of them has a VMA in it. Without the locks, this can change. */
bool i_mmap_siblings_mapped(struct address_space *mapping);
/* Frees the trees of a file that nobody maps any more. */
void i_mmap_siblings_free(struct address_space *mapping);

/*
 * Chooses the tree for @vma, and takes its lock. May allocate memory. A copy of a VMA goes to the same tree, or to a later
 * one if that was the first: who walks the trees has to come to the copy later, as in one tree.
 */
void i_mmap_lock_insert(struct vm_area_struct *vma, struct address_space *mapping);
/* Takes the lock of the tree that has @vma, for a caller that takes VMAs out of it and looks for none. */
void i_mmap_lock_remove(struct vm_area_struct *vma, struct address_space *mapping);
/* Leaves the lock that one of these two has taken. */
void i_mmap_unlock_tree(struct vm_area_struct *vma, struct address_space *mapping);

/* The tree that has @vma, or that was chosen for it. */
struct rb_root_cached *i_mmap_tree_of(struct vm_area_struct *vma, struct address_space *mapping);
bool i_mmap_same_tree(struct vm_area_struct *vma, struct vm_area_struct *other);
/* Whether that is mapping->i_mmap. */
bool i_mmap_in_first(struct vm_area_struct *vma);

void i_mmap_split_switch(bool on);
bool i_mmap_split_is_on(void);

#else

static inline bool i_mmap_in_first(struct vm_area_struct *vma) { return true; }
static inline void i_mmap_split_switch(bool on) { }
static inline bool i_mmap_split_is_on(void) { return false; }

#endif /* CONFIG_I_MMAP_SPLIT */

#endif /* _LINUX_I_MMAP_SPLIT_H */
