//! How fast a core's clock runs at the moment, which need not be what its maker states.

use kilocore_figures::lower_median;

use crate::pinned::Pinned;

/// Multiplications in a sample. Each needs the result of the one before. A sample takes some twenty microseconds, so that
/// most have no interrupt in them even where a hypervisor has one each fifty.
#[cfg(target_arch = "x86_64")]
const MULTIPLICATIONS: u32 = 20_000;
/// How many cycles a multiplication takes, on Intel's processors since 2008 and AMD's since 2017.
#[cfg(target_arch = "x86_64")]
const CYCLES: f64 = 3.0;
/// So many take long enough for a core to have the clock of a core at work.
#[cfg(target_arch = "x86_64")]
const SAMPLES: u32 = 600;

/// Measures the clock of the core that the calling thread runs on, in GHz, in some fifteen milliseconds. `None` if it is
/// not known how long its instructions take.
#[cfg(target_arch = "x86_64")]
#[must_use]
pub fn core_clock_ghz() -> Option<f64> {
    use std::time::Instant;
    let sample = |_| {
        let start = Instant::now();
        let mut product: u64 = 3;
        for _ in 0..MULTIPLICATIONS / 10 {
            // SAFETY: it changes this register alone, and flags.
            unsafe {
                core::arch::asm!(
                    ".rept 10",
                    "imul {product}, {product}",
                    ".endr",
                    product = inout(reg) product,
                    options(nomem, nostack, pure)
                );
            }
        }
        std::hint::black_box(product);
        f64::from(MULTIPLICATIONS) * CYCLES / start.elapsed().as_nanos() as f64
    };
    let mut clocks: Vec<f64> = (0..SAMPLES).map(sample).collect();
    clocks.sort_by(f64::total_cmp);
    // Others can only make a sample slower. The very quickest may be those of a clock that the core cannot keep.
    Some(clocks[clocks.len() * 3 / 4])
}

/// Not known elsewhere.
#[cfg(not(target_arch = "x86_64"))]
#[must_use]
pub fn core_clock_ghz() -> Option<f64> {
    None
}

/// The same while all of these processors are at work. `None` as well if none of them can be used.
pub(crate) fn loaded_core_clock_ghz(processors: &[u32]) -> Option<f64> {
    let on = |cpu: u32| {
        let _pinned = Pinned::to(cpu).ok()?;
        core_clock_ghz()
    };
    let clocks: Vec<Option<f64>> = std::thread::scope(|scope| {
        let threads: Vec<_> = processors.iter().map(|&cpu| scope.spawn(move || on(cpu))).collect();
        threads.into_iter().map(|thread| thread.join().ok().flatten()).collect()
    });
    lower_median(clocks.into_iter().flatten())
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_core_has_a_clock_of_some_gigahertz() {
        let clock = super::core_clock_ghz();
        let is_possible = |ghz: f64| (0.1..8.0).contains(&ghz);
        assert!(clock.is_none_or(is_possible), "{clock:?}");
    }
}
