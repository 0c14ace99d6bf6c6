//! The locks and condition variables of C11's `<threads.h>`.
//!
//! glibc implements `mtx_*` and `cnd_*` by its pthread functions, and calls these past any preloaded
//! library. Its `mtx_t` is a `pthread_mutex_t`, and its `cnd_t` a `pthread_cond_t` (`nptl/mtx_init.c`,
//! `nptl/cnd_init.c`). So a library that displaces the pthread functions displaces these as well, by the
//! same functions: [`c11_functions!`](crate::c11_functions).

use core::mem::MaybeUninit;

use libc::{c_int, pthread_mutexattr_t};

/// What C11's functions return for what the pthread function has returned.
#[must_use]
pub fn status(error: c_int) -> c_int {
    // The values of glibc's `thrd_success`, `thrd_busy`, `thrd_error`, `thrd_nomem` and `thrd_timedout`.
    match error {
        0 => 0,
        libc::EBUSY => 1,
        libc::ENOMEM => 3,
        libc::ETIMEDOUT => 4,
        _ => 2,
    }
}

/// The attributes of a mutex of this type, an or of glibc's `mtx_recursive` and `mtx_timed`. To give them
/// back is not needed: glibc keeps nothing beside them.
#[must_use]
pub fn attributes(kind: c_int) -> pthread_mutexattr_t {
    /// glibc's `mtx_recursive`.
    const RECURSIVE: c_int = 1;
    let mut attributes = MaybeUninit::uninit();
    // SAFETY: the first function initializes what the second one changes, and neither can fail with these
    // arguments.
    unsafe {
        libc::pthread_mutexattr_init(attributes.as_mut_ptr());
        if kind & RECURSIVE != 0 {
            libc::pthread_mutexattr_settype(attributes.as_mut_ptr(), libc::PTHREAD_MUTEX_RECURSIVE);
        }
        attributes.assume_init()
    }
}

/// Exports C11's functions of mutexes and condition variables. The pthread functions that do the work are
/// looked up in two modules, under the names of the C library.
#[macro_export]
macro_rules! c11_functions {
    (mutexes: $mutexes:path, conditions: $conditions:path) => {
        // The modules under names that a macro can go on from.
        use $conditions as pthread_conditions;
        use $mutexes as pthread_mutexes;

        /// Initializes a mutex.
        ///
        /// # Safety
        /// The contract is that of the C function, here and below.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn mtx_init(
            mutex: *mut libc::pthread_mutex_t,
            kind: libc::c_int,
        ) -> libc::c_int {
            let attributes = $crate::c11::attributes(kind);
            // SAFETY: glibc's mutexes of C11 are pthread mutexes, and the caller keeps the contract of the
            // function that it meant to call, here and below.
            $crate::c11::status(unsafe { pthread_mutexes::pthread_mutex_init(mutex, &raw const attributes) })
        }

        /// Destroys a mutex.
        ///
        /// # Safety
        /// As above.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn mtx_destroy(mutex: *mut libc::pthread_mutex_t) {
            // SAFETY: as above.
            _ = unsafe { pthread_mutexes::pthread_mutex_destroy(mutex) };
        }

        $crate::c11_functions! {@one
            /// Locks a mutex.
            mtx_lock(mutex: *mut libc::pthread_mutex_t) = pthread_mutexes::pthread_mutex_lock;
            /// Locks a mutex if that is possible without waiting.
            mtx_trylock(mutex: *mut libc::pthread_mutex_t) = pthread_mutexes::pthread_mutex_trylock;
            /// Locks a mutex before a deadline on the real-time clock.
            mtx_timedlock(mutex: *mut libc::pthread_mutex_t, deadline: *const libc::timespec)
                = pthread_mutexes::pthread_mutex_timedlock;
            /// Unlocks a mutex.
            mtx_unlock(mutex: *mut libc::pthread_mutex_t) = pthread_mutexes::pthread_mutex_unlock;
            /// Waits for a condition variable. This is a cancellation point.
            cnd_wait(condition: *mut libc::pthread_cond_t, mutex: *mut libc::pthread_mutex_t)
                = pthread_conditions::pthread_cond_wait;
            /// Waits for a condition variable until a deadline on the real-time clock. This is a
            /// cancellation point.
            cnd_timedwait(
                condition: *mut libc::pthread_cond_t,
                mutex: *mut libc::pthread_mutex_t,
                deadline: *const libc::timespec
            ) = pthread_conditions::pthread_cond_timedwait;
            /// Wakes one waiter.
            cnd_signal(condition: *mut libc::pthread_cond_t) = pthread_conditions::pthread_cond_signal;
            /// Wakes all waiters.
            cnd_broadcast(condition: *mut libc::pthread_cond_t) = pthread_conditions::pthread_cond_broadcast;
        }

        /// Initializes a condition variable.
        ///
        /// # Safety
        /// As above.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn cnd_init(
            condition: *mut libc::pthread_cond_t,
        ) -> libc::c_int {
            // SAFETY: as above.
            $crate::c11::status(unsafe {
                pthread_conditions::pthread_cond_init(condition, core::ptr::null())
            })
        }

        /// Destroys a condition variable.
        ///
        /// # Safety
        /// As above.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn cnd_destroy(condition: *mut libc::pthread_cond_t) {
            // SAFETY: as above.
            _ = unsafe { pthread_conditions::pthread_cond_destroy(condition) };
        }
    };
    (@one $($(#[$meta:meta])* $name:ident($($arg:ident: $type:ty),*) = $call:path;)*) => {$(
        $(#[$meta])*
        ///
        /// # Safety
        /// As above.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($arg: $type),*) -> libc::c_int {
            // SAFETY: as above.
            $crate::c11::status(unsafe { $call($($arg),*) })
        }
    )*};
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_those_of_c11() {
        let pairs = [(0, 0), (libc::EBUSY, 1), (libc::EINVAL, 2), (libc::ENOMEM, 3)];
        for (error, expected) in pairs {
            assert_eq!(status(error), expected);
        }
        assert_eq!(status(libc::ETIMEDOUT), 4);
    }
}
