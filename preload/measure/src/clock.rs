//! The clocks: the time-stamp counter, together with the core on which it was read, and the
//! operating system's clocks and counts.

/// A reading of the time-stamp counter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    /// The cycles since a fixed moment, which is the same for all cores.
    pub(crate) cycles: u64,
    /// The core on which the caller ran.
    pub(crate) core: u32,
}

/// Reads the clock after all loads before this call in program order are complete.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn now() -> Moment {
    let mut aux = 0;
    // SAFETY: every x86-64 processor of the last fifteen years has rdtscp. Linux sets its second
    // result to the node (upper bits) and the core (lower 12 bits).
    let cycles = unsafe { core::arch::x86_64::__rdtscp(&raw mut aux) };
    Moment { cycles, core: aux & 0xfff }
}

/// Reads the clock after all loads before this call in program order are complete.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub(crate) fn now() -> Moment {
    let cycles;
    // SAFETY: the barrier and the read of the virtual counter access no memory. Linux lets user
    // space read that register.
    unsafe { core::arch::asm!("isb", "mrs {}, cntvct_el0", out(reg) cycles) };
    // SAFETY: the function has no arguments. glibc reads the core from the restartable-sequence
    // area.
    let core = unsafe { libc::sched_getcpu() };
    Moment { cycles, core: core.max(0) as u32 }
}

/// Returns the time of a clock of the operating system, in nanoseconds.
pub(crate) fn system_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a local variable.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Returns how often the calling thread has given up its core voluntarily, that is, slept or
/// waited.
pub(crate) fn voluntary_switches() -> u64 {
    // SAFETY: zeros are a valid value.
    let mut usage: libc::rusage = unsafe { core::mem::zeroed() };
    // SAFETY: `usage` is a local variable.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
    usage.ru_nvcsw.max(0) as u64
}
