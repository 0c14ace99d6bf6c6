//! Which lock to take.
//!
//! Profiles of the same program differ from run to run, and forecasts err. Locks whose curves end
//! nearly alike are therefore equals. Among equals, locks whose waiters sleep are preferred, and
//! among these the one whose forecasts have been closest to measurements. This order also keeps the
//! answer the same from run to run.
//!
//! A gain that is not likely is none to recommend, so locks whose gain is likely come before all others. How
//! the same locks did for other programs counts here where it was measured on machines of several nodes, too.

use std::cmp::Ordering;

use kilocore_figures::{Contenders, Shape};
use kilocore_machine::Description;

use crate::from_profile::{Conduct, Profiled};
use crate::waiting::parks;
use crate::{Curve, ForecastGain, ForecastLock, GainError, PublishedGain};

/// The gain over today's lock, at the largest number of cores, from which a lock is worth taking.
/// Smaller gains vary from one profile of a program to the next.
pub(crate) const WORTH_TAKING: f64 = 1.15;

/// Waiting for locks does not matter below this share of the time.
pub(crate) const NO_MATTER: f64 = 0.01;

/// If no lock helps, waiting for locks does not matter below this share of the time. Much of so little is
/// the mere taking of free locks. Nor can another lock then be worth a change: it would have to save more
/// than there is.
pub(crate) const LITTLE: f64 = 0.05;

/// A choice among curves.
#[derive(Debug)]
pub(crate) struct Choice<'a> {
    /// The curve of the program as it is.
    pub(crate) today: &'a Curve,
    /// The curve of the best lock that may be taken.
    pub(crate) best: &'a Curve,
    /// The curve that ends highest of those that may be taken.
    highest: &'a Curve,
    /// Whether the best lock is worth a change.
    pub(crate) helps: bool,
    /// Whether the best lock would be worth a change, were its gain likely enough.
    pub(crate) unlikely: bool,
    /// What the best lock brings.
    pub(crate) gain: ForecastGain,
    /// Other curves that end nearly as high as the best one, the highest first.
    pub(crate) equals: Vec<&'static str>,
    /// The best lock of those that are ruled out because they spin and there were more threads than
    /// cores, if it would be clearly better.
    pub(crate) spinning: Option<&'a Curve>,
    /// Whether published measurements are of such machines.
    comparable: bool,
}

impl<'a> Choice<'a> {
    /// Chooses among curves, the first of which is that of the program as it is. Measurements of other programs
    /// count where they are `comparable`.
    fn among(curves: &'a [Curve], conduct: &Conduct, comparable: bool) -> Self {
        let today = &curves[0];
        // One thread usually only waits for the others.
        let crowded = conduct.peak_threads > u64::from(conduct.cores) + 1;
        let may = |curve: &&Curve| !crowded || curve.lock == today.lock || parks(curve.lock);
        let likely = |curve: &&Curve| {
            let gain = ForecastGain::exactly(end(curve) / end(today));
            is_worth_a_change(&gain, published(curve.lock, today.shape, comparable))
        };
        let all = Contenders::among(curves.iter().filter(may), end, WORTH_TAKING)
            .expect("today's lock may always be taken");
        let likely = curves.iter().filter(may).filter(likely);
        let mut contenders = Contenders::among(likely, end, WORTH_TAKING).unwrap_or(all);
        let highest = contenders.highest();
        let helps = end(highest) >= WORTH_TAKING * end(today);
        let best = if helps {
            contenders.retain(|curve| end(curve) > end(today));
            contenders.preferred(by_safety).unwrap_or(highest)
        } else {
            highest
        };
        let mut equals: Vec<&Curve> =
            contenders.iter().filter(|curve| curve.lock != best.lock).collect();
        equals.sort_by(|a, b| end(b).total_cmp(&end(a)));
        let spins = |curve: &&Curve| !may(curve) && end(curve) > WORTH_TAKING * end(highest);
        let spinning = Contenders::among(curves.iter().filter(spins), end, WORTH_TAKING);
        Self {
            today,
            best,
            highest,
            helps,
            unlikely: false,
            gain: by_ends(best, today),
            equals: equals.into_iter().map(|curve| curve.lock).collect(),
            spinning: spinning.map(|contenders| contenders.highest()),
            comparable,
        }
    }

    /// Chooses for a program. No lock helps that takes the place of none that matters.
    pub(crate) fn for_program(
        curves: &'a [Curve],
        profiled: &Profiled,
        machine: &Description,
    ) -> Self {
        let several_nodes = curves[0].end().point.cores > machine.topology.cores_per_node();
        let choice = Self::among(curves, &profiled.conduct, several_nodes);
        let helps = choice.helps && reaches(choice.today, &profiled.locks);
        Self { helps, ..choice }
    }

    /// How the best lock did for other programs.
    pub(crate) fn published(&self) -> Option<PublishedGain> {
        published(self.best.lock, self.today.shape, self.comparable)
    }

    /// The chance that the best lock brings a gain.
    pub(crate) fn chance(&self) -> f64 {
        self.gain.chance(self.published())
    }

    /// Whether that is so likely that nobody has to say *perhaps*.
    pub(crate) fn is_sure(&self) -> bool {
        self.gain.is_sure(self.published())
    }

    /// The curve of the mutex to take: of today's, if no other helps.
    pub(crate) fn taken(&self) -> &'a Curve {
        if self.helps { self.best } else { self.today }
    }

    /// The locks of which whole curves tell something: those that the advice speaks of.
    pub(crate) fn telling(&self) -> Vec<&'static str> {
        let spoken_of = [Some(self.best), Some(self.highest), self.spinning];
        spoken_of.into_iter().flatten().map(|curve| curve.lock).collect()
    }

    /// The same choice, where it is known what the best lock brings: it helps only if that is likely.
    pub(crate) fn weighed(self, gain: Option<ForecastGain>) -> Self {
        let gain = gain.unwrap_or(self.gain);
        if !self.helps || is_worth_a_change(&gain, self.published()) {
            return Self { gain, ..self };
        }
        let Self { today, highest, .. } = self;
        Self { helps: false, unlikely: true, best: highest, gain: by_ends(highest, today), ..self }
    }
}

/// Whether a lock of which that gain is forecast is recommended, if it did so for other programs: a gain is likely,
/// and is large enough by both together.
#[must_use]
pub fn is_worth_a_change(gain: &ForecastGain, published: Option<PublishedGain>) -> bool {
    gain.gain >= WORTH_TAKING
        && gain.is_likely(published)
        && gain.expected(published) >= WORTH_TAKING
}

/// The gain at the ends of two curves. Their bands may well be those of one and the same uncertainty, so that
/// this is the most that is open.
pub(crate) fn by_ends(curve: &Curve, today: &Curve) -> ForecastGain {
    let (of, before) = (curve.end(), today.end());
    ForecastGain {
        gain: end(curve) / end(today),
        low: of.low / before.high,
        high: of.high / before.low,
    }
}

/// How a lock did for other programs whose throughput does the same, where such measurements are comparable.
fn published(lock: &str, today: Shape, comparable: bool) -> Option<PublishedGain> {
    comparable.then(|| PublishedGain::found(lock, today)).flatten()
}

/// Whether the choice of a lock reaches any that matters.
fn reaches(today: &Curve, locks: &[ForecastLock]) -> bool {
    let shares = &today.end().point.lock_share_by_lock;
    let replaced = locks.iter().zip(shares).filter(|(lock, _)| lock.left_alone.is_none());
    replaced.map(|(_, share)| share).sum::<f64>() >= NO_MATTER
}

/// How far forecast gains under a lock were from measured ones. If nobody has measured this lock,
/// the figure is that of all locks.
pub(crate) fn gain_error(lock: &str) -> GainError {
    GainError::published(lock).unwrap_or_else(GainError::published_of_all)
}

/// Prefers a lock whose waiters sleep, because that does the least harm where threads are many. Of
/// several such locks it prefers the one whose forecasts err least, or, if nobody has measured
/// them, the one that takes the least energy.
fn by_safety(a: &Curve, b: &Curve) -> Ordering {
    let error = |curve: &Curve| GainError::published(curve.lock).map_or(f64::MAX, |e| e.median);
    let energy = |curve: &Curve| curve.end().point.joules_per_op;
    let sleeping = parks(b.lock).cmp(&parks(a.lock));
    let certain = error(a).total_cmp(&error(b));
    sleeping.then(certain).then(energy(a).total_cmp(&energy(b)))
}

/// Throughput at the largest number of cores.
pub(crate) fn end(curve: &Curve) -> f64 {
    curve.end().point.throughput_per_s
}

#[cfg(test)]
pub(crate) mod tests {
    use kilocore_figures::Judged;

    use super::Choice;
    use crate::from_profile::Conduct;
    use crate::{Curve, ForecastPoint, Point};

    /// A curve of one point.
    pub(crate) fn curve(lock: &'static str, end: f64) -> Curve {
        let point = Point { cores: 48, throughput_per_s: end, ..Point::empty(lock) };
        let points = vec![ForecastPoint { point, low: end, high: end }];
        Curve::new(lock, points, Judged::BY_LAST_CORES)
    }

    fn conduct(threads: u64) -> Conduct {
        Conduct { peak_threads: threads, cores: 2, ..Conduct::default() }
    }

    #[test]
    fn near_equals_are_named_and_the_choice_among_them_does_not_follow_small_differences() {
        for (mcs, clh) in [(5.0, 5.2), (5.2, 5.0)] {
            let curves = [curve("futex", 1.0), curve("mcs", mcs), curve("clh", clh)];
            let choice = Choice::among(&curves, &conduct(2), false);
            assert!(choice.helps);
            assert_eq!((choice.best.lock, &choice.equals[..]), ("mcs", &["clh"][..]));
        }
    }

    #[test]
    fn among_equals_one_that_parks_is_taken() {
        let curves = [curve("futex", 1.0), curve("mcs", 5.0), curve("malthusian", 4.8)];
        assert_eq!(Choice::among(&curves, &conduct(2), false).best.lock, "malthusian");
    }

    #[test]
    fn with_more_threads_than_cores_only_locks_that_park_are_taken() {
        let curves = [curve("futex", 1.0), curve("cna", 5.0), curve("mutexee", 2.0)];
        let choice = Choice::among(&curves, &conduct(11), false);
        assert!(choice.helps);
        assert_eq!(choice.best.lock, "mutexee");
        assert_eq!(choice.spinning.map(|curve| curve.lock), Some("cna"));
        let nothing = Choice::among(&curves[..2], &conduct(11), false);
        assert!(!nothing.helps);
        // The main thread only waits until the two others end.
        assert_eq!(Choice::among(&curves, &conduct(3), false).best.lock, "cna");
    }

    #[test]
    fn a_gain_as_large_as_runs_differ_by_is_none() {
        let curves = [curve("futex", 1.0), curve("mcs", 1.1)];
        assert!(!Choice::among(&curves, &conduct(2), false).helps);
    }
}
