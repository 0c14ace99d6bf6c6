//! The functions of C11's `<threads.h>` that the program calls instead of glibc's.

kilocore_preload_common::c11_functions! {
    mutexes: crate::mutex_exports, conditions: crate::condvar_exports
}
