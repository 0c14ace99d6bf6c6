//! The kernel's clocks and the processor's counter, read.

use std::time::Duration;

/// The time-stamp counter of the processor, in its cycles.
#[must_use]
pub fn cycles() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction; it touches no memory.
    return unsafe { core::arch::x86_64::_rdtsc() };
    #[cfg(target_arch = "aarch64")]
    {
        let cycles;
        // SAFETY: Linux lets user space read the virtual counter; it touches no memory.
        unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) cycles) };
        cycles
    }
}

/// Returns the time of `CLOCK_MONOTONIC`: since the machine was started, without the time in which it
/// was suspended.
#[must_use]
pub fn monotonic() -> Duration {
    time_of(libc::CLOCK_MONOTONIC).unwrap_or_default()
}

/// Processor time of the calling thread.
#[must_use]
pub fn thread_time() -> Duration {
    time_of(libc::CLOCK_THREAD_CPUTIME_ID).unwrap_or_default()
}

/// The processor time that a process has used, threads that have ended included; `None` if it is
/// gone.
#[must_use]
pub fn processor_time(pid: u32) -> Option<Duration> {
    let mut clock = 0;
    // SAFETY: `clock` is ours to be written.
    let result = unsafe { libc::clock_getcpuclockid(pid as libc::pid_t, &raw mut clock) };
    if result == 0 { time_of(clock) } else { None }
}

fn time_of(clock: libc::clockid_t) -> Option<Duration> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is ours to be written.
    let result = unsafe { libc::clock_gettime(clock, &raw mut time) };
    (result == 0).then(|| Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}
