//! Two profiles of a program, before and after a change: how long it takes for the same work.
//!
//! What is compared are the timed runs of both, which were made without a recorder. On each number of cores
//! that both were timed on, the time that a unit of work takes after the change is held against the time that it
//! took before. How much the rounds of each side differ is all that is known of chance. So the ratio has an
//! interval: from the quickest round after the change against the slowest before it, to the slowest
//! against the quickest.
//!
//! # Decisions
//!
//! A program [has become slower](ChangeVerdict::Slower) only if the whole interval says so, on some number of cores. It
//! [has not](ChangeVerdict::NotSlower) only if the whole interval says that, on all of them. Everything between is
//! [unknown](ChangeVerdict::Unknown), and so is everything that runs cannot show ([`Doubt`]). So a verdict is never
//! *slower* where the rounds of both sides overlap, and never *not slower* because they are far apart.
//!
//! Two rounds on each side come out apart by chance once in three times, three once in ten. So with fewer than
//! three on either side nothing is concluded.

mod doubt;
mod pace_change;

use serde::Serialize;

use crate::{Profile, RUN, Scaling};

pub use doubt::{Doubt, Side};
pub use pace_change::{ChangeVerdict, PaceChange};

/// What two profiles say of a change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProfileComparison {
    /// What a unit of work is called.
    pub unit: String,
    /// The paces on each number of cores that both have, in ascending order.
    pub paces: Vec<PaceChange>,
    /// Why nothing can be concluded from them.
    pub doubts: Vec<Doubt>,
}

impl ProfileComparison {
    /// Compares two profiles.
    #[must_use]
    pub fn of(before: &Profile, after: &Profile) -> Self {
        let scaling = before.scaling.as_ref().or(after.scaling.as_ref());
        let unit = scaling.map_or(RUN, |scaling| &scaling.unit).to_owned();
        let paces = |profile: &Profile| profile.scaling.as_ref().map(Scaling::paces);
        let (first, second) = (paces(before).unwrap_or_default(), paces(after).unwrap_or_default());
        let both = first.iter().filter_map(|(&cores, &before)| {
            second.get(&cores).map(|&after| PaceChange::new(cores, before, after))
        });
        let paces: Vec<PaceChange> = both.collect();
        let doubts = doubt::doubts(before, after, &paces);
        Self { unit, paces, doubts }
    }

    /// Whether the program has become slower by more than this share: 0.05 is five hundredths.
    #[must_use]
    pub fn verdict(&self, share: f64) -> ChangeVerdict {
        if self.doubts.is_empty() { of_paces(&self.paces, share) } else { ChangeVerdict::Unknown }
    }
}

/// Slower if it is so anywhere; not slower if it is not so everywhere.
fn of_paces(paces: &[PaceChange], share: f64) -> ChangeVerdict {
    let verdicts = || paces.iter().map(|pace| pace.verdict(share));
    verdicts().min().unwrap_or(ChangeVerdict::Unknown)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Pace;

    fn pace(mut throughputs: Vec<f64>) -> Pace {
        throughputs.sort_by(f64::total_cmp);
        Pace {
            rounds: throughputs.len(),
            throughput: throughputs[throughputs.len() / 2],
            throughput_low: throughputs[0],
            throughput_high: throughputs[throughputs.len() - 1],
            cpu_time_per_unit: 1.0,
            speedup: 1.0,
            speedup_low: 1.0,
            speedup_high: 1.0,
        }
    }

    /// Two sides' rounds on a few numbers of cores, near enough to each other to overlap now and then.
    fn sides() -> impl Strategy<Value = Vec<(Pace, Pace)>> {
        let rounds = || prop::collection::vec(80.0..120.0_f64, 3..6).prop_map(pace);
        prop::collection::vec((rounds(), rounds()), 1..4)
    }

    fn changes(sides: &[(Pace, Pace)]) -> Vec<PaceChange> {
        let cores = 1_u32..;
        cores
            .zip(sides)
            .map(|(cores, &(before, after))| PaceChange::new(cores, before, after))
            .collect()
    }

    fn swapped(sides: &[(Pace, Pace)]) -> Vec<PaceChange> {
        changes(&sides.iter().map(|&(before, after)| (after, before)).collect::<Vec<_>>())
    }

    proptest! {
        #[test]
        fn before_and_after_are_treated_alike(sides in sides(), share in 0.0..0.3_f64) {
            for (there, back) in changes(&sides).iter().zip(swapped(&sides)) {
                prop_assert!((there.times_as_long * back.times_as_long - 1.0).abs() < 1e-9);
                prop_assert!((there.times_as_long_low * back.times_as_long_high - 1.0).abs() < 1e-9);
                // What has become slower was faster, and so has not when it is seen from behind.
                if there.verdict(share) == ChangeVerdict::Slower {
                    prop_assert_eq!(back.verdict(share), ChangeVerdict::NotSlower);
                }
            }
        }

        #[test]
        fn who_allows_more_is_never_told_worse(sides in sides(), less in 0.0..0.3_f64, more in 0.0..0.3_f64) {
            let more = less + more;
            let changes = changes(&sides);
            prop_assert!(of_paces(&changes, less) <= of_paces(&changes, more));
        }

        #[test]
        fn rounds_that_overlap_are_never_slower(sides in sides(), share in 0.0..0.3_f64) {
            let overlap = |(before, after): &(Pace, Pace)| after.throughput_high >= before.throughput_low;
            let changes = changes(&sides);
            if sides.iter().all(overlap) {
                prop_assert_ne!(of_paces(&changes, share), ChangeVerdict::Slower);
            }
            // And a median that is slower than allowed is never passed.
            if changes.iter().any(|change| change.times_as_long > 1.0 + share) {
                prop_assert_ne!(of_paces(&changes, share), ChangeVerdict::NotSlower);
            }
        }

        #[test]
        fn a_program_is_not_slower_than_itself_with_room_for_its_noise(rounds in sides()) {
            let same: Vec<_> = rounds.iter().map(|&(before, _)| (before, before)).collect();
            prop_assert_ne!(of_paces(&changes(&same), 0.0), ChangeVerdict::Slower);
            prop_assert_eq!(of_paces(&changes(&same), 0.5 + 1e-9), ChangeVerdict::NotSlower);
        }
    }

    #[test]
    fn without_a_pace_nothing_is_known() {
        assert_eq!(of_paces(&[], 1.0), ChangeVerdict::Unknown);
    }

    #[test]
    fn rounds_that_are_apart_are_told_apart() {
        let steady = |middle: f64| pace(vec![middle * 0.99, middle, middle * 1.01]);
        let change = PaceChange::new(2, steady(100.0), steady(90.0));
        assert_eq!(change.verdict(0.05), ChangeVerdict::Slower);
        assert_eq!(
            change.verdict(0.10),
            ChangeVerdict::Unknown,
            "it is somewhere between 9 % and 13 %"
        );
        assert_eq!(change.verdict(0.15), ChangeVerdict::NotSlower);
        // On one number of cores is enough.
        let same = PaceChange::new(1, steady(50.0), steady(50.0));
        assert_eq!(of_paces(&[same, change], 0.05), ChangeVerdict::Slower);
        assert_eq!(of_paces(&[same], 0.05), ChangeVerdict::NotSlower);
    }
}
