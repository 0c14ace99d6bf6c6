//! Recognizes the functions of locks by their names.
//!
//! A loss inside such a function is waiting. `locate` cannot tell which thread waits for which
//! lock, but `doctor` can, because it records the locks. The kernel's own locks are kept apart,
//! because no lock put under the program changes them. For these, the system call that takes them
//! is what counts.

use kilocore_sampled_profile::Function;
use kilocore_symbols::is_kernel_lock;

use crate::Owner;

/// The functions of user-space locks. A star stands for any rest of a name.
const USER: &[&str] = &[
    "pthread_mutex_*",
    "pthread_rwlock_*",
    "pthread_spin_*",
    "pthread_cond_*",
    "lll_lock*",
    "lll_mutex_lock*",
    "lll_trylock*",
    "futex_abstimed_wait*",
    "sem_wait*",
    "new_sem_wait*",
    "mtx_lock*",
    "std::sync::mutex::*",
    "std::sys::sync::mutex::*",
    "std::sys::sync::rwlock::*",
    "std::sync::rwlock::*",
    "parking_lot::*",
    "parking_lot_core::*",
    "lock_api::*",
    "std::mutex::*",
    "std::shared_mutex::*",
    "std::lock_guard*",
    "std::unique_lock*",
    "std::condition_variable::*",
    "tbb::spin_mutex*",
    "absl::Mutex::*",
    "absl::*::SpinLock*",
    "folly::*Mutex*",
    "runtime.lock*",
    "sync.(*Mutex)*",
    "sync.(*RWMutex)*",
    "runtime.futex*",
];

/// The system call by which a user-space lock waits.
const FUTEX: &[&str] =
    &["do_futex", "x64_sys_futex*", "arm64_sys_futex*", "se_sys_futex*", "sys_futex"];

/// How a function is concerned with locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockRole {
    /// It acquires or releases a lock of the program.
    User,
    /// It acquires or releases a lock of the kernel.
    Kernel,
    /// It waits in the kernel for a lock of the program.
    Futex,
}

/// Returns how a function is concerned with locks, if it is.
#[must_use]
pub fn lock_role(function: &Function) -> Option<LockRole> {
    // glibc's internal names have underscores in front, and a version behind.
    let name = function.name.trim_start_matches('_');
    let name = name.strip_prefix("GI_").unwrap_or(name).trim_start_matches('_');
    let is_one_of = |names: &[&str]| names.iter().any(|pattern| matches(pattern, name));
    match Owner::of(function) {
        Owner::Kernel if is_one_of(FUTEX) => Some(LockRole::Futex),
        Owner::Kernel => is_kernel_lock(&function.name).then_some(LockRole::Kernel),
        _ if is_one_of(USER) => Some(LockRole::User),
        // The profile does not tell the kernel's functions from others.
        _ if function.object.is_empty() && is_one_of(FUTEX) => Some(LockRole::Futex),
        _ if function.object.is_empty() && is_kernel_lock(&function.name) => Some(LockRole::Kernel),
        _ => None,
    }
}

/// Returns whether a name matches a pattern, in which a star stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => name.strip_prefix(start).is_some_and(|left| {
            rest.is_empty() || left.char_indices().any(|(at, _)| matches(rest, &left[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use kilocore_sampled_profile::Origin;

    use super::*;

    fn role(name: &str, object: &str, origin: Origin) -> Option<LockRole> {
        lock_role(&Function { name: name.into(), object: object.into(), origin })
    }

    #[test]
    fn locks_are_known_by_all_of_their_names() {
        let libc = "/lib/x86_64-linux-gnu/libc.so.6";
        for name in ["pthread_mutex_lock", "___pthread_mutex_lock", "__GI___lll_lock_wait"] {
            assert_eq!(role(name, libc, Origin::User), Some(LockRole::User), "{name}");
        }
        let kernel = "[kernel.kallsyms]";
        let is = |name| role(name, kernel, Origin::Kernel);
        assert_eq!(is("native_queued_spin_lock_slowpath"), Some(LockRole::Kernel));
        assert_eq!(is("_raw_spin_lock_irqsave"), Some(LockRole::Kernel));
        assert_eq!(is("__mutex_lock.constprop.0"), Some(LockRole::Kernel));
        assert_eq!(is("__x64_sys_futex"), Some(LockRole::Futex));
        assert_eq!(is("copy_page"), None);
        assert_eq!(role("do_futex", "", Origin::Unknown), Some(LockRole::Futex));
        assert_eq!(
            role("absl::lts_2023::SpinLock::Wait", "server", Origin::User),
            Some(LockRole::User)
        );
    }

    #[test]
    fn names_that_only_look_like_it_are_others() {
        assert_eq!(role("block_everything", "server", Origin::User), None);
        assert_eq!(role("rwsem_fake", "server", Origin::User), None);
        assert_eq!(role("memcpy", "libc.so.6", Origin::User), None);
    }
}
