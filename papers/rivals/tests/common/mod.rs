//! The rivals, and what it takes to run them.
#![allow(dead_code, missing_docs, unreachable_pub)]

pub mod spin_rw;

use kilocore_ldu::{Adaptive, Deferred, Global, PerCore};
use kilocore_locks::{Futex, NoSharing, Rwsem};
use kilocore_platform::{CpuId, NodeId, Shuttle};
use kilocore_rivals::conformance::{Job, Plan};
use kilocore_rivals::{
    FlatCombining, Harris, Locked, Mutex, OpLog, Ordered, Published, Stock, Tuning, Unordered,
};

use spin_rw::SpinRw;

/// So few ways and entries that roots meet and logs run full.
#[derive(Debug)]
pub struct Tight;

// SAFETY: it changes sizes only.
unsafe impl Tuning for Tight {
    const WAYS: usize = 1;
    const MOST_LOGGED: usize = 12;
}

pub type ByMutex<P> = Locked<P>;
pub type ByFutex<P> = Locked<P, NoSharing<P, Futex<P>>, Mutex>;
pub type ByRwLock<P> = Locked<P, SpinRw<P>, Stock>;
pub type InOrder<P> = Harris<P, Ordered>;
pub type WithoutOrder<P> = Harris<P, Unordered>;
pub type Logged<P> = OpLog<P>;
pub type LoggedTightly<P> = OpLog<P, SpinRw<P>, Tight>;
pub type LoggedAndShared<P> = OpLog<P, SpinRw<P>, Published>;
pub type Combined<P> = FlatCombining<P>;
pub type CombinedAndShared<P> = FlatCombining<P, SpinRw<P>>;

pub type BySemaphore<P> = Locked<P, Rwsem<P>, Stock>;
pub type LduGlobal<P> = Deferred<P, Global<P>, Rwsem<P>>;
pub type LduPerCore<P> = Deferred<P, PerCore<P>, Rwsem<P>>;
pub type LduAdaptive<P> = Deferred<P, Global<P>, Rwsem<P>, Adaptive<P>>;
pub type LduPerCoreAdaptive<P> = Deferred<P, PerCore<P>, SpinRw<P>, Adaptive<P>>;

/// A test for each scheme on platform `$platform`, in which `$S` is the scheme.
#[macro_export]
macro_rules! for_every_scheme {
    ($platform:ty, $S:ident => $body:expr) => {
        for_every_scheme! { @tests $platform, $S => $body;
            by_mutex ByMutex, by_futex ByFutex, by_read_write_lock ByRwLock,
            in_order InOrder, without_order WithoutOrder,
            logged Logged, logged_tightly LoggedTightly, logged_and_shared LoggedAndShared,
            combined Combined, combined_and_shared CombinedAndShared,
            by_semaphore BySemaphore, ldu_global LduGlobal, ldu_per_core LduPerCore,
            ldu_adaptive LduAdaptive, ldu_per_core_adaptive LduPerCoreAdaptive
        }
    };
    (@tests $platform:ty, $S:ident => $body:expr; $($name:ident $scheme:ident),*) => {
        $(
            #[test]
            fn $name() {
                type $S = $crate::common::$scheme<$platform>;
                $body
            }
        )*
    };
}

/// Runs `jobs` on threads of the machine.
pub fn on_threads(jobs: Vec<Job>) {
    let threads: Vec<_> = jobs.into_iter().map(std::thread::spawn).collect();
    for thread in threads {
        if let Err(panic) = thread.join() {
            std::panic::resume_unwind(panic);
        }
    }
}

/// Runs `jobs` on threads of shuttle.
pub fn on_shuttle(jobs: Vec<Job>) {
    let threads: Vec<_> = jobs.into_iter().map(shuttle::thread::spawn).collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

/// Moves a thread of shuttle to a core.
pub fn place_on_shuttle(core: usize) {
    Shuttle::place(CpuId(core as u32), NodeId(0));
}

/// A plan that shuttle can carry out some thousand times.
pub fn small(threads: usize, operations: usize, seed: u64) -> Plan {
    Plan { threads, objects: 2, operations, seed, place: place_on_shuttle }
}
