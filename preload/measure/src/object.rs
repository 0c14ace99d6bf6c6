//! The program's lock objects, and the bytes in them that the recorder may use.
//!
//! glibc (2.31 to 2.41, 64 bit) does not use these bytes:
//! * bytes 24 to 40 of a `pthread_mutex_t`, except in robust and priority-inheriting mutexes, which
//!   keep their links there;
//! * bytes 16 to 24 of a `pthread_rwlock_t`: `__pad3` and `__pad4`.
//!
//! Initialization, static or not, sets them to zero. A spin lock has no spare bytes. The recorder
//! does not use the bytes of process-shared objects, because another process cannot use the number
//! of a record.

use core::sync::atomic::{AtomicU32, Ordering};

use kilocore_lock_recording::{attribute, family};
use kilocore_preload_common::mutex_kind;

use crate::mode::Mode;

/// The recorder's bytes in a lock object.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct RecorderBytes {
    /// The number of the lock's record, and a check of the lock's address; see [`word`].
    pub(crate) record: AtomicU32,
    /// The core of the last exclusive holder plus 1. It is written under the lock.
    pub(crate) last_core: AtomicU32,
}

/// The value of [`RecorderBytes::record`] in a lock for which there was no room.
pub(crate) const UNRECORDED: u32 = 1;

/// The number of bits of a record's number in [`RecorderBytes::record`].
const UNIT_BITS: u32 = 22;

/// Returns the word that is kept in a lock at `address` whose record is `unit`. Beside the number
/// of the record, it contains a check of the address, by which a copy of the object differs from
/// the object that was recorded.
pub(crate) fn word(unit: u32, address: usize) -> u32 {
    let check = (address as u64 >> 3).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (32 + UNIT_BITS);
    unit | (check as u32) << UNIT_BITS
}

/// Returns the record's number in `word`.
pub(crate) const fn unit(word: u32) -> u32 {
    word & ((1 << UNIT_BITS) - 1)
}

/// A lock of the program.
pub(crate) trait Object: Copy {
    /// The family of such locks: one of [`family`].
    const FAMILY: u32;
    fn address(self) -> usize;
    /// Returns the recorder's bytes in the object, or null if there are none.
    fn place(self) -> *const RecorderBytes;
    /// Returns whether the holder may take the lock again.
    fn is_recursive(self) -> bool;
    /// Returns bits of [`attribute`].
    fn attributes(self) -> u32;
}

/// A lock whose object shows whether it is held.
pub(crate) trait Peekable: Object {
    /// Returns whether the lock is held now, so that a thread that wants it in this mode has to
    /// wait.
    fn looks_busy(self, mode: Mode) -> bool;
}

/// A mutex that the program has passed to a pthread function. It is initialized, because the
/// function requires that.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mutex(pub(crate) *mut libc::pthread_mutex_t);

/// The bits of the type and of lock elision. If a mutex has no other bit set, glibc links it into
/// no list.
const UNLINKED_KINDS: i32 = 0x303;

/// The bits of glibc's lock word that say whether a mutex is held. The second element is for a
/// mutex with a priority ceiling, and leaves out the ceiling. The first element is for all other
/// mutexes; in a robust or priority-inheriting one, these bits are the holder.
const HELD_BITS: [u32; 2] = [0x3fff_ffff, 0x0007_ffff];

impl Mutex {
    /// Returns whether the program cannot notice that the mutex was tried before it was locked.
    ///
    /// This is true if the mutex is not robust and has no priority protocol. Trying a robust mutex
    /// that is not recoverable leaves it locked. Trying a mutex with a priority protocol may
    /// succeed where locking fails, or may change the priority of the calling thread.
    #[inline(always)]
    pub(crate) fn is_tried_unseen(self) -> bool {
        // SAFETY: the program has passed an initialized mutex.
        let kind = unsafe { mutex_kind(self.0) };
        kind.0 & !(UNLINKED_KINDS | PROCESS_SHARED_KIND) == 0
    }
}

/// The bit of the kind that says that processes share the mutex.
const PROCESS_SHARED_KIND: i32 = 0x80;

/// Reads one of glibc's words in a lock object.
///
/// # Safety
/// `word` points to an aligned word in an initialized lock object. Other threads access the word by
/// atomic operations only.
unsafe fn peek(word: *const u32) -> u32 {
    // SAFETY: by the caller's promise.
    unsafe { &*word.cast::<AtomicU32>() }.load(Ordering::Relaxed)
}

impl Object for Mutex {
    const FAMILY: u32 = family::MUTEX;

    #[inline(always)]
    fn address(self) -> usize {
        self.0 as usize
    }

    #[inline(always)]
    fn place(self) -> *const RecorderBytes {
        // SAFETY: the program has passed an initialized mutex.
        let kind = unsafe { mutex_kind(self.0) };
        if kind.0 & !UNLINKED_KINDS == 0 {
            self.0.cast::<u8>().wrapping_add(24).cast()
        } else {
            core::ptr::null()
        }
    }

    #[inline(always)]
    fn is_recursive(self) -> bool {
        // SAFETY: the program has passed an initialized mutex.
        unsafe { mutex_kind(self.0) }.is_recursive()
    }

    fn attributes(self) -> u32 {
        // SAFETY: the program has passed an initialized mutex.
        let kind = unsafe { mutex_kind(self.0) };
        let by_type = [0, attribute::RECURSIVE, attribute::ERROR_CHECK, attribute::ADAPTIVE];
        let mut bits = by_type[kind.mutex_type() as usize & 3];
        for (set, bit) in [
            (kind.is_robust(), attribute::ROBUST),
            (kind.has_protocol(), attribute::PRIORITY),
            // glibc sets the bit for all robust mutexes.
            (kind.is_process_shared() && !kind.is_robust(), attribute::PROCESS_SHARED),
        ] {
            bits |= if set { bit } else { 0 };
        }
        bits
    }
}

impl Peekable for Mutex {
    fn looks_busy(self, _: Mode) -> bool {
        // SAFETY: the program has passed an initialized mutex, which begins with the lock word.
        let (kind, word) = unsafe { (mutex_kind(self.0), peek(self.0.cast())) };
        word & HELD_BITS[usize::from(kind.has_ceiling())] != 0
    }
}

/// A read-write lock that the program has passed to a pthread function.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadWrite(pub(crate) *mut libc::pthread_rwlock_t);

impl ReadWrite {
    /// Reads glibc's `__shared`, which is not zero in a lock that processes may share.
    #[inline(always)]
    fn is_process_shared(self) -> bool {
        // SAFETY: the program has passed an initialized lock, and only initialization writes this
        // word.
        unsafe { self.0.byte_add(28).cast::<i32>().read() != 0 }
    }
}

impl Object for ReadWrite {
    const FAMILY: u32 = family::READ_WRITE;

    #[inline(always)]
    fn address(self) -> usize {
        self.0 as usize
    }

    #[inline(always)]
    fn place(self) -> *const RecorderBytes {
        if self.is_process_shared() {
            core::ptr::null()
        } else {
            self.0.cast::<u8>().wrapping_add(16).cast()
        }
    }

    #[inline(always)]
    fn is_recursive(self) -> bool {
        false
    }

    fn attributes(self) -> u32 {
        // SAFETY: as in `is_process_shared`. The word is glibc's `__flags`.
        let prefers = unsafe { self.0.byte_add(48).cast::<u32>().read() };
        let shared = if self.is_process_shared() { attribute::PROCESS_SHARED } else { 0 };
        // Of the two kinds that are called so, glibc lets readers pass under the other one.
        const PREFER_WRITER_NONRECURSIVE_NP: u32 = 2;
        let first = prefers == PREFER_WRITER_NONRECURSIVE_NP;
        shared | if first { attribute::PREFER_WRITER } else { 0 }
    }
}

impl Peekable for ReadWrite {
    fn looks_busy(self, mode: Mode) -> bool {
        /// A writer holds the lock.
        const WRITTEN: u32 = 1 << 1;
        /// One reader. The bits below it are flags.
        const READER: u32 = 1 << 3;
        // SAFETY: the program has passed an initialized lock, which begins with this word.
        let word = unsafe { peek(self.0.cast()) };
        word & WRITTEN != 0 || (mode == Mode::Exclusive && word >= READER)
    }
}

/// A spin lock that the program has passed to a pthread function.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spin(pub(crate) *mut libc::pthread_spinlock_t);

impl Object for Spin {
    const FAMILY: u32 = family::SPIN;

    #[inline(always)]
    fn address(self) -> usize {
        self.0 as usize
    }

    #[inline(always)]
    fn place(self) -> *const RecorderBytes {
        core::ptr::null()
    }

    #[inline(always)]
    fn is_recursive(self) -> bool {
        false
    }

    fn attributes(self) -> u32 {
        0
    }
}
