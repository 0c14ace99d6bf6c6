//! The time-stamp counter, the core it was read on, and what the operating system counts.

/// A moment: cycles of the time-stamp counter, and the core.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    /// Cycles since some fixed moment, the same for all cores.
    pub(crate) cycles: u64,
    /// The core that the caller ran on.
    pub(crate) core: u32,
}

/// Reads the clock once all loads before it in program order have their values.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn now() -> Moment {
    let mut aux = 0;
    // SAFETY: every x86-64 processor of the last fifteen years has rdtscp; Linux puts the node
    // (upper bits) and the core (lower 12 bits) into its second result.
    let cycles = unsafe { core::arch::x86_64::__rdtscp(&raw mut aux) };
    Moment { cycles, core: aux & 0xfff }
}

/// Reads the clock once all loads before it in program order have their values.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub(crate) fn now() -> Moment {
    let cycles;
    // SAFETY: the barrier and the read of the virtual counter touch no memory; Linux lets user
    // space read that register.
    unsafe { core::arch::asm!("isb", "mrs {}, cntvct_el0", out(reg) cycles) };
    // SAFETY: takes no argument; glibc reads it from the restartable-sequence area.
    let core = unsafe { libc::sched_getcpu() };
    Moment { cycles, core: core.max(0) as u32 }
}

/// A clock of the operating system in nanoseconds.
pub(crate) fn system_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is ours to be written.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// How often the calling thread has given up its core by its own will: slept, or waited.
pub(crate) fn voluntary_switches() -> u64 {
    // SAFETY: zero is a valid value.
    let mut usage: libc::rusage = unsafe { core::mem::zeroed() };
    // SAFETY: `usage` is ours to be written.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
    usage.ru_nvcsw.max(0) as u64
}
