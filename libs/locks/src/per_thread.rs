//! The state that a lock needs of each thread, kept by the thread itself.
//!
//! [`RawLock::acquire`](crate::RawLock::acquire) takes the state as an argument, so that a caller
//! who has a better place for it can use that. Most callers have none. For them, each thread keeps
//! one state for each kind of lock, in thread-local storage. Locks whose state is empty cost nothing
//! here.
//!
//! A state is used for the length of one acquire or release. In two cases the thread's own is out of
//! reach, and a fresh one takes its place for that one call. First, when the thread is about to end
//! and has dropped its own: a destructor may still use locks. Second, when the state is in use
//! further up on the same stack: the global allocator, which a lock calls for its nodes, or a signal
//! handler may itself use a lock of the same kind. Both are sound, because the nodes of a lock never
//! belong to one thread's state for good. Both cost an allocation if the lock needs a node.

use core::cell::RefCell;
use std::thread::LocalKey;

use kilocore_platform::Native;

use crate::RawLock;

/// Implements [`KeepsThread`] for a lock of this crate.
macro_rules! keeps_thread {
    ($lock:ty) => {
        impl crate::KeepsThread for $lock {
            #[inline]
            fn with_thread<R>(
                work: impl FnOnce(&mut <Self as crate::RawLock<kilocore_platform::Native>>::Thread) -> R,
            ) -> R {
                type Thread = <$lock as crate::RawLock<kilocore_platform::Native>>::Thread;
                std::thread_local! {
                    static THREAD: core::cell::RefCell<Thread> = core::cell::RefCell::default();
                }
                crate::per_thread::with(&THREAD, work)
            }
        }
    };
}

/// A lock for which each thread keeps the state that the lock needs of it.
pub trait KeepsThread: RawLock<Native> {
    /// Runs `work` with the calling thread's state.
    ///
    /// `work` may run this function again, for any lock.
    fn with_thread<R>(work: impl FnOnce(&mut Self::Thread) -> R) -> R;
}

/// Runs `work` with the state behind `key`, or with a fresh one if that is out of reach.
#[inline]
pub(crate) fn with<T: Default, R>(
    key: &'static LocalKey<RefCell<T>>,
    work: impl FnOnce(&mut T) -> R,
) -> R {
    if size_of::<T>() == 0 {
        return work(&mut T::default());
    }
    let mut work = Some(work);
    let mut work = |thread: &mut T| {
        let work = work.take().expect("one of the two calls below is made");
        work(thread)
    };
    let done = key.try_with(|kept| kept.try_borrow_mut().ok().map(|mut kept| work(&mut kept)));
    match done {
        Ok(Some(result)) => result,
        _ => work(&mut T::default()),
    }
}
