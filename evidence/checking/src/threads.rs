//! Platforms on which a test can start threads.

use kilocore_platform::{Loom, Native, Platform, Shuttle};

use crate::roomy::with_room;

/// A platform on which a test can start threads.
pub trait Threads: Platform {
    /// The handle of a thread, by which one can wait for its end.
    type Handle;
    /// Starts a thread that executes `run`: one of the system, or one that a model checker
    /// schedules.
    fn spawn(run: impl FnOnce() + Send + 'static) -> Self::Handle;
    /// Waits until a thread has ended. Panics if that thread panicked.
    fn join(handle: Self::Handle);
}

impl Threads for Native {
    type Handle = std::thread::JoinHandle<()>;
    fn spawn(run: impl FnOnce() + Send + 'static) -> Self::Handle {
        std::thread::spawn(run)
    }
    fn join(handle: Self::Handle) {
        handle.join().unwrap();
    }
}

impl Threads for Loom {
    type Handle = loom::thread::JoinHandle<()>;
    fn spawn(run: impl FnOnce() + Send + 'static) -> Self::Handle {
        loom::thread::spawn(|| with_room(run))
    }
    fn join(handle: Self::Handle) {
        handle.join().unwrap();
    }
}

impl Threads for Shuttle {
    type Handle = shuttle::thread::JoinHandle<()>;
    fn spawn(run: impl FnOnce() + Send + 'static) -> Self::Handle {
        shuttle::thread::spawn(run)
    }
    fn join(handle: Self::Handle) {
        handle.join().unwrap();
    }
}
