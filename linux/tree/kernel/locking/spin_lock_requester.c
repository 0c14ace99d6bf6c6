// SPDX-License-Identifier: GPL-2.0
/*
 * A requester-based queue for those who wait for a spin lock, in place of the kernel's own. What
 * waits is linux/object/src/spin_lock.rs of kilocore, and libs/locks/src/side_queues.rs says why
 * it is right. This file switches it on and off, and counts.
 *
 * The hook is the first thing in native_queued_spin_lock_slowpath(), and not a function for
 * pv_ops. A call by way of pv_ops is patched into a direct one at boot and stays that. So a
 * function behind it would have to look at a variable, too. The hook works where the kernel has no
 * pv_ops. A hypervisor's own slow path is left alone.
 *
 * The head of the kernel's own queue, and its pending waiter, take the lock by a plain store,
 * because nobody else takes it meanwhile. So waiters of both kinds must never wait for a lock at
 * the same time. Between the two, all wait outside of both queues: they exchange 0 for 1, as a
 * trylock does, which both queues bear.
 *
 * - First, new waits are made apart. Who waits for a spin lock has preemption off, or interrupts, or
 *   is the handler of an interrupt. So once each processor was in the thread of stop_machine(),
 *   no wait goes on that began in the old way.
 *
 * - Then the setting changes. Waits that are still apart go on in the new way. Who stayed apart might never
 *   get the lock: as long as a queue has somebody, the lock is handed from one to the next.
 *
 * The processors in stop_machine() wait for spin locks, too: they tell RCU of each turn. Those
 * waits are apart. It does not do to change the setting inside and to rely on there being none.
 */
#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/kilocore.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/stop_machine.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <asm/paravirt.h>
#include <asm/qspinlock.h>
#include <trace/events/lock.h>

#include "spin_lock_requester.h"

/* The algorithm. Returns whether the caller waited in a queue. */
bool kilocore_spin_lock_wait(struct qspinlock *lock);

static_assert(sizeof(struct qspinlock) == 4);
static_assert(_Q_LOCKED_VAL == 1 && _Q_LOCKED_MASK == 0xff && _Q_PENDING_VAL == 1 << 8);

enum way {
	STOCK,		/* in the kernel's own queue */
	REQUESTER,	/* in kilocore's */
	APART,		/* in none */
};

static enum way way __read_mostly;

struct spin_lock_counts {
	unsigned long slow_paths;	/* spin locks that were waited for while this was on, or changed */
	unsigned long unqueued;		/* of these, those whose slot another lock's waiters had */
	unsigned long apart;		/* of these, those that got the lock while the setting changed */
};

static DEFINE_PER_CPU(struct spin_lock_counts, spin_lock_counts);

/* Waits for a lock and takes it, or returns false if the kernel's own queue has to. */
bool spin_lock_requester_slowpath(struct qspinlock *lock)
{
	enum way how;

	while (unlikely((how = READ_ONCE(way)) == APART)) {
		if (queued_spin_trylock(lock)) {
			this_cpu_inc(spin_lock_counts.slow_paths);
			this_cpu_inc(spin_lock_counts.apart);
			return true;
		}
		cpu_relax();
	}
	if (how == STOCK)
		return false;
	this_cpu_inc(spin_lock_counts.slow_paths);
	trace_contention_begin(lock, LCB_F_SPIN);
	if (!kilocore_spin_lock_wait(lock))
		this_cpu_inc(spin_lock_counts.unqueued);
	trace_contention_end(lock, 0);
	return true;
}

static int nothing(void *unused)
{
	return 0;
}

static DEFINE_MUTEX(setting_lock);

static void change_way(enum way new)
{
	mutex_lock(&setting_lock);
	WRITE_ONCE(way, APART);
	stop_machine(nothing, NULL, NULL);
	WRITE_ONCE(way, new);
	mutex_unlock(&setting_lock);
}

/* Whether waiters come to the hook at all: not if a hypervisor has a slow path of its own. */
static bool reached(void)
{
#ifdef CONFIG_PARAVIRT_SPINLOCKS
	return pv_ops.lock.queued_spin_lock_slowpath == native_queued_spin_lock_slowpath;
#else
	return true;
#endif
}

/* In a virtual machine without one, the kernel's own locks have no queue. */
static void advise(void)
{
#ifdef CONFIG_PARAVIRT
	if (static_key_enabled(&virt_spin_lock_key))
		pr_warn("spin_locks: in this virtual machine, a queue waits for processors that do not run\n");
#endif
}

static const char *const settings[] = { [STOCK] = "stock", [REQUESTER] = "requester" };
static enum way way_at_boot __initdata;

static int __init spin_locks_setup(char *name)
{
	int setting = match_string(settings, ARRAY_SIZE(settings), name);

	if (setting < 0)
		pr_warn("spin_locks=%s: not known; stock, requester\n", name);
	else
		way_at_boot = setting;
	return 1;
}
__setup("spin_locks=", spin_locks_setup);

static ssize_t setting_write(struct file *file, const char __user *from, size_t size, loff_t *at)
{
	char name[16] = {};
	int setting;

	if (size >= sizeof(name))
		return -EINVAL;
	if (copy_from_user(name, from, size))
		return -EFAULT;
	setting = sysfs_match_string(settings, name);
	if (setting < 0)
		return setting;
	if (setting != STOCK && !reached())
		return -EOPNOTSUPP;
	if (setting != STOCK)
		advise();
	change_way(setting);
	return size;
}

static int setting_show(struct seq_file *out, void *unused)
{
	mutex_lock(&setting_lock);
	seq_puts(out, way == STOCK ? "[stock] requester\n" : "stock [requester]\n");
	mutex_unlock(&setting_lock);
	return 0;
}

DEFINE_SHOW_STORE_ATTRIBUTE(setting);

static int counts_show(struct seq_file *out, void *unused)
{
	struct spin_lock_counts sum = {};
	unsigned long rested = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct spin_lock_counts *counts = per_cpu_ptr(&spin_lock_counts, cpu);

		/* Each before what it is a part of, so that no part is larger while they count. */
		sum.apart += READ_ONCE(counts->apart);
		sum.unqueued += READ_ONCE(counts->unqueued);
		rested += READ_ONCE(per_cpu(kilocore_rest_count, cpu));
		sum.slow_paths += READ_ONCE(counts->slow_paths);
	}
	seq_printf(out, "slow_paths %lu\nqueued %lu\nrested %lu\nunqueued %lu\napart %lu\n",
		   sum.slow_paths, sum.slow_paths - sum.unqueued - sum.apart, rested, sum.unqueued,
		   sum.apart);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counts);

static int __init spin_lock_requester_init(void)
{
	struct dentry *folder = debugfs_create_dir("spin_locks", NULL);

	debugfs_create_file("setting", 0600, folder, NULL, &setting_fops);
	debugfs_create_file("counts", 0400, folder, NULL, &counts_fops);
	if (way_at_boot == STOCK)
		return 0;
	if (reached()) {
		advise();
		change_way(way_at_boot);
	} else {
		pr_warn("spin_locks=requester: the hypervisor has its own\n");
	}
	return 0;
}
late_initcall(spin_lock_requester_init);
