//! A sweep on a cluster that is not here: what is handed out and taken in is what a real one does, and time is simulated.
//!
//! The batch system is described by few figures. It starts tasks in the order in which they came, no more of them in a second
//! than it can, each on the core that is free first. Cores fail at any time, with the task that they have.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};
use std::time::{Duration, Instant};

use kilocore_points::{KeptPoint, Key, Missing, Report};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;

use crate::batch::hand_out;
use crate::state::{State, Task, Tried};
use crate::work_list::Bundle;
use crate::{RunIndex, Share};

/// A cluster, as its batch system makes it available. All times are in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClusterOnPaper {
    /// Tasks that can run at a time.
    pub cores: usize,
    /// How long a task waits at least before it begins, from its submission.
    pub wait: f64,
    /// How many tasks the batch system starts in a second.
    pub starts_a_second: f64,
    /// How long a process takes to begin. Each part of a task is one.
    pub process_start: f64,
    /// How often a core fails in an hour.
    pub failures_an_hour: f64,
    /// How often the batch system is asked.
    pub asked_every: f64,
}

/// Points that are to be computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorkOnPaper {
    /// How many there are.
    pub points: u32,
    /// How long they take in the mean, in seconds.
    pub seconds: f64,
    /// How unlike their lengths are: the deviation of the logarithm.
    pub spread: f64,
    /// How far costs are from lengths, as they are known beforehand: the same.
    pub surprise: f64,
}

/// How a sweep went.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Course {
    /// From the first submission to the last point that was taken in, in seconds.
    pub seconds: f64,
    /// What all points take, each once, in seconds of a core.
    pub computing: f64,
    /// What the longest point takes, in seconds.
    pub longest: f64,
    /// What was computed and lost, in seconds of a core.
    pub lost: f64,
    /// Tasks that were submitted.
    pub tasks: usize,
    /// Tasks that were lost.
    pub lost_tasks: usize,
    /// Processes that were started.
    pub processes: usize,
    /// The most tasks that the batch system had at a time.
    pub most_tasks: usize,
    /// Points that were computed, each once.
    pub points: usize,
    /// Points that were given up.
    pub given_up: usize,
    /// What the real coordinator took for it on this host, in seconds: measured.
    pub coordinator: f64,
}

impl Course {
    /// The share of all cores' time that went into points.
    #[must_use]
    pub fn efficiency(&self, cores: usize) -> f64 {
        #[allow(clippy::cast_precision_loss)] // far below 2^53
        let cores = cores as f64;
        self.computing / (self.seconds * cores)
    }
}

/// What became of a simulated task.
struct EndedTask {
    /// Each part, and what its process has reported.
    parts: Vec<(Bundle, Option<Report>)>,
    /// What was not begun.
    left: Vec<Bundle>,
}

/// When something happens, in whole microseconds, so that it can be ordered.
type Micros = u64;

/// Pseudo-random numbers.
struct Random(SplitMix64);

impl Random {
    /// From 0 to 1, without these.
    #[allow(clippy::cast_precision_loss)] // 53 bits are taken
    fn unit(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -self.unit().ln() * mean
    }

    /// Of mean 1, as a logarithm with this deviation.
    fn lognormal(&mut self, deviation: f64) -> f64 {
        let normal = (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos();
        (deviation * normal - deviation * deviation / 2.0).exp()
    }
}

/// A sweep under way.
struct Paper {
    cluster: ClusterOnPaper,
    random: Random,
    lengths: HashMap<Key, f64>,
    kept: HashSet<Key>,
    /// When each core is free.
    free: BinaryHeap<Reverse<Micros>>,
    /// When the batch system can start another task.
    next_start: f64,
    course: Course,
}

/// A task of a sweep takes so long at most, and so many are submitted at a time at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TasksOnPaper {
    /// How many.
    pub most_tasks: usize,
    /// How long.
    pub most_time: Duration,
    /// Of so many tasks a point may be lost.
    pub most_tries: u32,
}

/// Simulates a sweep. The same seed has the same course, apart from what is measured.
#[must_use]
pub fn on_paper(
    cluster: ClusterOnPaper,
    work: WorkOnPaper,
    tasks: TasksOnPaper,
    seed: u64,
) -> Course {
    let mut random = Random(SplitMix64::from_seed(seed.to_le_bytes()));
    let (mut lengths, mut missing) = (HashMap::new(), Vec::new());
    for number in 0..work.points {
        let key = Key::of_bytes(&number.to_le_bytes());
        let length = work.seconds * random.lognormal(work.spread);
        lengths.insert(key, length);
        let cost = length * random.lognormal(work.surprise);
        missing.push(Missing { key, computation: "point".to_owned(), cost, words: String::new() });
    }
    let mut paper = Paper {
        cluster,
        random,
        course: Course {
            computing: lengths.values().sum(),
            longest: lengths.values().copied().fold(0.0, f64::max),
            ..Course::default()
        },
        lengths,
        kept: HashSet::new(),
        free: (0..cluster.cores).map(|_| Reverse(0)).collect(),
        next_start: 0.0,
    };
    paper.run(missing, tasks);
    paper.course
}

impl Paper {
    fn run(&mut self, missing: Vec<Missing>, tasks: TasksOnPaper) {
        let mut coordinator = Duration::ZERO;
        let mut timed = |begun: Instant| coordinator += begun.elapsed();
        let mut state = State::new(1, tasks.most_tries, Share::ALL);
        let begun = Instant::now();
        state.next_try();
        state.tried(RunIndex(0), Tried::Misses(missing));
        timed(begun);
        // Tasks that run or wait, the one that ends first first.
        let mut outstanding: BinaryHeap<Reverse<(Micros, usize)>> = BinaryHeap::new();
        let mut ended: HashMap<usize, EndedTask> = HashMap::new();
        let mut now = 0.0;
        loop {
            while let Some(&Reverse((at, task))) = outstanding.peek()
                && at <= micros(now)
            {
                outstanding.pop();
                let begun = Instant::now();
                take_in(&mut state, ended.remove(&task));
                timed(begun);
            }
            let room = tasks.most_tasks.saturating_sub(outstanding.len());
            let begun = Instant::now();
            let submitted = hand_out(&mut state, room, tasks.most_tasks, tasks.most_time);
            timed(begun);
            for bundles in submitted {
                let (at, task) = self.execute(bundles, now, tasks.most_time);
                outstanding.push(Reverse((micros(at), self.course.tasks)));
                ended.insert(self.course.tasks, task);
                self.course.tasks += 1;
            }
            self.course.most_tasks = self.course.most_tasks.max(outstanding.len());
            if outstanding.is_empty() {
                break;
            }
            now += self.cluster.asked_every;
        }
        let standing = state.standing(1);
        self.course.seconds = now;
        self.course.points = self.kept.len();
        self.course.given_up = standing.points - self.kept.len();
        self.course.coordinator = coordinator.as_secs_f64();
    }

    /// Runs a task that is submitted now. Returns when it is known to have ended, and how.
    fn execute(&mut self, bundles: Vec<Bundle>, now: f64, most_time: Duration) -> (f64, EndedTask) {
        let Reverse(free) = self.free.pop().unwrap_or(Reverse(0));
        let begin = (now + self.cluster.wait).max(seconds(free)).max(self.next_start);
        self.next_start = begin.max(self.next_start) + 1.0 / self.cluster.starts_a_second;
        let failure = match self.cluster.failures_an_hour > 0.0 {
            true => self.random.exponential(3600.0 / self.cluster.failures_an_hour),
            false => f64::INFINITY,
        };
        let mut task = EndedTask { parts: Vec::new(), left: Vec::new() };
        let (mut time, mut is_lost) = (0.0, false);
        let mut bundles = VecDeque::from(bundles);
        while let Some(bundle) = bundles.pop_front() {
            if time >= most_time.as_secs_f64() {
                bundles.push_front(bundle);
                break;
            }
            self.course.processes += 1;
            time += self.cluster.process_start;
            let mut report = Report::default();
            for point in &bundle.points {
                let is_kept = self.kept.contains(&point.key);
                let length = if is_kept { 0.0 } else { self.lengths[&point.key] };
                if time + length > failure {
                    // What was written until a second before is kept; the point that was under way is not.
                    self.course.lost += failure - time;
                    is_lost = true;
                    break;
                }
                time += length;
                self.kept.insert(point.key);
                report.kept.push(KeptPoint { key: point.key, seconds: length });
            }
            task.parts.push((bundle, (!is_lost).then_some(report)));
            if is_lost {
                time = failure;
                break;
            }
        }
        task.left = bundles.into();
        self.free.push(Reverse(micros(begin + time)));
        // One that is gone is noticed when it was not there twice.
        let noticed = if is_lost { 2.0 * self.cluster.asked_every } else { 0.0 };
        self.course.lost_tasks += usize::from(is_lost);
        (begin + time + noticed, task)
    }
}

fn take_in(state: &mut State, task: Option<EndedTask>) {
    let Some(EndedTask { parts, left }) = task else { return };
    for (bundle, report) in parts {
        state.computed(bundle, report, "was lost");
    }
    left.into_iter().for_each(|bundle| state.put_back(Task::Compute(bundle)));
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // no time is below 0
fn micros(seconds: f64) -> Micros {
    (seconds * 1e6) as Micros
}

#[allow(clippy::cast_precision_loss)] // a century has fewer than 2^53 microseconds
fn seconds(micros: Micros) -> f64 {
    micros as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{ClusterOnPaper, TasksOnPaper, WorkOnPaper, on_paper};

    const CLUSTER: ClusterOnPaper = ClusterOnPaper {
        cores: 50,
        wait: 5.0,
        starts_a_second: 20.0,
        process_start: 0.2,
        failures_an_hour: 0.0,
        asked_every: 5.0,
    };
    const WORK: WorkOnPaper =
        WorkOnPaper { points: 5000, seconds: 20.0, spread: 1.0, surprise: 0.3 };
    const TASKS: TasksOnPaper =
        TasksOnPaper { most_tasks: 100, most_time: Duration::from_mins(10), most_tries: 3 };

    #[test]
    fn a_good_cluster_is_used_well_and_a_bad_one_loses_no_point() {
        let good = on_paper(CLUSTER, WORK, TASKS, 1);
        assert_eq!((good.points, good.given_up, good.lost_tasks), (5000, 0, 0));
        assert!((0.7..1.0).contains(&good.efficiency(50)), "{good:?}");
        let bad = ClusterOnPaper { failures_an_hour: 2.0, ..CLUSTER };
        let bad = on_paper(bad, WORK, TasksOnPaper { most_tries: 10, ..TASKS }, 1);
        assert_eq!((bad.points, bad.given_up), (5000, 0));
        assert!(bad.lost_tasks > 10 && bad.lost > 0.0 && bad.seconds > good.seconds, "{bad:?}");
    }

    #[test]
    fn a_seed_has_one_course() {
        let course = |seed| {
            let course = on_paper(CLUSTER, WORK, TASKS, seed);
            (course.seconds, course.tasks, course.processes)
        };
        assert_eq!(course(7), course(7));
        assert_ne!(course(7), course(8));
    }

    #[test]
    fn one_core_computes_what_there_is() {
        let cluster = ClusterOnPaper { cores: 1, wait: 0.0, ..CLUSTER };
        let work = WorkOnPaper { points: 100, ..WORK };
        let course = on_paper(cluster, work, TASKS, 3);
        assert!(
            course.seconds >= course.computing && course.seconds < 1.2 * course.computing + 60.0,
            "{course:?}"
        );
    }
}
