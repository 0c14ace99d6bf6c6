//! What kind of mutex a `pthread_mutex_t` is.
//!
//! glibc keeps the kind in one word whose place is part of its binary interface, because static
//! initializers such as `PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP` put it there at compile time.
//! On 64-bit machines that is byte 16 of the 40 bytes (48 on AArch64). For an ordinary mutex
//! glibc uses bytes 0 to 16 (lock word, recursion count, owner, users) and 20 to 24 (spin and
//! elision estimates); bytes 24 to 40 link robust and priority-inheriting mutexes and lie idle
//! otherwise.

use core::ptr;
use core::sync::atomic::{AtomicI32, Ordering};

/// The byte at which the kind lies in a `pthread_mutex_t`.
const KIND_OFFSET: usize = 16;

// The recursive static initializer differs from the plain one in the kind alone, so it shows
// whether the kind lies where this module looks for it.
const _: () = {
    let initializer = libc::PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    // SAFETY: both are plain bytes of the same size, and every bit pattern is a valid array.
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
    /// Whether lock elision was asked for (0x100) or forbidden (0x200), which does not change
    /// the meaning of the mutex. `PTHREAD_MUTEX_NORMAL`, asked for by name, sets the latter.
    const ELISION: i32 = 0x300;

    const ADAPTIVE: i32 = 3; // PTHREAD_MUTEX_ADAPTIVE_NP

    /// What a destroyed mutex holds; glibc refuses every operation on it with `EINVAL`.
    pub const DESTROYED: MutexKind = MutexKind(-1);

    /// Whether this is a process-private mutex of type normal, default or adaptive without
    /// robustness or a priority protocol: one that only excludes, and whose algorithm can be
    /// replaced without the program seeing a difference.
    #[inline]
    #[must_use]
    pub const fn is_plain(self) -> bool {
        let kind = self.0 & !Self::ELISION;
        kind == libc::PTHREAD_MUTEX_NORMAL || kind == Self::ADAPTIVE
    }

    /// The type, as `pthread_mutexattr_settype` takes it.
    #[must_use]
    pub const fn mutex_type(self) -> i32 {
        self.0 & Self::TYPE_MASK
    }

    /// Whether a lock by its holder nests.
    #[must_use]
    pub const fn is_recursive(self) -> bool {
        self.mutex_type() == libc::PTHREAD_MUTEX_RECURSIVE
    }

    /// Whether the next owner is told when an owner dies.
    #[must_use]
    pub const fn is_robust(self) -> bool {
        self.0 & Self::ROBUST != 0
    }

    /// Whether the holder runs at the priority of its waiters or at a ceiling.
    #[must_use]
    pub const fn has_protocol(self) -> bool {
        self.0 & (Self::PRIO_INHERIT | Self::PRIO_PROTECT) != 0
    }

    /// Whether the holder runs at a ceiling, which is then part of the lock word.
    #[must_use]
    pub const fn has_ceiling(self) -> bool {
        self.0 & Self::PRIO_PROTECT != 0
    }

    /// Whether processes share it.
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
    // SAFETY: the word lies inside the object and is aligned, as the object is to 8 bytes. Other
    // threads access it through atomics only: glibc because it changes the elision bits of
    // mutexes in use.
    let kind = unsafe { &*ptr::from_ref(&*mutex.byte_add(KIND_OFFSET).cast::<AtomicI32>()) };
    MutexKind(kind.load(Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use core::mem::MaybeUninit;

    use super::*;

    /// The kind that glibc gives a mutex after `set` has changed its attributes.
    fn kind_after(set: impl FnOnce(*mut libc::pthread_mutexattr_t)) -> MutexKind {
        let mut attr = MaybeUninit::uninit();
        let mut mutex = libc::PTHREAD_MUTEX_INITIALIZER;
        // SAFETY: the attribute object is initialized before it is used, and the mutex is ours.
        unsafe {
            assert_eq!(libc::pthread_mutexattr_init(attr.as_mut_ptr()), 0);
            set(attr.as_mut_ptr());
            assert_eq!(libc::pthread_mutex_init(&mut mutex, attr.as_ptr()), 0);
            mutex_kind(&mutex)
        }
    }

    /// The kind after setting the type.
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
        // SAFETY: static objects that nobody changes.
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
