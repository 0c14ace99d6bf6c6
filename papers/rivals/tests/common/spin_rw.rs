//! A read-write lock, as small as can be.

use kilocore_locks::RawRwLock;
use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform, Wait};

const WRITER: u32 = 1 << 31;

/// How many readers are inside, or [`WRITER`].
#[derive(Debug)]
pub struct SpinRw<P: Platform> {
    state: P::U32,
}

impl<P: Platform> SpinRw<P> {
    fn enter(&self, may: impl Fn(u32) -> bool + Copy, change: impl Fn(u32) -> u32) {
        loop {
            let state = P::wait_until(&self.state, Wait::Spin, may);
            let entered = self.state.compare_exchange(
                state,
                change(state),
                Ordering::Acquire,
                Ordering::Relaxed,
            );
            if entered.is_ok() {
                return;
            }
        }
    }
}

// SAFETY: the word counts readers or says that there is a writer, and changes by compare-and-swap
// from what may be entered; all enter with acquire what others left with release.
unsafe impl<P: Platform> RawRwLock<P> for SpinRw<P> {
    type Reader = ();
    const ALIKE: () = ();
    const HOLDER_MAY_DESTROY: bool = true;

    fn new() -> Self {
        Self { state: P::U32::new(0) }
    }

    fn acquire_shared(&self) {
        self.enter(|state| state & WRITER == 0, |state| state + 1);
    }

    fn try_acquire_shared(&self) -> Option<()> {
        let state = self.state.load(Ordering::Relaxed);
        let entered = state & WRITER == 0
            && self
                .state
                .compare_exchange(state, state + 1, Ordering::Acquire, Ordering::Relaxed)
                .is_ok();
        entered.then_some(())
    }

    unsafe fn release_shared(&self, (): ()) {
        self.state.fetch_sub(1, Ordering::Release);
    }

    fn acquire(&self) {
        self.enter(|state| state == 0, |_| WRITER);
    }

    fn try_acquire(&self) -> bool {
        self.state.compare_exchange(0, WRITER, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    unsafe fn release(&self) {
        self.state.store(0, Ordering::Release);
    }

    unsafe fn downgrade(&self) {
        self.state.store(1, Ordering::Release);
    }

    unsafe fn forget_others(&self) {
        self.state.store(WRITER, Ordering::Relaxed);
    }
}
