//! Which hardware threads a thread may run on.
//!
//! The C library's set has room for 1,024 hardware threads, and on a larger machine the kernel
//! refuses to fill it. The set here has room for more than Linux can be built for. Nothing here
//! allocates, so a thread can be confined between `fork` and `exec`.

use std::io;

use kilocore_platform::{CpuId, MOST_CPUS};

/// A set of hardware threads, as the kernel has it: a bit for each.
pub type CpuSet = kilocore_platform::CpuSet<{ (MOST_CPUS / u64::BITS) as usize }>;

/// Returns the hardware threads that a thread may run on; 0 is the calling one.
///
/// # Errors
/// The system's error: `ESRCH` if there is no such thread. A sandbox may forbid the call.
pub fn affinity(thread: u32) -> io::Result<CpuSet> {
    let mut words = *CpuSet::new().words();
    // SAFETY: the kernel writes at most as many bytes as it is told, which the words have.
    let failed = unsafe {
        libc::sched_getaffinity(number(thread)?, size_of_val(&words), words.as_mut_ptr().cast())
    } != 0;
    if failed { Err(io::Error::last_os_error()) } else { Ok(CpuSet::from_words(words)) }
}

/// Confines a thread, and what it starts from now on, to a set of hardware threads; 0 is the calling one.
///
/// This does nothing but a system call, so it may be called between `fork` and `exec`.
///
/// # Errors
/// The system's error: `EINVAL` if the thread may use no member of the set.
pub fn set_affinity(thread: u32, cpus: &CpuSet) -> io::Result<()> {
    let words = cpus.words();
    // SAFETY: the kernel reads at most as many bytes as it is told, which the words have.
    let failed = unsafe {
        libc::sched_setaffinity(number(thread)?, size_of_val(words), words.as_ptr().cast())
    } != 0;
    if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Confines the calling thread, and what it starts from now on, to some hardware threads, as
/// [`set_affinity`] does.
///
/// # Errors
/// The system's error, or `EINVAL` if a number is not below [`CpuSet::ROOM`].
pub fn confine(cpus: impl IntoIterator<Item = CpuId>) -> io::Result<()> {
    let set = CpuSet::of(cpus).ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))?;
    set_affinity(0, &set)
}

fn number(thread: u32) -> io::Result<libc::pid_t> {
    libc::pid_t::try_from(thread).map_err(|_| io::Error::from_raw_os_error(libc::ESRCH))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_without_room_are_refused() {
        let too_large = confine([CpuId(CpuSet::ROOM)]).unwrap_err();
        assert_eq!(too_large.raw_os_error(), Some(libc::EINVAL));
    }

    #[test]
    fn a_thread_is_confined_and_set_free_again() {
        let before = affinity(0).unwrap();
        let last = before.iter().last().expect("it runs somewhere");
        confine([last]).unwrap();
        assert_eq!(affinity(0).unwrap(), CpuSet::from_iter([last]));
        let main = affinity(std::process::id()).unwrap();
        assert_eq!(main, before, "that is another thread than the one of a test");
        assert_eq!(affinity(u32::MAX).unwrap_err().raw_os_error(), Some(libc::ESRCH));
        set_affinity(0, &before).unwrap();
        assert_eq!(affinity(0).unwrap(), before);
    }

    /// The same from the C library. Its set is large enough on this host, or the call fails.
    #[test]
    fn the_c_library_sees_the_same() {
        // SAFETY: zero bytes are an empty set.
        let mut theirs: libc::cpu_set_t = unsafe { core::mem::zeroed() };
        // SAFETY: `theirs` is ours to be written, of the size given.
        let failed =
            unsafe { libc::sched_getaffinity(0, size_of_val(&theirs), &raw mut theirs) } != 0;
        if failed {
            return;
        }
        let ours = affinity(0).unwrap();
        for cpu in 0..libc::CPU_SETSIZE as u32 {
            // SAFETY: the index is below the size of the set.
            let is_theirs = unsafe { libc::CPU_ISSET(cpu as usize, &theirs) };
            assert_eq!(ours.contains(CpuId(cpu)), is_theirs, "{cpu}");
        }
    }

    #[test]
    fn nowhere_is_refused() {
        let refused = confine([]).unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(libc::EINVAL));
    }
}
