// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's side of the log of VMAs that are still to be put into mapping->i_mmap: its switch, its
 * counters, and what the algorithm calls. See include/linux/i_mmap_ldu.h.
 */
#include <linux/cacheflush.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/hugetlb.h>
#include <linux/i_mmap_ldu.h>
#include <linux/i_mmap_split.h>
#include <linux/jump_label.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/percpu.h>
#include <linux/percpu_counter.h>
#include <linux/seq_file.h>

/*
 * The algorithm: linux/object/src/i_mmap.rs of kilocore. It calls back i_mmap_ldu_put_in() and
 * i_mmap_ldu_free().
 */
enum i_mmap_logged i_mmap_log_insert(struct i_mmap_log *log, struct rw_semaphore *lock,
				     struct i_mmap_node *node, u32 limit);
bool i_mmap_log_insert_inside(struct i_mmap_log *log, struct i_mmap_node *node, u32 limit, bool *full);
enum i_mmap_logged i_mmap_log_shorten(struct i_mmap_log *log, struct rw_semaphore *lock, u32 limit);
bool i_mmap_log_is_pending(struct i_mmap_log *log, struct i_mmap_node *node);
bool i_mmap_log_cancel(struct i_mmap_log *log, struct i_mmap_node *node);
void i_mmap_log_clear_cancelled(struct i_mmap_log *log, struct rw_semaphore *lock);
bool i_mmap_log_keeps(struct i_mmap_node *node);
void i_mmap_log_apply(struct i_mmap_log *log);
void i_mmap_log_catch_up(struct i_mmap_log *log, struct rw_semaphore *lock);
bool i_mmap_log_try_catch_up(struct i_mmap_log *log, struct rw_semaphore *lock);
void i_mmap_ldu_put_in(struct i_mmap_log *log, struct i_mmap_node *node);
void i_mmap_ldu_free(struct i_mmap_node *node);

static_assert(sizeof(struct i_mmap_log) == 32);
static_assert(sizeof(struct i_mmap_node) == 24);
static_assert(offsetof(struct i_mmap_log, newest) == 0);
static_assert(offsetof(struct i_mmap_log, looking) == 24);

/*
 * How many VMAs that are freed already are in logs, and from how many on who takes one out clears its log. CPUs count so
 * many for themselves that all together are not off by more than a quarter of that. 0: always.
 */
static struct percpu_counter i_mmap_gone;
static u64 i_mmap_gone_most;
static s32 i_mmap_gone_batch;

/*
 * How many VMAs may be pending in a log before it is applied: that bounds how long the next walker waits. A CPU has some
 * twenty VMAs of a library in the log at a time. A sweep takes what is gone out of a log that has doubled since the last
 * one, so there is no more of it than is pending, or 64. A sweep of a log that is nearly full keeps its CPU from
 * other tasks meanwhile, for some 16,000 VMAs on 128 CPUs.
 *
 * A log stays as it is when nobody inserts into it or looks for VMAs any more. A process that maps and unmaps many files
 * could fill the memory with VMAs that are gone. From some 1/2048 of the memory on, who takes a VMA out counts it as gone, and
 * sweeps a log of which half is, and empties one that has nothing else. All CPUs write to the log for that.
 */
static unsigned int i_mmap_log_limit(void)
{
	return max(512U, 64 * nr_cpu_ids);
}

static void i_mmap_count_gone(s64 by)
{
	percpu_counter_add_batch(&i_mmap_gone, by, i_mmap_gone_batch);
}

/* Whether insertions are logged. */
static DEFINE_STATIC_KEY_FALSE(i_mmap_ldu_on);
/* Whether any ever were, so that a log may have something in it. */
static DEFINE_STATIC_KEY_FALSE(i_mmap_ldu_used);

enum i_mmap_count {
	PUSHED,		/* insertions that were logged */
	CANCELLED,	/* of these, those that their removal has cancelled */
	APPLIED,	/* of these, those that were put into the tree */
	FOUND_HELD,	/* insertions that found somebody who looks */
	FOUND_FULL,	/* insertions that found the log full, and applied it */
	SWEPT,		/* insertions that found it full, and swept it without the lock */
	APPLICATIONS,	/* how often somebody who took the lock applied the log first */
	READERS,	/* of these, those who took it for reading */
	TRIES_FAILED,	/* how often somebody who could not wait found a log to apply, and so went without the lock */
	KEPT,		/* VMAs that were freed while a log had them */
	LET_GO,		/* of these, those that a log has let go since */
	WRITE_LOCKS,	/* a lock of a file's tree was taken for writing, by whomever */
	READ_LOCKS,	/* and for reading */
	SIBLING_LOCKS,	/* of both, those of i_mmap_split.h */
	COUNTS
};

static const char *const i_mmap_count_names[COUNTS] = {
	"pushed", "cancelled", "applied", "found_held", "found_full", "swept", "applications", "readers",
	"tries_failed", "kept", "let_go", "write_locks", "read_locks", "sibling_locks",
};

static DEFINE_PER_CPU(unsigned long [COUNTS], i_mmap_counts);

static void count(enum i_mmap_count what)
{
	this_cpu_inc(i_mmap_counts[what]);
}

#ifdef CONFIG_I_MMAP_LDU_STATS
void i_mmap_ldu_count_lock(bool write)
{
	count(write ? WRITE_LOCKS : READ_LOCKS);
}
EXPORT_SYMBOL_GPL(i_mmap_ldu_count_lock);

void i_mmap_ldu_count_sibling(bool write)
{
	count(write ? WRITE_LOCKS : READ_LOCKS);
	count(SIBLING_LOCKS);
}
#endif

void i_mmap_ldu_put_in(struct i_mmap_log *log, struct i_mmap_node *node)
{
	struct address_space *mapping = container_of(log, struct address_space, i_mmap_log);
	struct vm_area_struct *vma = container_of(node, struct vm_area_struct, i_mmap_node);

	i_mmap_assert_write_locked(mapping);
	flush_dcache_mmap_lock(mapping);
	vma_interval_tree_insert(vma, &mapping->i_mmap);
	flush_dcache_mmap_unlock(mapping);
	count(APPLIED);
	/* There may be thousands. */
	cond_resched();
}

void i_mmap_ldu_free(struct i_mmap_node *node)
{
	struct vm_area_struct *vma = container_of(node, struct vm_area_struct, i_mmap_node);

	/* It is out of the log, and vm_area_free() has to see that. */
	memset(node, 0, sizeof(*node));
	i_mmap_count_gone(-1);
	count(LET_GO);
	vm_area_free(vma);
}

void i_mmap_ldu_apply(struct address_space *mapping)
{
	i_mmap_assert_write_locked(mapping);
	count(APPLICATIONS);
	i_mmap_log_apply(&mapping->i_mmap_log);
	i_mmap_plant_removals(mapping);
}
EXPORT_SYMBOL_GPL(i_mmap_ldu_apply);

void i_mmap_ldu_catch_up(struct address_space *mapping)
{
	count(APPLICATIONS);
	count(READERS);
	i_mmap_ldu_count_lock(true);
	i_mmap_log_catch_up(&mapping->i_mmap_log, &mapping->i_mmap_rwsem);
}
EXPORT_SYMBOL_GPL(i_mmap_ldu_catch_up);

bool i_mmap_ldu_try_catch_up(struct address_space *mapping)
{
	if (!i_mmap_log_try_catch_up(&mapping->i_mmap_log, &mapping->i_mmap_rwsem)) {
		count(TRIES_FAILED);
		return false;
	}
	count(APPLICATIONS);
	count(READERS);
	i_mmap_ldu_count_lock(true);
	return true;
}
EXPORT_SYMBOL_GPL(i_mmap_ldu_try_catch_up);

/* Whether @vma may be logged. */
static bool i_mmap_ldu_takes(struct vm_area_struct *vma)
{
	/*
	 * Huge pages share page tables, and say under the lock who shares. What the log has goes to the first tree, and
	 * a child of a VMA in another one has to be visited after it.
	 */
	return static_branch_unlikely(&i_mmap_ldu_on) && !is_vm_hugetlb_page(vma) && i_mmap_in_first(vma);
}

/* Counts what became of the log. */
static void i_mmap_ldu_count(enum i_mmap_logged how)
{
	if (how == I_MMAP_HELD)
		count(FOUND_HELD);
	if (how == I_MMAP_FULL)
		count(FOUND_FULL);
	if (how == I_MMAP_SWEPT)
		count(SWEPT);
	if (how == I_MMAP_HELD || how == I_MMAP_FULL)
		i_mmap_ldu_count_lock(true);
}

bool i_mmap_ldu_insert(struct vm_area_struct *vma, struct address_space *mapping)
{
	enum i_mmap_logged how;
	bool full = false;

	if (!i_mmap_ldu_takes(vma))
		return false;
	if (vma_is_shared_maywrite(vma))
		mapping_allow_writable(mapping);
	if (i_mmap_is_planted(I_MMAP_BLIND_INSERTIONS))
		how = i_mmap_log_insert_inside(&mapping->i_mmap_log, &vma->i_mmap_node, U32_MAX, &full) ?
			I_MMAP_PENDING : I_MMAP_ELSEWHERE;
	else
		how = i_mmap_log_insert(&mapping->i_mmap_log, &mapping->i_mmap_rwsem,
					&vma->i_mmap_node, i_mmap_log_limit());
	if (how == I_MMAP_ELSEWHERE) {
		if (vma_is_shared_maywrite(vma))
			mapping_unmap_writable(mapping);
		return false;
	}
	count(PUSHED);
	i_mmap_ldu_count(how);
	return true;
}

void i_mmap_ldu_clear_cancelled(struct address_space *mapping)
{
	u64 most = READ_ONCE(i_mmap_gone_most);

	if (static_branch_unlikely(&i_mmap_ldu_used) &&
	    unlikely(!most || percpu_counter_read_positive(&i_mmap_gone) > most))
		i_mmap_log_clear_cancelled(&mapping->i_mmap_log, &mapping->i_mmap_rwsem);
}

bool i_mmap_ldu_cancel(struct vm_area_struct *vma, struct address_space *mapping)
{
	if (!static_branch_unlikely(&i_mmap_ldu_used))
		return false;
	if (!i_mmap_log_cancel(&mapping->i_mmap_log, &vma->i_mmap_node))
		return i_mmap_plant_removal(vma, mapping);
	if (vma_is_shared_maywrite(vma))
		mapping_unmap_writable(mapping);
	count(CANCELLED);
	i_mmap_ldu_clear_cancelled(mapping);
	return true;
}

/* The VMA stays the file's, so what the file counts of it stays. */
bool i_mmap_ldu_put_back(struct vm_area_struct *vma, struct address_space *mapping, bool *full)
{
	i_mmap_assert_write_locked(mapping);
	if (!i_mmap_ldu_takes(vma) ||
	    !i_mmap_log_insert_inside(&mapping->i_mmap_log, &vma->i_mmap_node, i_mmap_log_limit(), full))
		return false;
	count(PUSHED);
	return true;
}

void i_mmap_ldu_shorten(struct address_space *mapping)
{
	i_mmap_ldu_count(i_mmap_log_shorten(&mapping->i_mmap_log, &mapping->i_mmap_rwsem,
					    i_mmap_log_limit()));
}

bool i_mmap_ldu_insert_beside(struct vm_area_struct *vma, struct vm_area_struct *beside,
			      struct address_space *mapping, bool *full)
{
	if (!static_branch_unlikely(&i_mmap_ldu_used) ||
	    !i_mmap_log_is_pending(&mapping->i_mmap_log, &beside->i_mmap_node) ||
	    !i_mmap_ldu_put_back(vma, mapping, full))
		return false;
	if (vma_is_shared_maywrite(vma))
		mapping_allow_writable(mapping);
	return true;
}

bool i_mmap_ldu_take_out(struct vm_area_struct *vma, struct address_space *mapping)
{
	if (!static_branch_unlikely(&i_mmap_ldu_used))
		return false;
	if (!i_mmap_log_cancel(&mapping->i_mmap_log, &vma->i_mmap_node))
		return false;
	count(CANCELLED);
	return true;
}

bool i_mmap_ldu_is_used(void)
{
	return static_branch_unlikely(&i_mmap_ldu_used);
}
EXPORT_SYMBOL_GPL(i_mmap_ldu_is_used);

void i_mmap_ldu_clear(struct address_space *mapping)
{
	if (i_mmap_log_is_empty(&mapping->i_mmap_log))
		return;
	i_mmap_lock_write(mapping);
	i_mmap_unlock_write(mapping);
}

void i_mmap_ldu_dup(struct vm_area_struct *new)
{
	memset(&new->i_mmap_node, 0, sizeof(new->i_mmap_node));
}

bool i_mmap_ldu_keeps(struct vm_area_struct *vma)
{
	if (!static_branch_unlikely(&i_mmap_ldu_used))
		return false;
	if (i_mmap_is_planted(I_MMAP_EARLY_FREES) || !i_mmap_log_keeps(&vma->i_mmap_node))
		return false;
	i_mmap_count_gone(1);
	count(KEPT);
	return true;
}

enum i_mmap_setting { STOCK, LDU, SPLIT };

static void i_mmap_switch(enum i_mmap_setting to)
{
	i_mmap_split_switch(to == SPLIT);
	if (to == LDU) {
		static_branch_enable(&i_mmap_ldu_used);
		static_branch_enable(&i_mmap_ldu_on);
	} else {
		/* What is logged is applied by whoever takes the lock, or cancelled. */
		static_branch_disable(&i_mmap_ldu_on);
	}
}

static const char *const i_mmap_settings[] = {
	"stock", "ldu",
#ifdef CONFIG_I_MMAP_SPLIT
	"split",
#endif
};
static int i_mmap_setting_at_boot;

static int __init i_mmap_setup(char *name)
{
	int setting = match_string(i_mmap_settings, ARRAY_SIZE(i_mmap_settings), name);

	if (setting < 0) {
		pr_warn("i_mmap=%s: not known; stock, ldu, split\n", name);
		return 0;
	}
	i_mmap_setting_at_boot = setting;
	return 1;
}
__setup("i_mmap=", i_mmap_setup);

static DEFINE_MUTEX(i_mmap_setting_lock);

static ssize_t i_mmap_setting_write(struct file *file, const char __user *from, size_t size,
				    loff_t *at)
{
	char name[16] = {};
	int setting;

	if (size >= sizeof(name) || copy_from_user(name, from, size))
		return -EINVAL;
	setting = sysfs_match_string(i_mmap_settings, name);
	if (setting < 0)
		return setting;
	mutex_lock(&i_mmap_setting_lock);
	i_mmap_switch(setting);
	mutex_unlock(&i_mmap_setting_lock);
	return size;
}

static int i_mmap_setting_show(struct seq_file *out, void *unused)
{
	int now = i_mmap_split_is_on() ? SPLIT : static_key_enabled(&i_mmap_ldu_on) ? LDU : STOCK;
	int setting;

	for (setting = 0; setting < ARRAY_SIZE(i_mmap_settings); setting++)
		seq_printf(out, setting == now ? "%s[%s]" : "%s%s", setting ? " " : "",
			   i_mmap_settings[setting]);
	seq_putc(out, '\n');
	return 0;
}

DEFINE_SHOW_STORE_ATTRIBUTE(i_mmap_setting);

static int i_mmap_counts_show(struct seq_file *out, void *unused)
{
	enum i_mmap_count what;
	int cpu;

	for (what = 0; what < COUNTS; what++) {
		unsigned long sum = 0;

		if (what >= WRITE_LOCKS && !IS_ENABLED(CONFIG_I_MMAP_LDU_STATS))
			continue;
		for_each_possible_cpu(cpu)
			sum += per_cpu(i_mmap_counts[what], cpu);
		seq_printf(out, "%s %lu\n", i_mmap_count_names[what], sum);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(i_mmap_counts);

static int __init i_mmap_ldu_init(void)
{
	struct dentry *folder = debugfs_create_dir("i_mmap", NULL);

	i_mmap_gone_most = div_u64(PFN_PHYS((u64)totalram_pages()),
				   2048 * sizeof(struct vm_area_struct));
	i_mmap_gone_batch = clamp(div_u64(i_mmap_gone_most, 4 * nr_cpu_ids), 1, 64);
	if (percpu_counter_init(&i_mmap_gone, 0, GFP_KERNEL))
		return -ENOMEM;
	debugfs_create_file("setting", 0600, folder, NULL, &i_mmap_setting_fops);
	debugfs_create_file("counts", 0400, folder, NULL, &i_mmap_counts_fops);
	debugfs_create_u64("gone_most", 0600, folder, &i_mmap_gone_most);
	i_mmap_switch(i_mmap_setting_at_boot);
	return 0;
}
late_initcall(i_mmap_ldu_init);
