//! Where each thread is, as others see it.

use std::ops::Range;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kilocore_sim::TaskId;

/// It is in translated code, and waits for its turn there unless it is the one that runs.
pub(crate) const IN_CODE: u8 = 0;
/// It was let go, and has not come back yet.
pub(crate) const LET_GO: u8 = 1;
/// It is in a call of the system, and stopped for QEMU.
pub(crate) const IN_CALL: u8 = 2;

/// Where a thread is, as others see it.
#[derive(Debug)]
pub(crate) struct Whereabouts {
    pub(crate) task: TaskId,
    /// The number by which the host's kernel knows it.
    pub(crate) number: libc::c_long,
    pub(crate) at: AtomicU8,
    /// How often it was let go.
    pub(crate) times: AtomicU32,
    /// What is left of the block in which it was let go: the places of its sites.
    pub(crate) rest: Mutex<Range<usize>>,
}

/// Those of all threads, in the order in which they became tasks.
static ALL: Mutex<Vec<Arc<Whereabouts>>> = Mutex::new(Vec::new());

impl Whereabouts {
    /// Those of a thread that has become a task.
    pub(crate) fn of(task: TaskId, number: libc::c_long) -> Arc<Self> {
        let (at, times) = (AtomicU8::new(IN_CODE), AtomicU32::new(0));
        let new = Arc::new(Self { task, number, at, times, rest: Mutex::default() });
        lock().push(Arc::clone(&new));
        new
    }

    /// The thread ends.
    pub(crate) fn end(&self) {
        lock().retain(|one| one.task != self.task);
    }

    pub(crate) fn is_at(&self, at: u8) -> bool {
        self.at.load(Ordering::Acquire) == at
    }
}

fn lock() -> MutexGuard<'static, Vec<Arc<Whereabouts>>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Those of all threads that are in translated code, in the order in which they became tasks.
pub(crate) fn in_code() -> Vec<Arc<Whereabouts>> {
    lock().iter().filter(|one| one.is_at(IN_CODE)).map(Arc::clone).collect()
}

/// Whether any thread was let go and has not come back.
pub(crate) fn is_any_let_go() -> bool {
    lock().iter().any(|one| one.is_at(LET_GO))
}
