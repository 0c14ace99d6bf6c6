use std::collections::{BTreeMap, BTreeSet, HashMap};

use kilocore_points::{FailedPoint, KeptPoint, Key, Missing, Report};
use proptest::prelude::*;

use super::{State, Task, Tried};
use crate::{Outcome, RunIndex, Share};

fn point(number: u32, cost: f64) -> Missing {
    Missing {
        key: Key::of(&number),
        computation: if number.is_multiple_of(2) { "even" } else { "odd" }.to_owned(),
        cost,
        words: format!("point {number}"),
    }
}

/// Runs and points as they might be: what each run needs in each of its rounds, and what becomes of points.
#[derive(Debug)]
struct World {
    rounds: Vec<Vec<BTreeSet<u32>>>,
    costs: BTreeMap<u32, f64>,
    /// Points that cannot be computed.
    failing: BTreeSet<u32>,
    /// Points that end each process that computes them.
    deadly: BTreeSet<u32>,
    kept: BTreeSet<u32>,
    /// How often a process was given each.
    given: HashMap<u32, u32>,
}

impl World {
    fn number(&self, key: Key) -> u32 {
        *self.costs.keys().find(|number| Key::of(*number) == key).expect("it was missed")
    }

    fn attempt(&self, run: RunIndex) -> Tried {
        for round in &self.rounds[run.0] {
            let missing: Vec<Missing> = round
                .difference(&self.kept)
                .map(|number| point(*number, self.costs[number]))
                .collect();
            if !missing.is_empty() {
                return Tried::Misses(missing);
            }
        }
        Tried::Answered
    }

    /// Computes points one after the other, as a process does.
    fn compute(&mut self, points: &[Missing]) -> Option<Report> {
        let mut report = Report::default();
        for point in points {
            *self.given.entry(self.number(point.key)).or_default() += 1;
        }
        for point in points {
            let number = self.number(point.key);
            if self.deadly.contains(&number) {
                return None;
            }
            if self.failing.contains(&number) {
                report.failed.push(FailedPoint { key: point.key, why: "no such point".into() });
                continue;
            }
            let is_new = self.kept.insert(number);
            let seconds = if is_new { point.cost } else { 0.0 };
            report.kept.push(KeptPoint { key: point.key, seconds });
        }
        Some(report)
    }

    /// Runs all, so many tasks at a time, which end in an order that `pick` says.
    fn sweep(&mut self, processes: usize, pick: impl FnMut(usize) -> usize) -> Outcome {
        self.sweep_share(Share::ALL, processes, pick)
    }

    /// The same, of a part of all points.
    fn sweep_share(
        &mut self,
        share: Share,
        processes: usize,
        mut pick: impl FnMut(usize) -> usize,
    ) -> Outcome {
        let mut state = State::new(self.rounds.len(), 3, share);
        let mut busy: Vec<Task> = Vec::new();
        loop {
            while busy.len() < processes {
                let Some(task) = state.next(processes) else { break };
                busy.push(task);
            }
            if busy.is_empty() {
                return state.outcome(None);
            }
            match busy.swap_remove(pick(busy.len())) {
                Task::Try(run) => state.tried(run, self.attempt(run)),
                Task::Compute(bundle) => {
                    let report = self.compute(&bundle.points);
                    state.computed(bundle, report, "was killed");
                }
            }
            let standing = state.standing(processes);
            assert!(
                standing.points_ended <= standing.points && standing.runs_ended <= standing.runs
            );
        }
    }
}

fn world() -> impl Strategy<Value = World> {
    let points = prop::collection::btree_set(0u32..30, 0..12);
    let rounds = prop::collection::vec(prop::collection::vec(points, 0..3), 1..8);
    let costs = prop::collection::vec(0.0f64..100.0, 30);
    let some = || prop::collection::btree_set(0u32..30, 0..3);
    (rounds, costs, some(), some()).prop_map(|(rounds, costs, failing, deadly)| World {
        rounds,
        costs: (0..).zip(costs).collect(),
        failing,
        deadly,
        kept: BTreeSet::new(),
        given: HashMap::new(),
    })
}

proptest! {
    /// Every run that can be answered is, no point is computed twice unless processes are lost, and what fails names a point of its own.
    #[test]
    fn all_that_can_be_answered_is(mut world in world(), processes in 1usize..5, picks in prop::collection::vec(any::<prop::sample::Index>(), 1..50)) {
        let mut turn = 0;
        let outcome = world.sweep(processes, |among| {
            turn += 1;
            picks[turn % picks.len()].index(among)
        });
        prop_assert!(outcome.left.is_empty());
        if world.deadly.is_empty() {
            prop_assert!(world.given.values().all(|&times| times == 1));
        }
        let bad: BTreeSet<u32> = world.failing.union(&world.deadly).copied().collect();
        for (index, rounds) in world.rounds.iter().enumerate() {
            let run = RunIndex(index);
            let cannot = rounds.iter().flatten().any(|number| bad.contains(number));
            prop_assert_eq!(outcome.done.contains(&run), !cannot);
            if let Some(failed) = outcome.failed.iter().find(|failed| failed.run == run) {
                let named = rounds.iter().flatten().filter(|number| bad.contains(number));
                let mut named = named.map(|number| format!("point {number}: "));
                prop_assert!(named.any(|name| failed.why.starts_with(&name)), "{}", failed.why);
            }
        }
    }
}

#[test]
fn a_deadly_point_takes_no_other_along() {
    let mut world = World {
        rounds: vec![vec![(0..20).collect()], vec![(0..19).collect()]],
        // Before it is known how long points take, each goes alone. So one is made dear that comes first.
        costs: (0..20).map(|number| (number, if number > 17 { 0.01 } else { 1.0 })).collect(),
        failing: BTreeSet::new(),
        deadly: BTreeSet::from([19]),
        kept: BTreeSet::new(),
        given: HashMap::new(),
    };
    let outcome = world.sweep(2, |_| 0);
    assert_eq!(outcome.done, [RunIndex(1)]);
    assert_eq!(outcome.failed.len(), 1);
    let why = &outcome.failed[0].why;
    assert!(why.starts_with("point 19: 3 processes") && why.ends_with("was killed"), "{why}");
    assert_eq!(world.kept, (0..19).collect());
}

#[test]
fn what_only_a_failed_run_wants_is_not_computed() {
    let mut world = World {
        rounds: vec![vec![(0..30).collect()], vec![(20..25).collect()]],
        costs: (0..30).map(|number| (number, if number == 0 { 100.0 } else { 1.0 })).collect(),
        failing: BTreeSet::from([0]),
        deadly: BTreeSet::new(),
        kept: BTreeSet::new(),
        given: HashMap::new(),
    };
    let outcome = world.sweep(1, |_| 0);
    assert_eq!((outcome.done.as_slice(), outcome.failed.len()), (&[RunIndex(1)][..], 1));
    assert_eq!(world.kept, (20..25).collect());
}

#[test]
fn a_run_that_misses_what_is_kept_again_and_again_fails() {
    let mut state = State::new(1, 3, Share::ALL);
    for _ in 0..20 {
        match state.next(1) {
            Some(Task::Try(run)) => state.tried(run, Tried::Misses(vec![point(1, 1.0)])),
            Some(Task::Compute(bundle)) => {
                let kept = vec![KeptPoint { key: bundle.points[0].key, seconds: 1.0 }];
                state.computed(bundle, Some(Report { kept, ..Report::default() }), "well");
            }
            None => break,
        }
    }
    let outcome = state.outcome(None);
    assert!(outcome.failed[0].why.contains("is not found"), "{outcome:?}");
}

#[test]
fn short_points_are_bundled_once_their_length_is_known() {
    let mut world = World {
        rounds: vec![vec![(0..1000).map(|number| 2 * number).collect()]],
        costs: (0..1000).map(|number| (2 * number, 0.001)).collect(),
        failing: BTreeSet::new(),
        deadly: BTreeSet::new(),
        kept: BTreeSet::new(),
        given: HashMap::new(),
    };
    let mut tasks = 0;
    let outcome = world.sweep(2, |_| {
        tasks += 1;
        0
    });
    assert_eq!((outcome.done.len(), outcome.computed), (1, 1000));
    assert!(tasks < 10, "{tasks}");
}

#[test]
fn shares_compute_all_together_and_nothing_twice() {
    let mut world = World {
        rounds: vec![vec![(0..20).collect()], vec![(10..30).collect()], vec![]],
        costs: (0..30).map(|number| (number, 1.0)).collect(),
        failing: BTreeSet::new(),
        deadly: BTreeSet::new(),
        kept: BTreeSet::new(),
        given: HashMap::new(),
    };
    for number in 1..=4 {
        let share = Share::new(number, 4).expect("there are four");
        let before = world.kept.len();
        let outcome = world.sweep_share(share, 2, |_| 0);
        assert!(outcome.failed.is_empty() && world.kept.len() > before, "{outcome:?}");
        assert!(outcome.done.contains(&RunIndex(2)), "it misses nothing");
    }
    assert!(world.given.len() == 30 && world.given.values().all(|&times| times == 1));
    let outcome = world.sweep(1, |_| 0);
    assert_eq!((outcome.computed, outcome.done.len()), (0, 3));
}
