// SPDX-License-Identifier: GPL-2.0
/*
 * Whether the reverse map of a file is whole: the mappings of a folio that a walk of mapping->i_mmap finds
 * are as many as the folio counts. For tests, with other CPUs at fork, exit, munmap, truncation and reclaim.
 *
 * While the folio is locked, no page fault maps it. While i_mmap_rwsem is held, no fork copies a VMA that is
 * not in the tree, and none that is leaves it. So the two numbers come together as soon as the copies and
 * unmappings that are under way are done, and then stay together. If they do not, a VMA that maps the folio
 * is missing in the tree: the walk would have missed it, too.
 *
 * That they come together does not say that one walk finds all. While page tables are copied or moved without the lock, it
 * does only because it visits the VMA from which they are taken first. Of every N copies and moves, as
 * /sys/kernel/debug/i_mmap/order_one_in says, it is looked whether it would.
 *
 * "FD MILLISECONDS", written to /sys/kernel/debug/i_mmap/oracle, checks the folios of an open file for that
 * long. The write fails with EIO if the numbers differed. Reading the file says what was seen. To show that
 * it sees what is wrong, an error can be planted by its number in /sys/kernel/debug/i_mmap/planted.
 */
#include <linux/debugfs.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hugetlb.h>
#include <linux/i_mmap_ldu.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/pagevec.h>
#include <linux/random.h>
#include <linux/rmap.h>
#include <linux/seq_file.h>
#include "internal.h"

/* How long two numbers may differ. Copies under way take microseconds, but a virtual CPU may wait. */
#define SETTLED_AFTER (10 * HZ)

enum i_mmap_planted i_mmap_planted;
EXPORT_SYMBOL_GPL(i_mmap_planted);

/* Removals that were put off, as errors. A node that is in no log is its owner's to use. */
static DEFINE_SPINLOCK(put_off_lock);
static struct i_mmap_node *put_off;

#define NODE_QUEUED 1
#define NODE_RELEASED 4

bool i_mmap_plant_removal(struct vm_area_struct *vma, struct address_space *mapping)
{
	struct i_mmap_node *node = &vma->i_mmap_node;

	if (!i_mmap_is_planted(I_MMAP_LATE_REMOVALS) || is_vm_hugetlb_page(vma) ||
	    vma_is_shared_maywrite(vma))
		return false;
	/* So that the VMA itself is kept: the published patch keeps that. */
	WRITE_ONCE(node->state, NODE_QUEUED);
	node->id = (unsigned long)mapping;
	spin_lock(&put_off_lock);
	node->next = put_off;
	put_off = node;
	spin_unlock(&put_off_lock);
	return true;
}

void i_mmap_plant_removals(struct address_space *mapping)
{
	struct i_mmap_node *node, *next, *others = NULL;

	if (!READ_ONCE(put_off))
		return;
	spin_lock(&put_off_lock);
	node = put_off;
	put_off = NULL;
	for (; node; node = next) {
		struct vm_area_struct *vma = container_of(node, struct vm_area_struct, i_mmap_node);

		next = node->next;
		if (node->id != (unsigned long)mapping) {
			node->next = others;
			others = node;
			continue;
		}
		vma_interval_tree_remove(vma, &mapping->i_mmap);
		node->id = 0;
		if (xchg(&node->state, 0) & NODE_RELEASED)
			vm_area_free(vma);
	}
	put_off = others;
	spin_unlock(&put_off_lock);
}

static atomic_long_t folios_checked, mappings_counted, walks_made, folios_wrong, orders_checked, orders_wrong;

/* 0: none. */
static u32 order_one_in;

void i_mmap_check_order(struct vm_area_struct *first, struct vm_area_struct *second)
{
	struct address_space *mapping;
	struct vm_area_struct *vma, *found = NULL;
	u32 one_in = READ_ONCE(order_one_in);

	if (likely(!one_in) || get_random_u32_below(one_in) || !second->vm_file || is_vm_hugetlb_page(second))
		return;
	mapping = second->vm_file->f_mapping;
	i_mmap_lock_read(mapping);
	i_mmap_foreach(vma, mapping, second->vm_pgoff, second->vm_pgoff)
		if (vma == first || vma == second) {
			found = vma;
			break;
		}
	i_mmap_unlock_read(mapping);
	atomic_long_inc(&orders_checked);
	if (found != first) {
		atomic_long_inc(&orders_wrong);
		WARN_ONCE(1, "i_mmap oracle: page %lu of inode %lu: a walk visits %s first\n",
			  second->vm_pgoff, mapping->host->i_ino, found ? "the copy" : "neither VMA");
	}
}

static int mappings_found(struct folio *folio, struct address_space *mapping)
{
	pgoff_t first = folio_pgoff(folio), last = first + folio_nr_pages(folio) - 1;
	struct vm_area_struct *vma;
	int found = 0;

	i_mmap_foreach(vma, mapping, first, last) {
		unsigned long address = vma_address(vma, first, folio_nr_pages(folio));
		DEFINE_FOLIO_VMA_WALK(walk, folio, vma, address, 0);

		while (page_vma_mapped_walk(&walk))
			found++;
		cond_resched();
	}
	return found;
}

/* Returns whether the numbers came together. The folio is locked. */
static bool is_whole(struct folio *folio, struct address_space *mapping)
{
	unsigned long deadline = jiffies + SETTLED_AFTER;
	int before, found, after;
	bool whole;

	i_mmap_lock_read(mapping);
	do {
		before = folio_mapcount(folio);
		found = mappings_found(folio, mapping);
		after = folio_mapcount(folio);
		whole = found == before && found == after;
		atomic_long_inc(&walks_made);
	} while (!whole && time_before(jiffies, deadline));
	i_mmap_unlock_read(mapping);

	if (whole)
		atomic_long_add(found, &mappings_counted);
	else
		pr_err("i_mmap oracle: page %lu of inode %lu is mapped %d times, and a walk finds %d\n",
		       folio_pgoff(folio), mapping->host->i_ino, after, found);
	return whole;
}

/* Returns how many folios were wrong: none, or the first. */
static int check_file(struct address_space *mapping, unsigned long deadline)
{
	int wrong = 0;

	while (!wrong && time_before(jiffies, deadline)) {
		struct folio_batch batch;
		pgoff_t index = 0;

		folio_batch_init(&batch);
		while (filemap_get_folios(mapping, &index, (pgoff_t)-1, &batch)) {
			unsigned int i;

			for (i = 0; i < folio_batch_count(&batch) && !wrong; i++) {
				struct folio *folio = batch.folios[i];

				/* Who holds it may be stuck, because of an error that is to be found. */
				if (!folio_trylock(folio))
					continue;
				if (folio->mapping == mapping && folio_mapped(folio)) {
					atomic_long_inc(&folios_checked);
					wrong = !is_whole(folio, mapping);
				}
				folio_unlock(folio);
			}
			folio_batch_release(&batch);
			if (fatal_signal_pending(current) || wrong || time_after(jiffies, deadline))
				return wrong;
		}
		cond_resched();
	}
	return wrong;
}

static ssize_t oracle_write(struct file *file, const char __user *from, size_t size, loff_t *at)
{
	unsigned int descriptor, milliseconds;
	struct file *checked;
	char text[32] = {};
	int wrong;

	if (size >= sizeof(text) || copy_from_user(text, from, size))
		return -EINVAL;
	if (sscanf(text, "%u %u", &descriptor, &milliseconds) != 2)
		return -EINVAL;
	checked = fget(descriptor);
	if (!checked)
		return -EBADF;
	wrong = is_file_hugepages(checked) ? -EINVAL :
		check_file(checked->f_mapping, jiffies + msecs_to_jiffies(milliseconds));
	fput(checked);
	if (wrong < 0)
		return wrong;
	atomic_long_add(wrong, &folios_wrong);
	return wrong ? -EIO : size;
}

static int oracle_show(struct seq_file *out, void *unused)
{
	seq_printf(out, "folios %ld\nmappings %ld\nwalks %ld\nwrong %ld\norders %ld\ndisorder %ld\n",
		   atomic_long_read(&folios_checked), atomic_long_read(&mappings_counted),
		   atomic_long_read(&walks_made), atomic_long_read(&folios_wrong),
		   atomic_long_read(&orders_checked), atomic_long_read(&orders_wrong));
	return 0;
}

DEFINE_SHOW_STORE_ATTRIBUTE(oracle);

static int planted_get(void *unused, u64 *value)
{
	*value = i_mmap_planted;
	return 0;
}

static int planted_set(void *unused, u64 value)
{
	if (value >= I_MMAP_PLANTED_COUNT)
		return -EINVAL;
	WRITE_ONCE(i_mmap_planted, value);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(planted_fops, planted_get, planted_set, "%llu\n");

static int __init i_mmap_oracle_init(void)
{
	struct dentry *folder = debugfs_lookup("i_mmap", NULL);

	debugfs_create_file("oracle", 0600, folder, NULL, &oracle_fops);
	debugfs_create_u32("order_one_in", 0600, folder, &order_one_in);
	debugfs_create_file_unsafe("planted", 0600, folder, NULL, &planted_fops);
	dput(folder);
	return 0;
}
late_initcall_sync(i_mmap_oracle_init);
