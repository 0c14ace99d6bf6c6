//! The locks with data, behind the interface of `parking_lot`.
//!
//! Each lock has a module with the names that `parking_lot` has: `Mutex`, `MutexGuard`, `Condvar`
//! and their kin, or `RwLock`, `RwLockReadGuard`, `RwLockWriteGuard` and theirs. So a program
//! changes its lock by one line:
//!
//! ```
//! // use parking_lot::{Condvar, Mutex};
//! use kilocore_locks::sync::mutexee::{Condvar, Mutex};
//!
//! static JOBS: Mutex<Vec<u32>> = Mutex::new(Vec::new());
//! static MORE: Condvar = Condvar::new();
//!
//! std::thread::spawn(|| {
//!     JOBS.lock().push(7);
//!     MORE.notify_one();
//! });
//! let mut jobs = JOBS.lock();
//! MORE.wait_while(&mut jobs, |jobs| jobs.is_empty());
//! assert_eq!(jobs.pop(), Some(7));
//! ```
//!
//! # Which lock
//! `kilocore doctor` says which lock a program needs, and `kilocore list locks` where each does well. A
//! lock whose waiters spin, such as [`mcs`], is for programs that have a core for each thread: a
//! waiter that spins keeps the core from the holder until the scheduler intervenes. A lock whose
//! waiters sleep and which need not go to the one that came first, such as [`mutexee`] or
//! [`malthusian`], suits all programs. [`mcs_park`] hands itself to sleepers, and is there to be
//! compared with.
//!
//! # What differs from `parking_lot`
//! * A lock has up to two words, not one byte. Read-write locks are larger.
//! * Guards may be sent to another thread and dropped there.
//! * A thread that waits with a deadline does not queue, because most of these locks have no way to
//!   leave their queue. It looks at the lock again and again instead, with pauses that grow to a
//!   tenth of a millisecond. While others queue all the time, it may come away without the lock.
//! * `is_locked` briefly acquires the lock if it is free.
//! * There is no `unlock_fair`, since each algorithm has its own notion of fairness, and there are
//!   no upgradable readers.
//! * A condition variable may serve several mutexes at a time.
//! * Too many readers inside one lock, which takes guards that were forgotten
//!   (`std::mem::forget`), end the process; at more than a hundred million. `parking_lot` panics.
//! * A child of `fork` must not use a lock or condition variable that other threads used at the
//!   moment of the fork. `kilocore run`, which has to deal with such programs, does not use this
//!   module.

mod deadline;
mod raw_condvar;
mod raw_mutex;
mod raw_rw_lock;

pub use crate::rw_with_data::*;
pub use crate::with_data::*;
pub use ::lock_api;
pub use ::lock_api::WaitTimeoutResult;
pub use raw_condvar::RawCondvar;
pub use raw_mutex::RawMutex;
pub use raw_rw_lock::RawRwLock;

/// Writes the types of the lock type `$lock` that carry data.
macro_rules! mutex_types {
    ($lock:ty) => {
        /// The lock without its data.
        pub type RawMutex = crate::sync::RawMutex<$lock>;
        /// The condition variable without its mutex.
        pub type RawCondvar = crate::sync::RawCondvar<$lock>;
        /// A lock and the data that it protects.
        pub type Mutex<T> = ::lock_api::Mutex<RawMutex, T>;
        /// Access to the data while the lock is held. Dropping it releases the lock.
        pub type MutexGuard<'a, T> = ::lock_api::MutexGuard<'a, RawMutex, T>;
        /// Access to a part of the data while the lock is held.
        pub type MappedMutexGuard<'a, T> = ::lock_api::MappedMutexGuard<'a, RawMutex, T>;
        /// A condition on which threads sleep. It wakes them in the order in which they came.
        pub type Condvar = ::lock_api::Condvar<RawCondvar>;
        pub use ::lock_api::WaitTimeoutResult;
    };
}
pub(crate) use mutex_types;

/// Writes the types of the read-write lock type `$lock` that carry data.
macro_rules! rw_lock_types {
    ($lock:ty) => {
        /// The lock without its data.
        pub type RawRwLock = crate::sync::RawRwLock<$lock>;
        /// A lock and the data that it protects.
        pub type RwLock<T> = ::lock_api::RwLock<RawRwLock, T>;
        /// A reader's access to the data. Dropping it releases the lock.
        pub type RwLockReadGuard<'a, T> = ::lock_api::RwLockReadGuard<'a, RawRwLock, T>;
        /// The writer's access to the data. Dropping it releases the lock.
        pub type RwLockWriteGuard<'a, T> = ::lock_api::RwLockWriteGuard<'a, RawRwLock, T>;
        /// A reader's access to a part of the data.
        pub type MappedRwLockReadGuard<'a, T> = ::lock_api::MappedRwLockReadGuard<'a, RawRwLock, T>;
        /// The writer's access to a part of the data.
        pub type MappedRwLockWriteGuard<'a, T> =
            ::lock_api::MappedRwLockWriteGuard<'a, RawRwLock, T>;
    };
}
pub(crate) use rw_lock_types;

/// [`Rwsem`](crate::Rwsem) with the data that it protects, behind the interface of `lock_api`.
pub mod rwsem {
    /// For how many turns a thread in the queue spins before it sleeps.
    const TURNS: u32 = 256;

    rw_lock_types!(crate::Rwsem<kilocore_platform::Native, TURNS>);
}
