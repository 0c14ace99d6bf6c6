//! Reads from a `pthread_rwlock_t` whether several processes share it.
//!
//! glibc keeps this in one word of the object, at byte 28 of the 56 bytes. On x86-64 the word has
//! been there in every version. In front of it are the words by which glibc's algorithm works.
//! Behind it are unused bytes (one of which some versions used to tune elision), and at byte 48 the
//! preference for readers or writers. Static initializers set nothing but this preference.

use core::sync::atomic::{AtomicI32, Ordering};

use libc::pthread_rwlock_t;

/// The offset of the word that says whether several processes share the lock, in bytes.
const SHARED_AT: usize = 28;

const _: () = assert!(size_of::<pthread_rwlock_t>() >= 52 && align_of::<pthread_rwlock_t>() >= 8);

/// Returns whether several processes may share `lock`.
///
/// # Safety
/// `lock` points to a readable `pthread_rwlock_t` that was initialized, statically or by
/// `pthread_rwlock_init`.
#[inline]
#[must_use]
pub unsafe fn is_process_shared(lock: *const pthread_rwlock_t) -> bool {
    // SAFETY: the word lies inside the object and is aligned. It does not change while the lock is
    // in use.
    unsafe { &*lock.byte_add(SHARED_AT).cast::<AtomicI32>() }.load(Ordering::Relaxed) != 0
}

#[cfg(test)]
mod tests {
    use core::mem::MaybeUninit;

    use super::*;

    /// Returns the bytes of a lock that glibc has initialized in memory full of ones, and whether
    /// it is shared.
    fn initialized(shared: libc::c_int) -> ([u8; 56], bool) {
        let mut attr = MaybeUninit::uninit();
        // SAFETY: the attributes are initialized before they are used, and the lock is ours. It is
        // plain bytes.
        unsafe {
            let mut lock: pthread_rwlock_t = core::mem::transmute([0xFF_u8; 56]);
            assert_eq!(libc::pthread_rwlockattr_init(attr.as_mut_ptr()), 0);
            assert_eq!(libc::pthread_rwlockattr_setpshared(attr.as_mut_ptr(), shared), 0);
            assert_eq!(libc::pthread_rwlock_init(&mut lock, attr.as_ptr()), 0);
            (core::mem::transmute::<pthread_rwlock_t, [u8; 56]>(lock), is_process_shared(&lock))
        }
    }

    #[test]
    fn shared_locks_are_told_from_private_ones() {
        let (private, is_shared) = initialized(libc::PTHREAD_PROCESS_PRIVATE);
        assert!(!is_shared && private[..48].iter().all(|byte| *byte == 0));
        assert!(initialized(libc::PTHREAD_PROCESS_SHARED).1);
        // SAFETY: this is a constant, which nobody changes.
        assert!(!unsafe { is_process_shared(&libc::PTHREAD_RWLOCK_INITIALIZER) });
    }
}
