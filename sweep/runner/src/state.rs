//! What each run of a sweep waits for, and what is to be done next.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::time::Duration;

use kilocore_points::{Key, Missing, Report};

use crate::pace::Pace;
use crate::share::Share;
use crate::work_list::{Bundle, State as PointState, WorkList};
use crate::{FailedRun, Outcome, RunIndex, Standing};

/// What a process is to do.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Task {
    /// Run the command for its answer.
    Try(RunIndex),
    /// Run the command for some of its points.
    Compute(Bundle),
}

impl Task {
    /// The run whose command it is.
    pub(crate) fn run(&self) -> RunIndex {
        match self {
            Self::Try(run) => *run,
            Self::Compute(bundle) => bundle.run,
        }
    }
}

/// What came of a try.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tried {
    /// The answer is there.
    Answered,
    /// It misses points. At least one.
    Misses(Vec<Missing>),
    /// There is no answer, and why.
    Failed(String),
}

/// A run that misses nothing new so often has points that are lost.
const MOST_VAIN_TRIES: u32 = 3;

#[derive(Debug, Clone, PartialEq, Eq)]
enum RunState {
    /// It is to be tried, or it is tried.
    Open,
    /// So many points are missing.
    Waits {
        left: usize,
    },
    /// It misses only points that other sweeps compute.
    Elsewhere,
    Answered,
    Failed(String),
}

/// The runs of a sweep.
#[derive(Debug)]
pub(crate) struct State {
    runs: Vec<RunState>,
    to_try: VecDeque<RunIndex>,
    list: WorkList,
    pace: Pace,
    /// The runs that wait for a point.
    waiting: HashMap<Key, Vec<RunIndex>>,
    /// How often a process was lost that had a point to compute.
    losses: HashMap<Key, u32>,
    /// Why points cannot be computed.
    reasons: HashMap<Key, String>,
    /// How often a run missed only what is kept.
    vain_tries: HashMap<RunIndex, u32>,
    /// Of how many processes a point may be lost.
    most_tries: u32,
    /// The points that are computed.
    share: Share,
    points: usize,
    points_ended: usize,
    computed: usize,
    runs_ended: usize,
}

impl State {
    pub(crate) fn new(runs: usize, most_tries: u32, share: Share) -> Self {
        Self {
            runs: vec![RunState::Open; runs],
            to_try: (0..runs).map(RunIndex).collect(),
            list: WorkList::default(),
            pace: Pace::default(),
            waiting: HashMap::new(),
            losses: HashMap::new(),
            reasons: HashMap::new(),
            vain_tries: HashMap::new(),
            most_tries,
            share,
            points: 0,
            points_ended: 0,
            computed: 0,
            runs_ended: 0,
        }
    }

    /// What a process is to do now. Tries come first: they say what else is to be done.
    pub(crate) fn next(&mut self, processes: usize) -> Option<Task> {
        self.next_try().or_else(|| self.next_bundle(processes).map(Task::Compute))
    }

    /// The run that is to be tried now.
    pub(crate) fn next_try(&mut self) -> Option<Task> {
        self.to_try.pop_front().map(Task::Try)
    }

    /// What is to be computed next, where so many processes compute at a time.
    pub(crate) fn next_bundle(&mut self, processes: usize) -> Option<Bundle> {
        self.list.next(&self.pace, processes)
    }

    /// Whether some run is to be tried.
    pub(crate) fn has_tries(&self) -> bool {
        !self.to_try.is_empty()
    }

    /// Whether some points are to be computed that nobody was given.
    pub(crate) fn has_points(&self) -> bool {
        !self.list.is_empty()
    }

    /// Those of these points that are to be computed and that nobody was given. They are given to somebody by that.
    pub(crate) fn take(&mut self, keys: &BTreeSet<Key>) -> Vec<Bundle> {
        self.list.take(keys)
    }

    /// How long one core would take for all that is to be computed and that nobody was given.
    pub(crate) fn time_guessed(&self) -> Duration {
        self.list.time_guessed(&self.pace)
    }

    /// How long one core would take for a bundle.
    pub(crate) fn time_of(&self, bundle: &Bundle) -> Duration {
        self.list.time_of(&self.pace, bundle)
    }

    /// A task was not done, and is to be done later.
    pub(crate) fn put_back(&mut self, task: Task) {
        match task {
            Task::Try(run) => self.to_try.push_front(run),
            Task::Compute(bundle) => self.list.put_back(bundle),
        }
    }

    /// What came of a try.
    pub(crate) fn tried(&mut self, run: RunIndex, tried: Tried) {
        match tried {
            Tried::Answered => self.end(run, RunState::Answered),
            Tried::Failed(why) => self.end(run, RunState::Failed(why)),
            Tried::Misses(missing) => self.wait(run, missing),
        }
    }

    fn end(&mut self, run: RunIndex, state: RunState) {
        self.runs[run.0] = state;
        self.runs_ended += 1;
        // What only a run wants that has failed is computed for nobody.
        let (waiting, runs) = (&self.waiting, &self.runs);
        let is_wanted = |key: &Key| {
            let mut who = waiting.get(key).into_iter().flatten();
            who.any(|other| matches!(runs[other.0], RunState::Waits { .. }))
        };
        self.points_ended += self.list.drop_unwanted(run, is_wanted);
    }

    fn wait(&mut self, run: RunIndex, mut missing: Vec<Missing>) {
        let failed = |point: &&Missing| self.list.state(&point.key) == Some(PointState::Failed);
        if let Some(point) = missing.iter().find(failed) {
            let why = self.why_failed(&point.key);
            return self.end(run, RunState::Failed(why));
        }
        missing.retain(|point| self.share.has(&point.key));
        if missing.is_empty() {
            return self.end(run, RunState::Elsewhere);
        }
        let first = missing.first().map(|point| point.words.clone()).unwrap_or_default();
        let keys: HashSet<Key> = missing.iter().map(|point| point.key).collect();
        self.points += self.list.add(run, missing);
        // Another process may have kept some since this one has looked.
        let open = |key: &&Key| self.list.state(key) != Some(PointState::Kept);
        let open: Vec<Key> = keys.iter().filter(open).copied().collect();
        if open.is_empty() {
            let tries = self.vain_tries.entry(run).or_default();
            *tries += 1;
            if *tries >= MOST_VAIN_TRIES {
                let why = format!("{first}: it was computed, and is not found; is the disk full?");
                return self.end(run, RunState::Failed(why));
            }
            return self.to_try.push_back(run);
        }
        self.runs[run.0] = RunState::Waits { left: open.len() };
        for key in open {
            self.waiting.entry(key).or_default().push(run);
        }
    }

    fn why_failed(&self, key: &Key) -> String {
        self.reasons.get(key).cloned().unwrap_or_else(|| "a point cannot be computed".to_owned())
    }

    /// What came of a bundle: what its process has reported, and how it ended.
    pub(crate) fn computed(&mut self, bundle: Bundle, report: Option<Report>, ended: &str) {
        let Report { kept, failed, .. } = report.unwrap_or_default();
        let kept: HashMap<Key, f64> = kept.iter().map(|point| (point.key, point.seconds)).collect();
        let failed: HashMap<Key, String> =
            failed.into_iter().map(|point| (point.key, point.why)).collect();
        for point in bundle.points {
            if let Some(&seconds) = kept.get(&point.key) {
                if let Ok(took) = Duration::try_from_secs_f64(seconds)
                    && !took.is_zero()
                {
                    self.pace.learn(&point.computation, point.cost, took);
                    self.computed += 1;
                }
                self.list.keep(point.key);
                self.settle(&point.key);
            } else if let Some(why) = failed.get(&point.key) {
                self.fail(&point, format!("{}: {why}", point.words));
            } else {
                let losses = self.losses.entry(point.key).or_default();
                *losses += 1;
                if *losses >= self.most_tries {
                    let why = format!(
                        "{}: {losses} processes have not computed it; the last one {ended}",
                        point.words
                    );
                    self.fail(&point, why);
                } else {
                    self.list.give_back(bundle.run, point);
                }
            }
        }
    }

    fn fail(&mut self, point: &Missing, why: String) {
        self.list.fail(point.key);
        self.reasons.insert(point.key, why);
        self.settle(&point.key);
    }

    /// Nobody needs to wait for a point any more.
    fn settle(&mut self, key: &Key) {
        self.points_ended += 1;
        let failed = self.list.state(key) == Some(PointState::Failed);
        for run in self.waiting.remove(key).unwrap_or_default() {
            let RunState::Waits { left } = &mut self.runs[run.0] else { continue };
            *left -= 1;
            let is_ready = *left == 0;
            if failed {
                let why = self.why_failed(key);
                self.end(run, RunState::Failed(why));
            } else if is_ready {
                self.runs[run.0] = RunState::Open;
                self.to_try.push_back(run);
            }
        }
    }

    pub(crate) fn standing(&self, processes: usize) -> Standing {
        let left = self.list.time_left(&self.pace);
        let is_known = self.computed > 0;
        Standing {
            runs_ended: self.runs_ended,
            runs: self.runs.len(),
            points_ended: self.points_ended,
            points: self.points,
            batch: None,
            time_left: is_known.then(|| left / u32::try_from(processes.max(1)).unwrap_or(u32::MAX)),
        }
    }

    pub(crate) fn outcome(self, told_by: Option<i32>) -> Outcome {
        let mut outcome = Outcome { computed: self.computed, told_by, ..Outcome::default() };
        for (index, state) in self.runs.into_iter().enumerate() {
            let run = RunIndex(index);
            match state {
                RunState::Answered => outcome.done.push(run),
                RunState::Failed(why) => outcome.failed.push(FailedRun { run, why }),
                RunState::Open | RunState::Waits { .. } | RunState::Elsewhere => {
                    outcome.left.push(run);
                }
            }
        }
        outcome
    }
}

#[cfg(test)]
mod tests;
