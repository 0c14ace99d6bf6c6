//! The spin lock of a futex's hash bucket.
//!
//! Every call of a futex takes it, and a waker holds it while it wakes. Kernels before Linux 4.2
//! have a ticket lock there, whose waiters all watch one line. Many callers of one futex make it
//! collapse, and with it the program's lock. Since then it is a queue, in which each caller waits
//! apart. Whoever holds the lock or waits for it keeps its core.

use std::sync::atomic::Ordering;

use kilocore_platform::{Atomic, AtomicInt};

use crate::current::with_engine;
use crate::engine::Engine;
use crate::outcome::Activity;
use crate::platform::watch::watch;
use crate::platform::words::SimU32;
use crate::state::LockWords;

/// A ticket lock of the simulated kernel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KernelLock<'a> {
    next: &'a SimU32,
    serving: &'a SimU32,
}

impl<'a> KernelLock<'a> {
    pub(crate) fn new(words: &'a LockWords) -> Self {
        let [next, serving] = &words.0;
        Self { next: SimU32::of_kernel(next), serving: SimU32::of_kernel(serving) }
    }

    /// Waits for its turn, in the kernel.
    pub(crate) fn acquire(self) {
        with_engine(Engine::enter_kernel);
        let mine = self.next.fetch_add(1, Ordering::Relaxed);
        watch(self.serving, Activity::System, None, |serving| serving == mine);
    }

    /// Lets the next one in.
    pub(crate) fn release(self) {
        let served = self.serving.load(Ordering::Relaxed);
        self.serving.store(served.wrapping_add(1), Ordering::Release);
        with_engine(Engine::leave_kernel_later);
    }
}
