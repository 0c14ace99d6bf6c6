//! glibc's own functions that lock before a deadline on a given clock. For the real-time clock they
//! are the older ones, which every glibc has.

use kilocore_preload_common::real;
use libc::{c_int, clockid_t, pthread_mutex_t, pthread_rwlock_t, timespec};

macro_rules! by_clock {
    ($($name:ident($lock:ty) = $timed:ident or $clocked:ident;)*) => {
        $(
            /// Calls glibc's function.
            ///
            /// # Safety
            /// As for glibc's function.
            pub(crate) unsafe fn $name(
                lock: *mut $lock,
                clock: clockid_t,
                time: *const timespec,
            ) -> c_int {
                // SAFETY: by the caller's promise.
                unsafe {
                    if clock == libc::CLOCK_REALTIME {
                        real::$timed(lock, time)
                    } else {
                        real::$clocked(lock, clock, time)
                    }
                }
            }
        )*
    };
}

by_clock! {
    clocklock(pthread_mutex_t) = pthread_mutex_timedlock or pthread_mutex_clocklock;
    clockrdlock(pthread_rwlock_t) = pthread_rwlock_timedrdlock or pthread_rwlock_clockrdlock;
    clockwrlock(pthread_rwlock_t) = pthread_rwlock_timedwrlock or pthread_rwlock_clockwrlock;
}
