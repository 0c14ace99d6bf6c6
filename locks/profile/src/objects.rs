//! Where the locks, conditions and barriers of a recording lie in the memory of its process.

use std::mem::offset_of;
use std::ops::Range;

use kilocore_lock_recording::{BarrierBlock, ConditionBlock, FileHeader, LockBlock, family, kind};

use crate::Recording;

/// What a recorded object is, as far as waiting for it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ObjectKind {
    /// A mutex, a read-write lock or a spin lock.
    Lock,
    /// A condition variable, whose waiters wait for a signal.
    Condition,
    /// A barrier, whose waiters wait for other threads to arrive.
    Barrier,
}

/// An object in the memory of a recorded process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Whether it is a lock, a condition or a barrier.
    pub kind: ObjectKind,
    /// The addresses that it occupies.
    pub place: Range<u64>,
}

impl Object {
    /// An object that begins at `address`.
    #[must_use]
    pub fn at(address: u64, kind: ObjectKind) -> Self {
        let size = match kind {
            // The larger of the two: a read-write lock.
            ObjectKind::Lock => size_of::<libc::pthread_rwlock_t>(),
            ObjectKind::Condition => size_of::<libc::pthread_cond_t>(),
            ObjectKind::Barrier => size_of::<libc::pthread_barrier_t>(),
        };
        Self { kind, place: address..address.saturating_add(size as u64) }
    }

    fn lock(address: u64, family: u32) -> Self {
        let size = match family {
            family::READ_WRITE => size_of::<libc::pthread_rwlock_t>(),
            family::SPIN => size_of::<libc::pthread_spinlock_t>(),
            _ => size_of::<libc::pthread_mutex_t>(),
        };
        Self { kind: ObjectKind::Lock, place: address..address.saturating_add(size as u64) }
    }
}

impl Recording {
    /// The process that was recorded.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.u32(offset_of!(FileHeader, pid)).unwrap_or(0)
    }

    /// The objects that the process has now, as far as each has an entry of its own.
    pub fn objects(&self) -> impl Iterator<Item = Object> {
        let locks = self.of_kind(kind::LOCK).map(|unit| {
            let family = self.word(unit, offset_of!(LockBlock, family));
            Object::lock(self.long(unit, offset_of!(LockBlock, address)), family)
        });
        let conditions = self.of_kind(kind::CONDITION).map(|unit| {
            Object::at(self.long(unit, offset_of!(ConditionBlock, address)), ObjectKind::Condition)
        });
        let barriers = self.of_kind(kind::BARRIER).map(|unit| {
            Object::at(self.long(unit, offset_of!(BarrierBlock, address)), ObjectKind::Barrier)
        });
        locks.chain(conditions).chain(barriers).filter(|object| object.place.start != 0)
    }
}
