//! The clock, and the costs of an atomic read-modify-write and of a spin-loop hint.

use kilocore_figures::lower_median;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Returns the frequency of the time-stamp counter in GHz, or `None` if there is no such counter.
/// It is the processor's own figure if a calibration against the system's clock agrees within a
/// hundredth, and otherwise that of the calibration.
pub(crate) fn tsc_ghz() -> Option<f64> {
    let calibrated = calibrated_ghz()?;
    let stated = stated_ghz().filter(|stated| (stated / calibrated - 1.0).abs() < 0.01);
    Some(stated.unwrap_or(calibrated))
}

#[cfg(target_arch = "x86_64")]
#[expect(clippy::cast_precision_loss, reason = "counts of some hundredths of a second")]
fn calibrated_ghz() -> Option<f64> {
    let sample = |_| {
        let (start, first) = (Instant::now(), tsc());
        while start.elapsed() < Duration::from_millis(10) {
            std::hint::spin_loop();
        }
        let (elapsed, last) = (start.elapsed(), tsc());
        last.wrapping_sub(first) as f64 / elapsed.as_nanos() as f64
    };
    lower_median((0..5).map(sample))
}

#[cfg(target_arch = "x86_64")]
fn tsc() -> u64 {
    // SAFETY: rdtsc is part of x86-64 and open to user space under Linux.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// The counter's frequency from leaf 0x15 of cpuid: crystal × numerator / denominator.
#[cfg(target_arch = "x86_64")]
fn stated_ghz() -> Option<f64> {
    use core::arch::x86_64::__cpuid;
    if __cpuid(0).eax < 0x15 {
        return None;
    }
    let leaf = __cpuid(0x15);
    let known = leaf.eax != 0 && leaf.ebx != 0 && leaf.ecx != 0;
    known.then(|| f64::from(leaf.ecx) * f64::from(leaf.ebx) / f64::from(leaf.eax) / 1e9)
}

#[cfg(not(target_arch = "x86_64"))]
fn calibrated_ghz() -> Option<f64> {
    None
}

#[cfg(not(target_arch = "x86_64"))]
fn stated_ghz() -> Option<f64> {
    None
}

/// Whether the last-level cache holds all that the caches below it hold, as the processor says in
/// its list of caches: leaf 4 of cpuid, or leaf 0x8000001d where the processor has that. Returns
/// `None` if there is no such list.
#[cfg(target_arch = "x86_64")]
pub(crate) fn last_level_is_inclusive() -> Option<bool> {
    use core::arch::x86_64::{__cpuid, __cpuid_count};
    const MOST_CACHES: u32 = 8;
    let list = [(0, 4), (0x8000_0000, 0x8000_001d)];
    let caches = list
        .into_iter()
        .filter(|&(first, leaf)| __cpuid(first).eax >= leaf)
        .flat_map(|(_, leaf)| (0..MOST_CACHES).map(move |index| __cpuid_count(leaf, index)));
    // An entry has the kind of the cache in bits 0 to 4, with 0 for none, its level in bits 5 to 7,
    // and whether it is inclusive in bit 1 of edx.
    let caches = caches.filter(|cache| cache.eax & 0x1f != 0);
    caches.max_by_key(|cache| cache.eax >> 5 & 7).map(|last| last.edx & 2 != 0)
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn last_level_is_inclusive() -> Option<bool> {
    None
}

/// Returns the time in ns of an atomic addition to a line that the core owns, the median of some
/// samples.
pub(crate) fn rmw_ns() -> Option<f64> {
    let word = AtomicU64::new(0);
    // The compiler must not know the word, and nothing must be stored in the loop: the addition would wait for that, too.
    let word = black_box(&word);
    turn_ns(5_000, || {
        word.fetch_add(1, Ordering::AcqRel);
    })
}

/// Returns the time of a spin-loop hint in ns, the median of some samples. The loop around it adds
/// nothing, as it runs while the hint waits. If a hypervisor intercepts loops of hints, the time is
/// that with its part, as a program would meet it.
///
/// Returns `None` on processors on which the hint is not known to be an instruction.
pub(crate) fn pause_ns() -> Option<f64> {
    let known = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));
    known.then(|| turn_ns(2_000, std::hint::spin_loop)).flatten()
}

/// Returns the time of one turn of a loop in ns, the median of some samples of so many turns: so few that most samples
/// have no interrupt in them.
fn turn_ns(turns: u32, turn: impl Fn()) -> Option<f64> {
    let sample = |_| {
        let start = Instant::now();
        for _ in 0..turns {
            turn();
        }
        start.elapsed().as_nanos() as f64 / f64::from(turns)
    };
    lower_median((0..99).map(sample))
}
