//! The functions of C11's `<threads.h>`.

/// What is done with condition variables. Their beginning is not recorded.
mod conditions {
    pub(super) use kilocore_preload_common::real::pthread_cond_init;

    pub(super) use crate::hooks::condition::{
        pthread_cond_broadcast, pthread_cond_destroy, pthread_cond_signal, pthread_cond_timedwait,
        pthread_cond_wait,
    };
}

kilocore_preload_common::c11_functions! { mutexes: super::mutex, conditions: self::conditions }
