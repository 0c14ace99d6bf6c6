//! The spin lock of a futex's hash bucket.
//!
//! Every call of a futex takes it, and a waker holds it while it wakes. Kernels before Linux 4.2
//! have a ticket lock there, whose waiters all watch one line: many callers of one futex make it
//! collapse, and with it the program's lock. Since then it is a queue, each caller waiting apart.
//! Whoever holds it or waits for it keeps its core.

use std::sync::atomic::Ordering;

use kilocore_platform::{Atomic, AtomicInt, Padded};

use crate::engine;
use crate::outcome::Activity;
use crate::platform::{SimU32, watch};

/// A ticket lock, its two numbers on one line.
#[derive(Debug)]
pub(crate) struct KernelLock(Padded<[SimU32; 2]>);

impl KernelLock {
    pub(crate) fn new() -> Self {
        Self(Padded([SimU32::new(0), SimU32::new(0)]))
    }

    /// Waits for its turn, in the kernel.
    pub(crate) fn acquire(&self) {
        keep_core(true);
        let [next, serving] = &self.0.0;
        let mine = next.fetch_add(1, Ordering::Relaxed);
        watch(serving, Activity::System, None, |serving| serving == mine);
    }

    /// Lets the next one in.
    pub(crate) fn release(&self) {
        let serving = &self.0.0[1];
        let served = serving.load(Ordering::Relaxed);
        serving.store(served.wrapping_add(1), Ordering::Release);
        keep_core(false);
    }
}

/// Whether the running task keeps its core although its time is over.
fn keep_core(keep: bool) {
    // SAFETY: the reference ends with the block.
    if let Some(engine) = unsafe { engine::current() } {
        let task = engine.running_task();
        engine.tasks[task as usize].in_kernel = keep;
    }
}
