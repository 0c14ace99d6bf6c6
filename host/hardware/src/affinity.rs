//! Which hardware threads a thread may run on.
//!
//! The C library's set has room for 1,024 hardware threads, and on a larger machine the kernel
//! refuses to fill it. The set here has room for more than Linux can be built for. Nothing here
//! allocates, so a thread can be confined between `fork` and `exec`.

use core::ffi::c_ulong;
use std::io;

use kilocore_platform::{CpuId, MOST_CPUS};

/// The bits of a word of a set.
const BITS: u32 = c_ulong::BITS;

/// How many words a set has.
const WORDS: usize = (CpuSet::ROOM / BITS) as usize;

/// A set of hardware threads, as the kernel has it: a bit for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuSet([c_ulong; WORDS]);

impl CpuSet {
    /// The numbers in a set are below this. Linux 6 can be built for 8,192 hardware threads.
    pub const ROOM: u32 = MOST_CPUS;

    /// Returns an empty set.
    pub const EMPTY: Self = Self([0; WORDS]);

    /// Returns the hardware threads that the calling thread may run on.
    ///
    /// # Errors
    /// The system's error. A sandbox may forbid the call.
    pub fn of_this_thread() -> io::Result<Self> {
        Self::of_thread(0)
    }

    /// Returns the hardware threads that a thread may run on; 0 is the calling one.
    ///
    /// # Errors
    /// The system's error: `ESRCH` if there is no such thread.
    pub fn of_thread(thread: u32) -> io::Result<Self> {
        let thread =
            libc::pid_t::try_from(thread).map_err(|_| io::Error::from_raw_os_error(libc::ESRCH))?;
        let mut set = Self::EMPTY;
        // SAFETY: the kernel writes at most as many bytes as it is told, which the set has; any
        // bits are a set.
        let failed =
            unsafe { libc::sched_getaffinity(thread, size_of::<Self>(), (&raw mut set).cast()) }
                != 0;
        if failed { Err(io::Error::last_os_error()) } else { Ok(set) }
    }

    /// Returns a set of these numbers.
    ///
    /// # Errors
    /// `EINVAL` if a number is not below [`ROOM`](Self::ROOM).
    pub fn of(cpus: impl IntoIterator<Item = CpuId>) -> io::Result<Self> {
        let mut set = Self::EMPTY;
        for cpu in cpus {
            let word = set.0.get_mut((cpu.0 / BITS) as usize);
            let word = word.ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))?;
            *word |= 1 << (cpu.0 % BITS);
        }
        Ok(set)
    }

    /// Whether `thread` is in the set.
    #[must_use]
    pub fn contains(&self, cpu: CpuId) -> bool {
        self.0.get((cpu.0 / BITS) as usize).is_some_and(|word| word >> (cpu.0 % BITS) & 1 == 1)
    }

    /// Returns all members in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = CpuId> + '_ {
        (0..Self::ROOM).map(CpuId).filter(|&cpu| self.contains(cpu))
    }

    /// Confines the calling thread, and what it starts from now on, to this set.
    ///
    /// This does nothing but a system call, so it may be called between `fork` and `exec`.
    ///
    /// # Errors
    /// The system's error: `EINVAL` if the thread may use no member of the set.
    pub fn confine_this_thread(&self) -> io::Result<()> {
        // SAFETY: the kernel reads at most as many bytes as it is told, which the set has.
        let failed = unsafe {
            libc::sched_setaffinity(0, size_of::<Self>(), core::ptr::from_ref(self).cast())
        } != 0;
        if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_what_is_put_into_them() {
        let cpus = [0, 63, 64, 1023, 1024, 5000, CpuSet::ROOM - 1].map(CpuId);
        let set = CpuSet::of(cpus).unwrap();
        assert_eq!(set.iter().collect::<Vec<_>>(), cpus);
        assert!(!set.contains(CpuId(1)) && !set.contains(CpuId(CpuSet::ROOM)));
        let too_large = CpuSet::of([CpuId(CpuSet::ROOM)]).unwrap_err();
        assert_eq!(too_large.raw_os_error(), Some(libc::EINVAL));
    }

    #[test]
    fn a_thread_is_confined_and_set_free_again() {
        let before = CpuSet::of_this_thread().unwrap();
        let last = before.iter().last().expect("it runs somewhere");
        let only = CpuSet::of([last]).unwrap();
        only.confine_this_thread().unwrap();
        assert_eq!(CpuSet::of_this_thread().unwrap(), only);
        let main = CpuSet::of_thread(std::process::id()).unwrap();
        assert_eq!(main, before, "that is another thread than the one of a test");
        assert_eq!(CpuSet::of_thread(u32::MAX).unwrap_err().raw_os_error(), Some(libc::ESRCH));
        before.confine_this_thread().unwrap();
        assert_eq!(CpuSet::of_this_thread().unwrap(), before);
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
        let ours = CpuSet::of_this_thread().unwrap();
        for cpu in 0..libc::CPU_SETSIZE as u32 {
            // SAFETY: the index is below the size of the set.
            let is_theirs = unsafe { libc::CPU_ISSET(cpu as usize, &theirs) };
            assert_eq!(ours.contains(CpuId(cpu)), is_theirs, "{cpu}");
        }
    }

    #[test]
    fn nowhere_is_refused() {
        let refused = CpuSet::EMPTY.confine_this_thread().unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(libc::EINVAL));
    }
}
