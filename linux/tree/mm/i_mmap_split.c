// SPDX-License-Identifier: GPL-2.0
/*
 * The trees of a file's mappings beside mapping->i_mmap. See include/linux/i_mmap_split.h.
 */
#include <linux/fs.h>
#include <linux/hugetlb.h>
#include <linux/i_mmap_ldu.h>
#include <linux/i_mmap_split.h>
#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/topology.h>

struct i_mmap_sibling {
	struct rb_root_cached tree;
	struct rw_semaphore rwsem;
} ____cacheline_aligned_in_smp;

struct i_mmap_siblings {
	unsigned int count;
	struct i_mmap_sibling of[];
};

/* All of them are held at once, and lockdep follows 48 locks of a task. */
#define SIBLINGS_MOST 24

/* They are taken in the order of their numbers. */
static struct lock_class_key sibling_keys[SIBLINGS_MOST];

/* How many trees a file gets beside mapping->i_mmap. 0: one for each node, or for every four CPUs. */
static unsigned int sibling_count;

static DEFINE_STATIC_KEY_FALSE(i_mmap_split_on);

static struct i_mmap_sibling *sibling(struct address_space *mapping, unsigned int tree)
{
	return &mapping->i_mmap_siblings->of[tree - 1];
}

/* Returns the siblings that the file has now. Only one caller's are kept. */
static struct i_mmap_siblings *siblings_make(struct address_space *mapping)
{
	unsigned int count = sibling_count, i;
	struct i_mmap_siblings *made;

	made = kzalloc(struct_size(made, of, count), GFP_KERNEL);
	if (!made)
		return NULL;
	made->count = count;
	for (i = 0; i < count; i++) {
		made->of[i].tree = RB_ROOT_CACHED;
		init_rwsem(&made->of[i].rwsem);
		lockdep_set_class(&made->of[i].rwsem, &sibling_keys[i]);
	}
	/* Whoever is inside has not taken the locks of these. */
	down_write(&mapping->i_mmap_rwsem);
	i_mmap_ldu_count_lock(true);
	if (mapping->i_mmap_siblings)
		kfree(made);
	else
		smp_store_release(&mapping->i_mmap_siblings, made);
	made = mapping->i_mmap_siblings;
	up_write(&mapping->i_mmap_rwsem);
	return made;
}

/* Returns the number of the tree for a VMA. 0 is mapping->i_mmap. */
static unsigned int tree_for(struct vm_area_struct *vma, struct address_space *mapping)
{
	struct i_mmap_siblings *siblings;

	/* Huge pages share page tables, and say under i_mmap_rwsem who shares. */
	if (!static_branch_unlikely(&i_mmap_split_on) || is_vm_hugetlb_page(vma))
		return 0;
	siblings = smp_load_acquire(&mapping->i_mmap_siblings);
	if (!siblings)
		siblings = siblings_make(mapping);
	if (!siblings)
		return 0;
	if (nr_online_nodes > 1)
		return 1 + numa_node_id() % siblings->count;
	return 1 + raw_smp_processor_id() * siblings->count / nr_cpu_ids;
}

void i_mmap_lock_insert(struct vm_area_struct *vma, struct address_space *mapping)
{
	if (i_mmap_in_first(vma) || i_mmap_is_planted(I_MMAP_STRAY_CHILDREN))
		vma->i_mmap_tree = tree_for(vma, mapping);
	if (vma->i_mmap_tree) {
		down_write(&sibling(mapping, vma->i_mmap_tree)->rwsem);
		i_mmap_ldu_count_sibling(true);
	} else {
		i_mmap_lock_first(mapping);
		/* The VMA beside which it is put is in the tree now. */
		i_mmap_log_end_looking(&mapping->i_mmap_log);
	}
}

void i_mmap_lock_remove(struct vm_area_struct *vma, struct address_space *mapping)
{
	if (vma->i_mmap_tree) {
		down_write(&sibling(mapping, vma->i_mmap_tree)->rwsem);
		i_mmap_ldu_count_sibling(true);
	} else {
		down_write(&mapping->i_mmap_rwsem);
		i_mmap_ldu_count_lock(true);
	}
}

void i_mmap_unlock_tree(struct vm_area_struct *vma, struct address_space *mapping)
{
	if (vma->i_mmap_tree)
		up_write(&sibling(mapping, vma->i_mmap_tree)->rwsem);
	else
		up_write(&mapping->i_mmap_rwsem);
}

struct rb_root_cached *i_mmap_tree_of(struct vm_area_struct *vma, struct address_space *mapping)
{
	return vma->i_mmap_tree ? &sibling(mapping, vma->i_mmap_tree)->tree : &mapping->i_mmap;
}

bool i_mmap_same_tree(struct vm_area_struct *vma, struct vm_area_struct *other)
{
	return vma->i_mmap_tree == other->i_mmap_tree;
}

bool i_mmap_in_first(struct vm_area_struct *vma)
{
	return !vma->i_mmap_tree;
}

void i_mmap_siblings_lock(struct address_space *mapping, bool write)
{
	struct i_mmap_siblings *siblings = mapping->i_mmap_siblings;
	unsigned int i;

	for (i = 0; i < siblings->count; i++) {
		if (write)
			down_write(&siblings->of[i].rwsem);
		else
			down_read(&siblings->of[i].rwsem);
		i_mmap_ldu_count_sibling(write);
	}
}
EXPORT_SYMBOL_GPL(i_mmap_siblings_lock);

static void siblings_unlock(struct i_mmap_siblings *siblings, unsigned int count, bool write)
{
	while (count-- > 0) {
		if (write)
			up_write(&siblings->of[count].rwsem);
		else
			up_read(&siblings->of[count].rwsem);
	}
}

bool i_mmap_siblings_trylock(struct address_space *mapping, bool write)
{
	struct i_mmap_siblings *siblings = mapping->i_mmap_siblings;
	unsigned int i;

	for (i = 0; i < siblings->count; i++) {
		struct rw_semaphore *rwsem = &siblings->of[i].rwsem;

		if (!(write ? down_write_trylock(rwsem) : down_read_trylock(rwsem))) {
			siblings_unlock(siblings, i, write);
			return false;
		}
		i_mmap_ldu_count_sibling(write);
	}
	return true;
}
EXPORT_SYMBOL_GPL(i_mmap_siblings_trylock);

void i_mmap_siblings_unlock(struct address_space *mapping, bool write)
{
	siblings_unlock(mapping->i_mmap_siblings, mapping->i_mmap_siblings->count, write);
}
EXPORT_SYMBOL_GPL(i_mmap_siblings_unlock);

bool i_mmap_siblings_mapped(struct address_space *mapping)
{
	struct i_mmap_siblings *siblings = smp_load_acquire(&mapping->i_mmap_siblings);
	unsigned int i;

	for (i = 0; siblings && i < siblings->count; i++)
		if (!RB_EMPTY_ROOT(&siblings->of[i].tree.rb_root))
			return true;
	return false;
}
EXPORT_SYMBOL_GPL(i_mmap_siblings_mapped);

void i_mmap_siblings_free(struct address_space *mapping)
{
	if (!mapping->i_mmap_siblings)
		return;
	WARN_ON_ONCE(i_mmap_siblings_mapped(mapping));
	kfree(mapping->i_mmap_siblings);
	mapping->i_mmap_siblings = NULL;
}

/* Returns the first VMA of the trees from number @tree on. */
static struct vm_area_struct *first_from(struct address_space *mapping, unsigned int tree,
					 unsigned long start, unsigned long last)
{
	struct i_mmap_siblings *siblings = mapping->i_mmap_siblings;
	struct vm_area_struct *vma = NULL;

	for (; siblings && !vma && tree <= siblings->count; tree++)
		vma = vma_interval_tree_iter_first(&siblings->of[tree - 1].tree, start, last);
	return vma;
}

struct vm_area_struct *i_mmap_iter_first(struct address_space *mapping, unsigned long start,
					 unsigned long last)
{
	return vma_interval_tree_iter_first(&mapping->i_mmap, start, last) ?:
	       first_from(mapping, 1, start, last);
}

struct vm_area_struct *i_mmap_iter_next(struct vm_area_struct *vma, struct address_space *mapping,
					unsigned long start, unsigned long last)
{
	return vma_interval_tree_iter_next(vma, start, last) ?:
	       first_from(mapping, vma->i_mmap_tree + 1, start, last);
}

void i_mmap_split_switch(bool on)
{
	if (on)
		static_branch_enable(&i_mmap_split_on);
	else
		static_branch_disable(&i_mmap_split_on);
}

bool i_mmap_split_is_on(void)
{
	return static_key_enabled(&i_mmap_split_on);
}

static int __init i_mmap_trees_setup(char *text)
{
	if (kstrtouint(text, 0, &sibling_count) || sibling_count > SIBLINGS_MOST) {
		pr_warn("i_mmap_trees=%s: not a number up to %d\n", text, SIBLINGS_MOST);
		sibling_count = 0;
	}
	return 1;
}
__setup("i_mmap_trees=", i_mmap_trees_setup);

static int __init i_mmap_split_init(void)
{
	unsigned int count = nr_online_nodes > 1 ? nr_node_ids : DIV_ROUND_UP(nr_cpu_ids, 4);

	if (!sibling_count)
		sibling_count = min_t(unsigned int, count, SIBLINGS_MOST);
	return 0;
}
/* Before the setting of the command line, which i_mmap_ldu.c makes in a late_initcall(). */
fs_initcall(i_mmap_split_init);
