//! Which of the kernel's own locks threads waited for.

use std::fmt;

use kilocore_figures::Nanoseconds;
use serde::{Deserialize, Serialize};

/// How a thread waits for a lock of the kernel, and for which kind.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum KernelLockKind {
    /// A sleeping lock that one thread holds at a time.
    Mutex,
    /// A read-write lock, to read.
    Reading,
    /// A read-write lock, to write.
    Writing,
    /// A lock with a count for each core.
    PerCpu,
    /// A mutex that passes on priorities.
    RealTime,
    /// A lock whose waiters spin.
    Spin,
    /// The kernel did not say which kind of lock it is.
    #[default]
    Unknown,
}

/// Waits of the program's threads for locks of the kernel that are acquired at one place in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct KernelLockWaits {
    /// The kind of lock.
    pub kind: KernelLockKind,
    /// What the lock is called, if that is known of the function that acquires it. Empty otherwise.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The kernel's functions from the one that acquires the lock outwards, to the one that does the
    /// system call or handles the exception. Empty if the kernel hides its names.
    pub functions: Vec<String>,
    /// How long threads waited, spinning, asleep and without a core, in nanoseconds of the windows.
    #[serde(rename = "ns")]
    pub waited: Nanoseconds,
    /// The number of waits in the windows.
    pub count: u64,
    /// How many different threads waited.
    pub threads: u64,
}

/// The lock in a few words: `mmap_lock (writing), acquired in __vm_munmap for sys_munmap`.
impl fmt::Display for KernelLockWaits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, side) = match self.kind {
            KernelLockKind::Mutex => ("a mutex", ""),
            KernelLockKind::Reading => ("a read-write lock", " (reading)"),
            KernelLockKind::Writing => ("a read-write lock", " (writing)"),
            KernelLockKind::PerCpu => ("a lock of all cores", ""),
            KernelLockKind::RealTime => ("a real-time mutex", ""),
            KernelLockKind::Spin => ("a spin lock", ""),
            KernelLockKind::Unknown => ("a lock", ""),
        };
        let name = if self.name.is_empty() { kind } else { &self.name };
        write!(f, "{name}{side},")?;
        match &*self.functions {
            [] => f.write_str(" acquired at an unknown place"),
            [only] => write!(f, " acquired in {only}"),
            [inner, .., outer] => {
                // `__x64_sys_munmap` is what people know as `munmap`.
                let call = outer.find("_sys_").map_or(&**outer, |at| &outer[at + 1..]);
                write!(f, " acquired in {inner} for {call}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_said_with_its_place_and_its_system_call() {
        let said = |kind, name: &str, functions: &[&str]| {
            let functions = functions.iter().map(|name| (*name).to_owned()).collect();
            let name = name.to_owned();
            KernelLockWaits { kind, name, functions, ..KernelLockWaits::default() }.to_string()
        };
        let unmap = ["__vm_munmap", "__x64_sys_munmap"];
        assert_eq!(
            said(KernelLockKind::Writing, "mmap_lock", &unmap),
            "mmap_lock (writing), acquired in __vm_munmap for sys_munmap"
        );
        assert_eq!(
            said(KernelLockKind::Reading, "", &["lock_it", "find_it", "exc_page_fault"]),
            "a read-write lock (reading), acquired in lock_it for exc_page_fault"
        );
        assert_eq!(
            said(KernelLockKind::Spin, "", &["free_one"]),
            "a spin lock, acquired in free_one"
        );
        assert_eq!(said(KernelLockKind::Mutex, "", &[]), "a mutex, acquired at an unknown place");
    }
}
