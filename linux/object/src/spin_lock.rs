// SPDX-License-Identifier: GPL-2.0
//! Queues for those who wait for the kernel's spin locks.
//!
//! `kernel/locking/spin_lock_requester.c` calls this, in place of what the kernel's own slow path does.

use core::mem::MaybeUninit;
use core::sync::atomic::AtomicU32;

use kilocore_locks::{Requester, SideQueues, SmallLock};

use crate::kernel::Kernel;

/// A `struct qspinlock` of the kernel's. Its lowest byte says whether somebody has it, and its fast paths
/// are those of a [`SmallLock`]: an exchange of 0 for 1, and a store of 0 to that byte. The processor
/// treats a store to a byte and an exchange of the word around it as accesses to one place.
#[repr(transparent)]
#[derive(Debug)]
pub struct SpinLock(AtomicU32);

impl SmallLock<Kernel> for SpinLock {
    /// `_Q_LOCKED_VAL`.
    const HELD: u32 = 1;
    /// `_Q_PENDING_VAL`, which the kernel's own slow path uses in the same way.
    const KEEP_OUT: u32 = 1 << 8;

    fn word(&self) -> &AtomicU32 {
        &self.0
    }

    fn key(&self) -> u64 {
        // Addresses of the kernel have at most 57 bits, and ones before them.
        let address = core::ptr::from_ref(self).addr() as u64;
        (address & ((1 << 57) - 1)) / size_of::<u32>() as u64
    }
}

/// On up to 256 processors, no more locks than this are waited for at a time: each waits for one, and has interrupted
/// three waits at most. Two of these locks may still have the same slot; the waiters of the later one then have no queue.
const SLOTS: usize = 1024;

/// The queue's lock. Its holder is the first in line and waits for the spin lock. The next one spins for the queue, as
/// one does with threshold 0. All others rest.
type Queues = SideQueues<Kernel, Requester<Kernel, 0>, SLOTS>;

// SAFETY: a table that nobody uses has no bit set if a free lock has none, as one of tickets has not.
static QUEUES: Queues = unsafe { MaybeUninit::zeroed().assume_init() };

/// Waits for a spin lock and takes it. Returns whether the caller waited in a queue.
///
/// # Safety
/// The caller is not preempted. All that wait for spin locks at the same time call this, or take the lock by an
/// exchange of 0 for 1. An interrupt handler that comes meanwhile waits for
/// no lock whose holders wait for this one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kilocore_spin_lock_wait(lock: &SpinLock) -> bool {
    QUEUES.acquire(lock, &mut ())
}
