//! What is simulated of a workload whose sections last long.
//!
//! A lock whose waiters poll is simulated poll by poll, so that some sections of milliseconds would
//! take a minute for each point. Two things keep a point affordable:
//!
//! * There are fewer sections. The band then gets wider, because it includes the error by chance.
//! * Where even the fewest sections that show something last too long, all durations are made
//!   shorter by the same factor, and the throughput is divided by it again. A section still lasts
//!   for [`MOST_CYCLES`] / [`FEWEST_SECTIONS`] cycles, which is a hundred times what the dearest
//!   handover takes. So handovers, which do not become shorter, cost at most some per cent more of
//!   the throughput than they really do.

use std::borrow::Cow;

use crate::{Point, RunSize, Workload};

/// The simulated cycles that the counted sections of a point may take.
const MOST_CYCLES: f64 = 1e9;
/// With fewer sections than this, a simulation says nothing.
const FEWEST_SECTIONS: u64 = 400;

/// What is simulated in place of a workload.
#[derive(Debug)]
pub(crate) struct Affordable<'a> {
    pub(crate) workload: Cow<'a, Workload>,
    pub(crate) size: RunSize,
    /// What each duration was multiplied by, more than 0 and at most 1.
    factor: f64,
}

impl Affordable<'_> {
    /// Makes a point of what was simulated a point of the workload itself.
    pub(crate) fn undo(&self, point: &mut Point) {
        point.throughput_per_s *= self.factor;
        point.throughput_error_per_s *= self.factor;
        point.joules_per_op /= self.factor;
    }
}

/// Returns the workload and the size asked for or, where sections last long, as many sections as
/// there is time for.
pub(crate) fn affordable(size: RunSize, workload: &Workload, cores: u32) -> Affordable<'_> {
    let held: f64 = workload.sections.iter().map(|(share, s)| share * s.held()).sum();
    let alone = workload.think.mean() + workload.asleep + held;
    // The lock may be the limit, so that its sections follow one another; or every core has
    // sections of its own at the same time. The slower of the two decides.
    let cycles = held.max(alone / f64::from(cores.max(1))).max(1.0);
    let most = MOST_CYCLES / cycles;
    let sections = (most as u64).max(FEWEST_SECTIONS).min(size.sections);
    let size = RunSize { sections, ..size };
    let factor = (most / sections as f64).min(1.0);
    let workload =
        if factor < 1.0 { Cow::Owned(workload.stretched(factor)) } else { Cow::Borrowed(workload) };
    Affordable { workload, size, factor }
}

#[cfg(test)]
mod tests {
    use kilocore_locks::LockId;
    use kilocore_machine::find;

    use super::{Affordable, FEWEST_SECTIONS, affordable};
    use crate::{Duration, Point, RunSize, Workload, simulate};

    const CORES: u32 = 10;

    fn workload(think: f64, hold: f64) -> Workload {
        Workload::single_lock(Duration::Exponential(think), Duration::Constant(hold), 1.0)
    }

    fn of(workload: &Workload) -> Affordable<'_> {
        affordable(RunSize { sections: 8_000, ..RunSize::default() }, workload, CORES)
    }

    #[test]
    fn long_sections_are_simulated_fewer_times() {
        let sections = |think, hold| of(&workload(think, hold)).size.sections;
        assert_eq!(sections(4_000.0, 400.0), 8_000);
        assert_eq!(sections(4_000.0, 1e6), 1_000);
        assert_eq!(sections(1e8, 1_000.0), FEWEST_SECTIONS);
        assert_eq!(sections(4e6, 1_000.0), 2_499);
    }

    #[test]
    fn no_section_is_so_long_that_the_fewest_take_more_than_there_is_time_for() {
        for (think, hold) in [(4_000.0, 1e6), (1e8, 1_000.0), (5e7, 5e7), (0.0, 1e12)] {
            let workload = workload(think, hold);
            let affordable = of(&workload);
            let one = affordable.workload.busy();
            let cycles = one * affordable.size.sections as f64 / f64::from(CORES);
            assert!(cycles <= super::MOST_CYCLES * 1.001, "{think} {hold}: {cycles}");
        }
    }

    fn point(workload: &Workload, lock: LockId, size: RunSize) -> Point {
        let machine = find("opteron-6344-4s").expect("it is built in");
        simulate(workload, lock, &machine, CORES, size).expect("it has the cores")
    }

    #[test]
    fn sections_of_20_ms_have_the_throughput_that_they_have_at_full_length() {
        let workload = workload(5e7, 5e7);
        let affordable = of(&workload);
        assert!(affordable.factor < 0.1);
        let full = point(&workload, LockId::Ticket, affordable.size);
        let mut short = point(&affordable.workload, LockId::Ticket, affordable.size);
        affordable.undo(&mut short);
        let within = |a: f64, b: f64, share: f64| (a / b - 1.0).abs() < share;
        assert!(within(short.throughput_per_s, full.throughput_per_s, 0.01), "{short:?} {full:?}");
        assert!(within(short.joules_per_op, full.joules_per_op, 0.01), "{short:?} {full:?}");
        // Its waiters poll: at full length, this alone would take most of a minute.
        let mut polled = point(&affordable.workload, LockId::Tas, affordable.size);
        affordable.undo(&mut polled);
        assert!(within(polled.throughput_per_s, full.throughput_per_s, 0.03), "{polled:?}");
    }
}
