//! How much this user may open and lock in memory, which limits how many threads can be followed.

use std::fs;

use kilocore_linux::perf_events::{locked_kilobytes, online_cores, paranoid};

/// What the kernel allows a core if it does not say.
const KILOBYTES: usize = 516;
/// The bit of `CAP_IPC_LOCK` among the capabilities.
const LOCK_MEMORY: u64 = 1 << 14;
/// Descriptors that are left for others: files that are read meanwhile.
const SPARE: usize = 32;

/// How many bytes of buffers this user may have, if nobody else of the same user has any.
pub(crate) fn locked_bytes() -> usize {
    if paranoid().is_some_and(|paranoid| paranoid < 0) || may_lock() {
        return usize::MAX;
    }
    let cores = online_cores().map_or(1, |cores| cores.len());
    let shared = locked_kilobytes().unwrap_or(KILOBYTES).saturating_mul(1024 * cores);
    shared.saturating_add(limit(libc::RLIMIT_MEMLOCK))
}

/// How many descriptors this process may still open.
pub(crate) fn free_descriptors() -> usize {
    let open = fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    limit(libc::RLIMIT_NOFILE).saturating_sub(open + SPARE)
}

/// Whether memory may be locked without a limit. Whoever is root in a user namespace of his own is
/// an ordinary user to the kernel here.
fn may_lock() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bits = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let bits = bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0);
    let users = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let all_users = users.split_ascii_whitespace().eq(["0", "0", "4294967295"]);
    bits & LOCK_MEMORY != 0 && all_users
}

fn limit(resource: libc::__rlimit_resource_t) -> usize {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the place for the answer is valid.
    let answered = unsafe { libc::getrlimit(resource, &raw mut limit) };
    if answered == 0 { usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_files_count() {
        let all = limit(libc::RLIMIT_NOFILE);
        let open: Vec<_> = (0..4).map(|_| fs::File::open("/proc/self/stat").unwrap()).collect();
        assert!(free_descriptors() + open.len() + SPARE <= all.max(open.len() + SPARE));
        assert!(locked_bytes() >= limit(libc::RLIMIT_MEMLOCK));
    }
}
