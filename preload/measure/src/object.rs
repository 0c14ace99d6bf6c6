//! The program's lock objects, and the bytes in them that the recorder may use.
//!
//! glibc (2.31 to 2.41, 64 bit) leaves idle:
//! * of a `pthread_mutex_t`, bytes 24 to 40: the links of robust and priority-inheriting
//!   mutexes, unused in all others;
//! * of a `pthread_rwlock_t`, bytes 16 to 24: `__pad3` and `__pad4`.
//!
//! Initialization, static or not, zeroes them. A spin lock has no spare byte. Process-shared
//! objects are excluded, because a record's number means nothing to another process.

use core::sync::atomic::{AtomicU32, Ordering};

use kilocore_lock_recording::{attribute, family};
use kilocore_preload_common::mutex_kind;

use crate::mode::Mode;

/// The recorder's bytes in a lock object.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Place {
    /// See [`word`].
    pub(crate) record: AtomicU32,
    /// The core of the last exclusive holder plus 1; written under the lock.
    pub(crate) last_core: AtomicU32,
}

/// [`Place::record`] of a lock for which there was no room.
pub(crate) const UNRECORDED: u32 = 1;

/// Bits of a record's number in [`Place::record`].
const UNIT_BITS: u32 = 22;

/// What is kept in a lock at `address` whose record is `unit`: besides the number a check of the
/// address, so that a copied object is told from the one that was recorded.
pub(crate) fn word(unit: u32, address: usize) -> u32 {
    let check = (address as u64 >> 3).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (32 + UNIT_BITS);
    unit | (check as u32) << UNIT_BITS
}

/// The record's number in `word`.
pub(crate) const fn unit(word: u32) -> u32 {
    word & ((1 << UNIT_BITS) - 1)
}

/// A lock of the program.
pub(crate) trait Object: Copy {
    /// One of [`family`].
    const FAMILY: u32;
    /// Where it is.
    fn address(self) -> usize;
    /// The recorder's bytes in it, null if there are none.
    fn place(self) -> *const Place;
    /// Whether its holder may take it again.
    fn is_recursive(self) -> bool;
    /// Bits of [`attribute`].
    fn attributes(self) -> u32;
}

/// A lock whose object shows whether it is held.
pub(crate) trait Peekable: Object {
    /// Whether somebody holds it now, so that whoever wants it in this mode has to wait.
    fn looks_busy(self, mode: Mode) -> bool;
}

/// A mutex that the program passed to a pthread function, which requires that it is initialized.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mutex(pub(crate) *mut libc::pthread_mutex_t);

/// Type and elision bits: mutexes with nothing else set are linked into no list.
const UNLINKED_KINDS: i32 = 0x303;

/// The bits of glibc's lock word that tell whether a mutex is held: all of an ordinary one, the
/// holder of a robust or a priority-inheriting one, and what is not the ceiling of one with that.
const HELD_BITS: [u32; 2] = [0x3fff_ffff, 0x0007_ffff];

impl Mutex {
    /// Whether nobody can tell from anything that the mutex was tried before it was locked.
    ///
    /// That is so for mutexes that are neither robust nor have a priority protocol. A try of a
    /// robust one that is not recoverable leaves it locked; one of a mutex with a protocol may
    /// succeed where locking fails, or change the priority of who tries.
    #[inline(always)]
    pub(crate) fn is_tried_unseen(self) -> bool {
        // SAFETY: the program passed an initialized mutex.
        let kind = unsafe { mutex_kind(self.0) };
        kind.0 & !(UNLINKED_KINDS | PROCESS_SHARED_KIND) == 0
    }
}

/// The bit of a mutex that processes share.
const PROCESS_SHARED_KIND: i32 = 0x80;

/// A word of glibc's in a lock object.
///
/// # Safety
/// `word` points into an initialized lock object, to an aligned word that others access by
/// atomic operations only.
unsafe fn peek(word: *const u32) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { &*word.cast::<AtomicU32>() }.load(Ordering::Relaxed)
}

impl Object for Mutex {
    const FAMILY: u32 = family::MUTEX;

    #[inline(always)]
    fn address(self) -> usize {
        self.0 as usize
    }

    #[inline(always)]
    fn place(self) -> *const Place {
        // SAFETY: the program passed an initialized mutex.
        let kind = unsafe { mutex_kind(self.0) };
        if kind.0 & !UNLINKED_KINDS == 0 {
            self.0.cast::<u8>().wrapping_add(24).cast()
        } else {
            core::ptr::null()
        }
    }

    #[inline(always)]
    fn is_recursive(self) -> bool {
        // SAFETY: the program passed an initialized mutex.
        unsafe { mutex_kind(self.0) }.is_recursive()
    }

    fn attributes(self) -> u32 {
        // SAFETY: the program passed an initialized mutex.
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
        // SAFETY: the program passed an initialized mutex, which begins with the lock word.
        let (kind, word) = unsafe { (mutex_kind(self.0), peek(self.0.cast())) };
        word & HELD_BITS[usize::from(kind.has_ceiling())] != 0
    }
}

/// A read-write lock that the program passed to a pthread function.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadWrite(pub(crate) *mut libc::pthread_rwlock_t);

impl ReadWrite {
    /// glibc's `__shared`, nonzero for a lock in memory that processes share.
    #[inline(always)]
    fn is_process_shared(self) -> bool {
        // SAFETY: the program passed an initialized lock; this word changes only when it is
        // initialized.
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
    fn place(self) -> *const Place {
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
        // SAFETY: as in `is_process_shared`, for glibc's `__flags`.
        let prefers = unsafe { self.0.byte_add(48).cast::<u32>().read() };
        let shared = if self.is_process_shared() { attribute::PROCESS_SHARED } else { 0 };
        shared | if prefers != 0 { attribute::PREFER_WRITER } else { 0 }
    }
}

impl Peekable for ReadWrite {
    fn looks_busy(self, mode: Mode) -> bool {
        /// A writer has it.
        const WRITTEN: u32 = 1 << 1;
        /// One reader; below it are flags.
        const READER: u32 = 1 << 3;
        // SAFETY: the program passed an initialized lock, which begins with that word.
        let word = unsafe { peek(self.0.cast()) };
        word & WRITTEN != 0 || (mode == Mode::Exclusive && word >= READER)
    }
}

/// A spin lock that the program passed to a pthread function.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spin(pub(crate) *mut libc::pthread_spinlock_t);

impl Object for Spin {
    const FAMILY: u32 = family::SPIN;

    #[inline(always)]
    fn address(self) -> usize {
        self.0 as usize
    }

    #[inline(always)]
    fn place(self) -> *const Place {
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
