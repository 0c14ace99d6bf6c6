//! Reads the kind of a mutex from a `pthread_mutex_t`.
//!
//! glibc keeps the kind in one word of the object. The place of this word is part of glibc's binary
//! interface, because static initializers such as `PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP` write it
//! at compile time. On 64-bit machines the word is at byte 16 of the 40 bytes (48 on AArch64). For
//! an ordinary mutex glibc uses bytes 0 to 16 (lock word, recursion count, owner, users) and 20 to
//! 24 (spin and elision estimates). Bytes 24 to 40 link robust and priority-inheriting mutexes, and
//! are unused in other mutexes.

use core::ptr;
use core::sync::atomic::{AtomicI32, Ordering};

/// The offset of the kind in a `pthread_mutex_t`, in bytes.
const KIND_OFFSET: usize = 16;

// The recursive static initializer differs from the plain one in the kind only. So it shows whether
// the kind is where this module looks for it.
const _: () = {
    let initializer = libc::PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    // SAFETY: both types are plain bytes of the same size, and every bit pattern is a valid array.
    let bytes: [u8; size_of::<libc::pthread_mutex_t>()] =
        unsafe { core::mem::transmute(initializer) };
    let mut at = 0;
    while at < bytes.len() {
        let low = if cfg!(target_endian = "big") { KIND_OFFSET + 3 } else { KIND_OFFSET };
        let expected = if at == low { libc::PTHREAD_MUTEX_RECURSIVE as u8 } else { 0 };
        assert!(bytes[at] == expected, "the kind of a mutex lies elsewhere on this platform");
        at += 1;
    }
};

/// The kind word of a mutex: its type and its attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MutexKind(pub i32);

impl MutexKind {
    const TYPE_MASK: i32 = 0x03;
    const ROBUST: i32 = 0x10;
    const PRIO_INHERIT: i32 = 0x20;
    const PRIO_PROTECT: i32 = 0x40;
    const PSHARED: i32 = 0x80;
    /// These bits say whether lock elision was requested (0x100) or forbidden (0x200). They do not
    /// change the meaning of the mutex. Setting the type `PTHREAD_MUTEX_NORMAL` explicitly forbids
    /// elision.
    const ELISION: i32 = 0x300;

    const ADAPTIVE: i32 = 3; // PTHREAD_MUTEX_ADAPTIVE_NP

    /// The kind of a destroyed mutex. glibc refuses every operation on such a mutex with `EINVAL`.
    pub const DESTROYED: MutexKind = MutexKind(-1);

    /// Whether this is a process-private mutex of type normal, default or adaptive, without
    /// robustness and without a priority protocol. Such a mutex does nothing but exclude, so its
    /// algorithm can be replaced and the program cannot tell the difference.
    #[inline]
    #[must_use]
    pub const fn is_plain(self) -> bool {
        let kind = self.0 & !Self::ELISION;
        kind == libc::PTHREAD_MUTEX_NORMAL || kind == Self::ADAPTIVE
    }

    /// Returns the type, as in `pthread_mutexattr_settype`.
    #[must_use]
    pub const fn mutex_type(self) -> i32 {
        self.0 & Self::TYPE_MASK
    }

    /// Whether the holder may lock the mutex again.
    #[must_use]
    pub const fn is_recursive(self) -> bool {
        self.mutex_type() == libc::PTHREAD_MUTEX_RECURSIVE
    }

    /// Whether the next owner is told that an owner has died while it held the mutex.
    #[must_use]
    pub const fn is_robust(self) -> bool {
        self.0 & Self::ROBUST != 0
    }

    /// Whether the holder runs at the priority of its waiters or at a priority ceiling.
    #[must_use]
    pub const fn has_protocol(self) -> bool {
        self.0 & (Self::PRIO_INHERIT | Self::PRIO_PROTECT) != 0
    }

    /// Whether the holder runs at a priority ceiling. The ceiling is then part of the lock word.
    #[must_use]
    pub const fn has_ceiling(self) -> bool {
        self.0 & Self::PRIO_PROTECT != 0
    }

    /// Whether several processes may share the mutex.
    #[must_use]
    pub const fn is_process_shared(self) -> bool {
        self.0 & Self::PSHARED != 0
    }
}

/// Reads the kind of `mutex`.
///
/// # Safety
/// `mutex` points to a readable `pthread_mutex_t` that was initialized, statically or by
/// `pthread_mutex_init`, or destroyed.
#[inline]
#[must_use]
pub unsafe fn mutex_kind(mutex: *const libc::pthread_mutex_t) -> MutexKind {
    // SAFETY: the word lies inside the object. It is aligned, because the object is aligned to 8
    // bytes. Other threads access the word by atomic operations only: glibc changes the elision
    // bits of mutexes that are in use.
    let kind = unsafe { &*ptr::from_ref(&*mutex.byte_add(KIND_OFFSET).cast::<AtomicI32>()) };
    MutexKind(kind.load(Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use core::mem::MaybeUninit;

    use super::*;

    /// Returns the kind of a mutex that glibc has initialized with the attributes that `set` sets.
    fn kind_after(set: impl FnOnce(*mut libc::pthread_mutexattr_t)) -> MutexKind {
        let mut attr = MaybeUninit::uninit();
        let mut mutex = libc::PTHREAD_MUTEX_INITIALIZER;
        // SAFETY: the attributes are initialized before they are used, and the mutex is ours.
        unsafe {
            assert_eq!(libc::pthread_mutexattr_init(attr.as_mut_ptr()), 0);
            set(attr.as_mut_ptr());
            assert_eq!(libc::pthread_mutex_init(&mut mutex, attr.as_ptr()), 0);
            mutex_kind(&mutex)
        }
    }

    /// Returns the kind of a mutex of this type.
    fn kind_of_type(mutex_type: i32) -> MutexKind {
        // SAFETY: `attr` is an initialized attribute object.
        kind_after(|attr| unsafe {
            assert_eq!(libc::pthread_mutexattr_settype(attr, mutex_type), 0);
        })
    }

    #[test]
    fn ordinary_mutexes_are_plain() {
        assert!(kind_after(|_| ()).is_plain());
        assert!(kind_of_type(libc::PTHREAD_MUTEX_NORMAL).is_plain());
        assert!(kind_of_type(MutexKind::ADAPTIVE).is_plain());
        // SAFETY: these are constants, which nobody changes.
        unsafe {
            assert!(mutex_kind(&libc::PTHREAD_MUTEX_INITIALIZER).is_plain());
            assert!(mutex_kind(&libc::PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP).is_plain());
            assert!(!mutex_kind(&libc::PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP).is_plain());
            assert!(!mutex_kind(&libc::PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP).is_plain());
        }
    }

    #[test]
    fn special_mutexes_are_recognized() {
        let recursive = kind_of_type(libc::PTHREAD_MUTEX_RECURSIVE);
        assert!(recursive.is_recursive() && !recursive.is_plain());
        assert!(!kind_of_type(libc::PTHREAD_MUTEX_ERRORCHECK).is_plain());

        // SAFETY: `attr` is an initialized attribute object, here and below.
        let robust = kind_after(|attr| unsafe {
            assert_eq!(libc::pthread_mutexattr_setrobust(attr, libc::PTHREAD_MUTEX_ROBUST), 0);
        });
        assert!(robust.is_robust() && !robust.is_plain());
        // SAFETY: as above.
        let inheriting = kind_after(|attr| unsafe {
            assert_eq!(libc::pthread_mutexattr_setprotocol(attr, libc::PTHREAD_PRIO_INHERIT), 0);
        });
        assert!(inheriting.has_protocol() && !inheriting.is_plain());
        // SAFETY: as above.
        let shared = kind_after(|attr| unsafe {
            assert_eq!(libc::pthread_mutexattr_setpshared(attr, libc::PTHREAD_PROCESS_SHARED), 0);
        });
        assert!(shared.is_process_shared() && !shared.is_plain());
        assert!(!MutexKind::DESTROYED.is_plain());
    }
}
