//! Room for more open files. A daemon that has none left can no longer see who is alive.

use std::fs;

/// Descriptors that are left for files that are read meanwhile.
const SPARE: usize = 64;

/// Whether so many more files may be opened. If not, this process's limit is raised as far as it may
/// raise it itself; what it has started before keeps its own.
pub(crate) fn make_room(more: usize) -> bool {
    // The lowest number that is free tells how many are open, but for gaps, which are soon filled.
    let Ok(probe) = fs::File::open("/dev/null") else { return raise(usize::MAX) };
    let open = std::os::fd::AsRawFd::as_raw_fd(&probe) as usize;
    let wanted = more.saturating_add(open + SPARE);
    wanted <= limits().0 || raise(wanted)
}

/// Raises the limit to the highest possible, and says whether that is enough.
fn raise(wanted: usize) -> bool {
    let (now, most) = limits();
    if now < most {
        let limit = libc::rlimit { rlim_cur: most as libc::rlim_t, rlim_max: most as libc::rlim_t };
        // SAFETY: the limit is valid, and only this process's own is set.
        unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
    }
    wanted <= limits().0
}

/// How many descriptors this process may have, and may allow itself.
pub(crate) fn limits() -> (usize, usize) {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the place for the answer is valid.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    let size = |limit: libc::rlim_t| usize::try_from(limit).unwrap_or(usize::MAX);
    (size(limit.rlim_cur), size(limit.rlim_max))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_raised_once_it_is_near() {
        let (_, most) = limits();
        let open = fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        let low = (open + SPARE / 2).min(most);
        let limit = libc::rlimit { rlim_cur: low as libc::rlim_t, rlim_max: most as libc::rlim_t };
        // SAFETY: the limit is valid, and other tests open few files.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) }, 0);
        assert_eq!(make_room(SPARE), most >= open + 3 * SPARE);
        assert_eq!(limits(), (most, most), "as far as it goes");
        assert!(!make_room(usize::MAX), "nobody has so many");
    }
}
