//! Which points of curves are simulated.
//!
//! A point takes a simulation for each lock phase that is left, some dozens, and a curve has a dozen points.
//! Most of them tell nothing new, because curves run straight over long stretches: the logarithm of the
//! throughput against that of the cores. So the ends of a curve are simulated first, the edge of a node, and
//! what was measured. Then the middle of each gap is simulated. If it lies on the line between the ends of the gap,
//! the rest of the gap is read off the lines, and otherwise both halves are looked at in the same way.
//!
//! The lock to take is found on the largest number of cores, which is an end of each curve. So the advice does
//! not depend on what is read off.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use kilocore_locks::LockId;

use crate::Extent;
use crate::fit::{Atlas, Estimate, Fit, Refusal};

/// A lock on some cores.
pub(crate) type Place = (LockId, u32);

/// What is forecast at a place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placed {
    pub(crate) estimate: Estimate,
    /// Whether it is read off a line between its neighbours.
    pub(crate) interpolated: bool,
}

/// A point lies on a line if its throughput and the ends of its band are apart from those of the line by at
/// most this share of half the band.
const OF_HALF_THE_BAND: f64 = 0.1;

/// Forecasts `wanted`, which is sorted. If the atlas is for [`Extent::Needed`], points where curves run straight are
/// not simulated, unless `fixed` says that they have to be.
pub(crate) fn forecast(
    (fit, atlas): (&Fit, &Atlas<'_>),
    wanted: &[Place],
    fixed: &dyn Fn(Place) -> bool,
    progress: &(dyn Fn(u64, u64) + Sync),
) -> Result<BTreeMap<Place, Placed>, Refusal> {
    let simulations = Counted::default();
    let simulate = |places: &[Place]| {
        let estimates = fit.forecast(atlas, places, &|done, all| {
            let before = simulations.tell(all);
            progress(before + done, before + all);
        })?;
        simulations.next();
        Ok(estimates)
    };
    match atlas.extent() {
        Extent::Every => {
            let estimates = simulate(wanted)?;
            let placed = |estimate| Placed { estimate, interpolated: false };
            Ok(wanted.iter().copied().zip(estimates.into_iter().map(placed)).collect())
        }
        Extent::Needed => bisect(wanted, fixed, simulate),
    }
}

/// The simulations of several rounds, which one progress bar shows.
#[derive(Debug, Default)]
struct Counted {
    /// Those of earlier rounds.
    before: AtomicU64,
    /// Those of this round.
    now: AtomicU64,
}

impl Counted {
    /// Hears how many there are in this round, and returns how many there were before it.
    fn tell(&self, all: u64) -> u64 {
        self.now.store(all, Ordering::Relaxed);
        self.before.load(Ordering::Relaxed)
    }

    fn next(&self) {
        self.before.fetch_add(self.now.swap(0, Ordering::Relaxed), Ordering::Relaxed);
    }
}

/// Forecasts places with as few of them simulated as the curves allow.
fn bisect<E>(
    wanted: &[Place],
    fixed: &dyn Fn(Place) -> bool,
    mut simulate: impl FnMut(&[Place]) -> Result<Vec<Estimate>, E>,
) -> Result<BTreeMap<Place, Placed>, E> {
    let curves: Vec<&[Place]> = wanted.chunk_by(|a, b| a.0 == b.0).collect();
    let is_end = |curve: &[Place], index: usize| {
        index == 0 || index + 1 == curve.len() || fixed(curve[index])
    };
    let mut next = Vec::new();
    let mut gaps: Vec<&[Place]> = Vec::new();
    for curve in &curves {
        let ends: Vec<usize> = (0..curve.len()).filter(|&index| is_end(curve, index)).collect();
        next.extend(ends.iter().map(|&index| curve[index]));
        gaps.extend(ends.windows(2).map(|pair| &curve[pair[0]..=pair[1]]));
    }
    let mut placed: BTreeMap<Place, Placed> = BTreeMap::new();
    loop {
        let estimates = simulate(&next)?;
        let before = placed.len();
        placed.extend(
            next.iter()
                .copied()
                .zip(estimates)
                .map(|(place, estimate)| (place, Placed { estimate, interpolated: false })),
        );
        if before > 0 {
            gaps = gaps.into_iter().flat_map(|gap| halves(gap, &mut placed)).collect();
        }
        gaps.retain(|gap| gap.len() > 2);
        if gaps.is_empty() {
            return Ok(placed);
        }
        next = gaps.iter().map(|gap| gap[middle(gap)]).collect();
    }
}

/// Looks at a gap whose ends and middle are known. If the middle lies on the line between the ends, the rest is
/// read off the lines and there is nothing left to look at; otherwise the halves are.
fn halves<'a>(
    gap: &'a [Place],
    placed: &mut BTreeMap<Place, Placed>,
) -> impl Iterator<Item = &'a [Place]> + use<'a> {
    let at = middle(gap);
    let halves = [&gap[..=at], &gap[at..]];
    let of = |place: &Place| placed[place].estimate;
    let is_straight = lies_on(&of(&gap[at]), &line(gap, gap[at].1, &of));
    if is_straight {
        let read_off: Vec<(Place, Placed)> = halves
            .iter()
            .flat_map(|half| half[1..half.len() - 1].iter().map(move |&place| (half, place)))
            .map(|(half, place)| {
                (place, Placed { estimate: line(half, place.1, &of), interpolated: true })
            })
            .collect();
        placed.extend(read_off);
    }
    halves.into_iter().filter(move |_| !is_straight)
}

/// The place inside a gap that is nearest to its middle, on a logarithmic scale.
fn middle(gap: &[Place]) -> usize {
    let log = |index: usize| libm::log(f64::from(gap[index].1));
    let wanted = f64::midpoint(log(0), log(gap.len() - 1));
    let off = |index: &usize| (log(*index) - wanted).abs();
    (1..gap.len() - 1).min_by(|a, b| off(a).total_cmp(&off(b))).expect("a gap has an inside")
}

/// What a line between the ends of a gap says of `cores`.
fn line(gap: &[Place], cores: u32, of: &dyn Fn(&Place) -> Estimate) -> Estimate {
    let [first, .., last] = gap else { unreachable!("a gap has two ends") };
    let log = |cores: u32| libm::log(f64::from(cores));
    let way = (log(cores) - log(first.1)) / (log(last.1) - log(first.1));
    let (from, to) = (of(first), of(last));
    let between =
        |from: f64, to: f64| libm::exp((1.0 - way) * libm::log(from) + way * libm::log(to));
    Estimate {
        throughput: between(from.throughput, to.throughput),
        low: between(from.low, to.low),
        high: between(from.high, to.high),
    }
}

/// Whether an estimate is as near to that of a line as its own band allows.
fn lies_on(estimate: &Estimate, line: &Estimate) -> bool {
    let half = libm::log(estimate.high / estimate.low) / 2.0;
    let near = |a: f64, b: f64| libm::log(a / b).abs() <= half * OF_HALF_THE_BAND;
    near(estimate.throughput, line.throughput)
        && near(estimate.low, line.low)
        && near(estimate.high, line.high)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use kilocore_locks::LockId;

    use super::*;

    const CORES: [u32; 11] = [1, 2, 4, 6, 12, 18, 24, 30, 36, 42, 48];

    /// What is forecast of a curve with a band of ±20 %, and on which cores it was simulated.
    fn forecast_of(curve: &dyn Fn(f64) -> f64) -> (BTreeMap<Place, Placed>, Vec<u32>) {
        let wanted: Vec<Place> = CORES.iter().map(|&cores| (LockId::Mcs, cores)).collect();
        let mut simulated = Vec::new();
        let mut simulate = |places: &[Place]| {
            simulated.extend(places.iter().map(|place| place.1));
            let estimate = |&(_, cores): &Place| {
                let throughput = curve(f64::from(cores));
                Estimate { throughput, low: throughput / 1.2, high: throughput * 1.2 }
            };
            Ok::<_, Infallible>(places.iter().map(estimate).collect())
        };
        let Ok(placed) = bisect(&wanted, &|place| place.1 == 6, &mut simulate);
        (placed, simulated)
    }

    #[test]
    fn a_straight_curve_takes_its_ends_and_the_middles_of_its_gaps() {
        let (placed, simulated) = forecast_of(&|cores| if cores < 6.0 { cores } else { 6.0 });
        assert_eq!(simulated, [1, 6, 48, 2, 18]);
        assert_eq!(placed.len(), CORES.len());
        let of = |cores| placed[&(LockId::Mcs, cores)];
        assert!(of(4).interpolated && (of(4).estimate.throughput - 4.0).abs() < 1e-9);
        assert!(of(36).interpolated && (of(36).estimate.throughput - 6.0).abs() < 1e-9);
        assert!(!of(18).interpolated);
    }

    #[test]
    fn where_a_curve_bends_it_is_simulated() {
        // Straight up to 24 cores and beyond, with a bend between.
        let curve = |cores: f64| if cores <= 24.0 { 6.0 } else { 6.0 * 24.0 / cores };
        let (placed, simulated) = forecast_of(&curve);
        for cores in [24, 30, 36] {
            assert!(simulated.contains(&cores), "{simulated:?}");
        }
        for (place, placed) in placed {
            let off = (placed.estimate.throughput / curve(f64::from(place.1)) - 1.0).abs();
            assert!(off < 0.02, "{place:?}: {placed:?}");
        }
    }

    #[test]
    fn nothing_is_simulated_twice() {
        let (_, mut simulated) = forecast_of(&|cores| cores * libm::exp(-cores / 12.0));
        let all = simulated.len();
        simulated.sort_unstable();
        simulated.dedup();
        assert_eq!(simulated.len(), all);
    }
}
