//! What changes of the program's source would bring.
//!
//! The simulator runs the program, so it can also run one that was changed. The locks that cost most, the
//! barriers and the serial part are changed one at a time, under today's lock, and simulated on the most
//! cores. The workload as profiled and the two that bound it are changed alike, each is compared with itself,
//! and the band covers all three comparisons and their errors by chance. How far such gains are
//! from measured ones is not in it. `docs/evidence/what-if.md` has planted programs that were really changed:
//! what is said of them, beside the simulation of their true parameters and beside the clock.

use std::borrow::Cow;

use kilocore_lock_profile::Profile;

use crate::candidate::{Band, Candidate, simulate_all};
use crate::change::{Change, WhatIf};
use crate::choice::{LITTLE, end};
use crate::own_locks;
use crate::question::{Question, TODAY};
use crate::{Curve, PointError, Profiled, TriedLock, Workload};

/// Of this many locks changes are tried, those first that cost most.
const MOST_LOCKS: usize = 3;
/// A change that is not of the lock that costs most is worth a row from this gain on.
const WORTH_A_ROW: f64 = 1.1;
/// The most rows.
const MOST_ROWS: usize = 10;

/// A change, and the program after it.
struct Trial<'a> {
    change: Change,
    lock: Option<usize>,
    candidate: Candidate<'a>,
}

/// Returns what changes of the source of a profiled program would bring on the most cores of the question, the
/// best first, whatever the verdict on the program is. [`forecast`](crate::forecast) says it only where locks
/// limit the program or it does not scale.
///
/// `progress` is called after each simulation, from any thread.
///
/// # Errors
/// [`PointError`] if the machine does not have the cores.
pub fn what_if(
    mut profiled: Profiled,
    profile: &Profile,
    question: &Question<'_>,
    progress: &(dyn Fn() + Sync),
) -> Result<Vec<WhatIf>, PointError> {
    if let Some(run) = profile.runs.first() {
        own_locks::complete(&mut profiled, run);
    }
    let Some(&cores) = question.cores.last() else { return Ok(Vec::new()) };
    let mut today = Candidate::under(&profiled, TODAY);
    simulate_all(&mut [&mut today], (&[cores], Band::OfProfile), question, progress)?;
    let curve = today.curve(question, &[cores]);
    tried(&profiled, (&today, &curve), question, progress)
}

/// Tries changes of a program whose curve under today's lock is that of the candidate `today`, and returns
/// those that tell something, the best first.
pub(crate) fn tried(
    profiled: &Profiled,
    (today, curve): (&Candidate<'_>, &Curve),
    question: &Question<'_>,
    progress: &(dyn Fn() + Sync),
) -> Result<Vec<WhatIf>, PointError> {
    let costly = costly(curve, profiled.locks.len());
    let of_locks = costly
        .iter()
        .flat_map(|&lock| Change::OF_A_LOCK.into_iter().map(move |change| (change, Some(lock))));
    let of_none = Change::OF_NO_LOCK.into_iter().map(|change| (change, None));
    let mut trials: Vec<Trial<'_>> = of_locks
        .chain(of_none)
        .filter_map(|(change, lock)| {
            let Profiled { workload, bounds: [well, badly], .. } = profiled;
            let made = |to: &Workload| Some(Cow::Owned(change.made_to(to, lock)?));
            let workloads = [made(workload)?, made(well)?, made(badly)?];
            let candidate = Candidate::new(TriedLock::Mutex(TODAY), workloads);
            Some(Trial { change, lock, candidate })
        })
        .collect();
    let cores = curve.end().point.cores;
    simulate(&mut trials, cores, Band::OfChance, question, progress)?;
    let gain = |trial: &Trial<'_>| end(&trial.candidate.curve(question, &[cores])) / end(curve);
    let of_the_costliest = |trial: &Trial<'_>| trial.lock.is_some_and(|lock| lock == costly[0]);
    trials.retain(|trial| of_the_costliest(trial) || gain(trial) >= WORTH_A_ROW);
    trials.sort_by(|a, b| gain(b).total_cmp(&gain(a)));
    trials.truncate(MOST_ROWS);
    simulate(&mut trials, cores, Band::OfProfile, question, progress)?;
    let row = |Trial { change, lock, candidate }: &Trial<'_>| {
        let gain = candidate.against(today, cores)?;
        Some(WhatIf { change: *change, lock: *lock, cores, gain })
    };
    Ok(trials.iter().filter_map(row).collect())
}

fn simulate(
    trials: &mut [Trial<'_>],
    cores: u32,
    band: Band,
    question: &Question<'_>,
    progress: &(dyn Fn() + Sync),
) -> Result<(), PointError> {
    let mut all: Vec<&mut Candidate<'_>> = trials.iter_mut().map(|t| &mut t.candidate).collect();
    simulate_all(&mut all, (&[cores], band), question, progress)
}

/// The first of the program's `known` locks by the time that they cost at the end of a curve, if that is
/// worth a change.
fn costly(curve: &Curve, known: usize) -> Vec<usize> {
    let shares = &curve.end().point.lock_share_by_lock;
    let mut costly: Vec<usize> =
        (0..shares.len().min(known)).filter(|&lock| shares[lock] >= LITTLE).collect();
    costly.sort_by(|&a, &b| shares[b].total_cmp(&shares[a]));
    costly.truncate(MOST_LOCKS);
    costly
}

#[cfg(test)]
mod tests {
    use kilocore_points::PointSource;

    use super::*;
    use crate::closed_form::repairman;
    use crate::from_profile::from_profile;
    use crate::from_profile::synthetic::profile;
    use crate::{Duration, Extent, ForecastGain, RunSize};

    const CORES: u32 = 12;
    /// Long, so that handing a lock on costs next to nothing.
    const THINK: f64 = 400_000.0;
    const HOLD: f64 = 200_000.0;

    /// The gains of all changes of a workload.
    fn gains(workload: Workload) -> Vec<WhatIf> {
        let machine = kilocore_machine::find("opteron-6344-4s").unwrap();
        let question = Question {
            machine: &machine,
            cores: vec![CORES],
            locks: Vec::new(),
            rw_locks: Vec::new(),
            size: RunSize { sections: 4_000, ..RunSize::default() },
            extent: Extent::Needed,
            source: PointSource::unkept(),
        };
        let bounds = [workload.clone(), workload.clone()];
        let profile = profile();
        let profiled = Profiled { workload, bounds, ..from_profile(&profile).unwrap() };
        what_if(profiled, &profile, &question, &|| {}).unwrap()
    }

    /// Threads that think, and then queue for one of several locks at random: exact mean value analysis.
    fn queues(count: u32, demand: f64) -> f64 {
        let mut queued = 0.0;
        let mut throughput = 0.0;
        for threads in 1..=CORES {
            let response = demand * (1.0 + queued / f64::from(count));
            throughput = f64::from(threads) / (THINK + response);
            queued = throughput * response;
        }
        throughput
    }

    fn saturated() -> Workload {
        Workload::single_lock(Duration::Exponential(THINK), Duration::Exponential(HOLD), 0.0)
    }

    #[test]
    fn changes_bring_what_queueing_theory_says() {
        let gains = gains(saturated());
        let today = repairman(CORES, THINK, HOLD);
        assert!((queues(1, HOLD) / today - 1.0).abs() < 1e-9);
        let expected = [
            (Change::HalfAsLong, repairman(CORES, THINK, HOLD / 2.0)),
            (Change::HalfBefore, repairman(CORES, THINK + HOLD / 2.0, HOLD / 2.0)),
            (Change::Split(2), queues(2, HOLD)),
            (Change::Split(8), queues(8, HOLD)),
            (Change::Split(64), queues(64, HOLD)),
            (Change::PerThread, f64::from(CORES) / (THINK + HOLD)),
        ];
        for (change, throughput) in expected {
            let found = gains.iter().find(|row| row.change == change).expect("it was tried");
            let ForecastGain { gain, low, high } = found.gain;
            let off = gain / (throughput / today) - 1.0;
            assert!(off.abs() < 0.05, "{found:?}: {off:.3}");
            assert!(low <= gain && gain <= high, "{found:?}");
        }
        assert!(gains.is_sorted_by(|a, b| a.gain.gain >= b.gain.gain), "{gains:?}");
    }

    #[test]
    fn a_serial_part_half_as_long_brings_what_amdahl_says() {
        let mut workload = saturated();
        workload.sections[0].1.hold = Duration::Constant(100.0);
        let each = (THINK + 100.0) / f64::from(CORES);
        workload.serial = each;
        let gains = gains(workload);
        let found: Vec<Change> = gains.iter().map(|row| row.change).collect();
        assert_eq!(found, [Change::HalfTheSerialPart], "locks cost nothing");
        assert!((gains[0].gain.gain - 2.0 / 1.5).abs() < 0.03, "{gains:?}");
    }
}
