//! The points that are to be computed, and which of them go to a process next.
//!
//! # Decisions
//! * **The longest first.** What takes long and comes last has one core work while the others wait.
//! * **A process gets a second's work or more**, as it takes a process a part of a second to begin; and one point if
//!   nobody knows how long it takes. A bundle is at most half of what each process has left, so that the last ones end at
//!   about the same time, and at most half a minute, so that one that is lost costs little.
//! * **A point belongs to the run that missed it first.** Others that miss it wait for it as well.
//! * **What was lost in a bundle goes alone next.** So a point that ends each process that computes it is found.

use std::cmp::{Ordering, Reverse};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use kilocore_points::{Key, Missing};

use crate::RunIndex;
use crate::pace::Pace;

/// The least and the longest work of a process.
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(30);

/// Points that one process computes, all of one run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bundle {
    pub(crate) run: RunIndex,
    /// At least one.
    pub(crate) points: Vec<Missing>,
}

/// What became of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// No process was given it, or one is computing it.
    UnderWay,
    /// It can be read.
    Kept,
    /// It cannot be computed.
    Failed,
}

/// Points that are to be computed.
#[derive(Debug, Default)]
pub(crate) struct WorkList {
    /// What each run has that no process was given, the longest last.
    waiting: BTreeMap<RunIndex, BTreeSet<Ranked>>,
    /// What these come to, of each computation.
    left: HashMap<String, Sum>,
    /// What all come to that were ever missed.
    all: HashMap<String, Sum>,
    states: HashMap<Key, State>,
}

/// What points of a computation come to.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    points: u32,
    cost: f64,
}

/// A point by its cost, the greatest last. Of the same cost, the order is that of the keys.
#[derive(Debug)]
struct Ranked {
    point: Missing,
    /// Whether it is computed alone.
    alone: bool,
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_cost = self.point.cost.total_cmp(&other.point.cost);
        by_cost.then_with(|| other.point.key.cmp(&self.point.key))
    }
}

fn count_out(left: &mut HashMap<String, Sum>, point: &Missing) {
    if let Some(left) = left.get_mut(&point.computation) {
        left.points = left.points.saturating_sub(1);
        left.cost -= point.cost;
    }
}

impl Bundle {
    pub(crate) fn keys(&self) -> BTreeSet<Key> {
        self.points.iter().map(|point| point.key).collect()
    }
}

impl WorkList {
    /// Adds what a run misses. What another run has missed before is not added again. Returns how many points are new.
    pub(crate) fn add(&mut self, run: RunIndex, missing: Vec<Missing>) -> usize {
        let before = self.states.len();
        for point in missing {
            if let Entry::Vacant(state) = self.states.entry(point.key) {
                state.insert(State::UnderWay);
                let all = self.all.entry(point.computation.clone()).or_default();
                all.points += 1;
                all.cost += point.cost;
                self.put(run, Ranked { point, alone: false });
            }
        }
        self.states.len() - before
    }

    /// How long a point takes on one core. If nobody knows, the mean of its computation is taken for long. So one that costs
    /// many times as much as others has no other behind it.
    fn guess(&self, pace: &Pace, point: &Missing) -> Duration {
        pace.of(&point.computation, point.cost).unwrap_or_else(|| {
            let all = self.all.get(&point.computation).copied().unwrap_or_default();
            let ratio = point.cost * f64::from(all.points) / all.cost;
            Duration::try_from_secs_f64(LONGEST.as_secs_f64() * ratio).unwrap_or(LONGEST)
        })
    }

    /// How long a bundle takes on one core, as far as is known.
    pub(crate) fn time_of(&self, pace: &Pace, bundle: &Bundle) -> Duration {
        let each = bundle.points.iter().map(|point| self.guess(pace, point));
        each.fold(Duration::ZERO, Duration::saturating_add)
    }

    fn count_in(&mut self, point: &Missing) {
        let left = self.left.entry(point.computation.clone()).or_default();
        left.points += 1;
        left.cost += point.cost;
    }

    fn put(&mut self, run: RunIndex, ranked: Ranked) {
        self.count_in(&ranked.point);
        self.waiting.entry(run).or_default().insert(ranked);
    }

    /// What became of a point, if it was ever missed.
    pub(crate) fn state(&self, key: &Key) -> Option<State> {
        self.states.get(key).copied()
    }

    /// What a process is to compute next, where so many processes compute at a time.
    pub(crate) fn next(&mut self, pace: &Pace, processes: usize) -> Option<Bundle> {
        let longest = |(run, points): (&RunIndex, &BTreeSet<Ranked>)| {
            let point = &points.last()?.point;
            // Who is not known is computed soon, to be known.
            let length = pace.of(&point.computation, point.cost).unwrap_or(Duration::MAX);
            Some((length, Reverse(*run)))
        };
        let (_, Reverse(run)) = self.waiting.iter().filter_map(longest).max()?;
        let share = self.time_left(pace) / u32::try_from(2 * processes.max(1)).unwrap_or(u32::MAX);
        let most = share.clamp(SHORTEST, LONGEST);
        let waiting = self.waiting.get_mut(&run)?;
        let (mut points, mut length): (Vec<Missing>, _) = (Vec::new(), Duration::ZERO);
        while let Some(Ranked { point, alone }) = waiting.last() {
            let next = pace.of(&point.computation, point.cost).unwrap_or(LONGEST);
            let more = length.saturating_add(next);
            if !points.is_empty() && (*alone || more > most) {
                break;
            }
            let is_alone = *alone;
            length = more;
            points.extend(waiting.pop_last().map(|ranked| ranked.point));
            if is_alone {
                break;
            }
        }
        if waiting.is_empty() {
            self.waiting.remove(&run);
        }
        for point in &points {
            count_out(&mut self.left, point);
        }
        Some(Bundle { run, points })
    }

    /// Those of these points that no process was given, each run's as a bundle. They are given to somebody by that.
    pub(crate) fn take(&mut self, keys: &BTreeSet<Key>) -> Vec<Bundle> {
        let mut bundles = Vec::new();
        for (&run, waiting) in &mut self.waiting {
            let is_taken = |ranked: &Ranked| keys.contains(&ranked.point.key);
            let (taken, left) = std::mem::take(waiting).into_iter().partition(is_taken);
            *waiting = left;
            let taken: BTreeSet<Ranked> = taken;
            let points: Vec<Missing> = taken.into_iter().map(|ranked| ranked.point).collect();
            for point in &points {
                count_out(&mut self.left, point);
            }
            if !points.is_empty() {
                bundles.push(Bundle { run, points });
            }
        }
        self.waiting.retain(|_, points| !points.is_empty());
        bundles
    }

    /// Whether a process was given each point.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// How long one core would take for what no process was given, with a guess of what is not known.
    pub(crate) fn time_guessed(&self, pace: &Pace) -> Duration {
        let of_each = self.left.iter().map(|(computation, left)| {
            pace.of(computation, left.cost.max(0.0)).unwrap_or(LONGEST.saturating_mul(left.points))
        });
        of_each.fold(Duration::ZERO, Duration::saturating_add)
    }

    /// Drops those points of a run that nobody wants and no process was given, and says how many these are. Who misses one
    /// later adds it anew.
    pub(crate) fn drop_unwanted(
        &mut self,
        run: RunIndex,
        is_wanted: impl Fn(&Key) -> bool,
    ) -> usize {
        let Some(points) = self.waiting.remove(&run) else { return 0 };
        let (wanted, unwanted): (BTreeSet<Ranked>, BTreeSet<Ranked>) =
            points.into_iter().partition(|ranked| is_wanted(&ranked.point.key));
        if !wanted.is_empty() {
            self.waiting.insert(run, wanted);
        }
        for Ranked { point, .. } in &unwanted {
            count_out(&mut self.left, point);
            self.states.remove(&point.key);
        }
        unwanted.len()
    }

    /// A point can be read now.
    pub(crate) fn keep(&mut self, key: Key) {
        self.states.insert(key, State::Kept);
    }

    /// A point cannot be computed.
    pub(crate) fn fail(&mut self, key: Key) {
        self.states.insert(key, State::Failed);
    }

    /// A process was lost before it had computed this point. Another process is to try.
    pub(crate) fn give_back(&mut self, run: RunIndex, point: Missing) {
        self.put(run, Ranked { point, alone: true });
    }

    /// A bundle was not computed, and is to be later.
    pub(crate) fn put_back(&mut self, bundle: Bundle) {
        for point in bundle.points {
            self.put(bundle.run, Ranked { point, alone: false });
        }
    }

    /// How long one core would take for what no process was given, as far as that is known.
    pub(crate) fn time_left(&self, pace: &Pace) -> Duration {
        let of_each = self.left.iter();
        let of_each =
            of_each.filter_map(|(computation, left)| pace.of(computation, left.cost.max(0.0)));
        of_each.fold(Duration::ZERO, Duration::saturating_add)
    }
}
