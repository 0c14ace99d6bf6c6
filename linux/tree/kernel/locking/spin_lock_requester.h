/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LOCKING_SPIN_LOCK_REQUESTER_H
#define _LOCKING_SPIN_LOCK_REQUESTER_H

#include <linux/types.h>

struct qspinlock;

#ifdef CONFIG_SPIN_LOCK_REQUESTER
bool spin_lock_requester_slowpath(struct qspinlock *lock);
#else
static inline bool spin_lock_requester_slowpath(struct qspinlock *lock)
{
	return false;
}
#endif

#endif /* _LOCKING_SPIN_LOCK_REQUESTER_H */
