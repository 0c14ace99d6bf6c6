//! Many points at once.

use kilocore_machine::Description;
use kilocore_points::{self as points, Key, PointSource};
use kilocore_sched_policy::{LockAwareOptions, PolicyName};

use crate::sched::locks::algorithm::KernelLock;
use crate::sched::locks::choice::Choice;
use crate::sched::locks::load::Load;
use crate::sched::locks::point::Point;
use crate::sched::locks::run::{Job, LocksError, RunLength, check, simulate};

impl points::Job for Job {
    type Shared = Description;
    type Point = Point;
    type Error = LocksError;

    const COMPUTATION: &'static str = "schedulers and locks";

    fn key(&self) -> Key {
        Key::of(self)
    }

    fn cost(&self) -> f64 {
        let span = self.span();
        f64::from(self.cores) * f64::from(span.warm_up + span.windows)
    }

    fn compute(&self, machine: &Description) -> Result<Point, LocksError> {
        simulate(self, machine)
    }

    fn shared_words(machine: &Description) -> String {
        format!("schedulers and locks on {}", machine.name)
    }

    fn words(&self) -> String {
        let Self { load, lock, policy, cores, .. } = self;
        format!("{}, {lock}, {policy}, {cores} cores", load.name)
    }
}

/// Returns the points of all jobs on `machine`, in the order of the jobs, as [`PointSource::points`] does. `on_done`
/// is called after each job, from any thread.
///
/// # Errors
/// The same as for [`simulate`], before anything is simulated if possible.
///
/// # Panics
/// If a simulated process panics.
pub fn sweep(
    source: &PointSource,
    jobs: &[Job],
    machine: &Description,
    on_done: &(dyn Fn() + Sync),
) -> Result<Vec<Point>, LocksError> {
    for job in jobs {
        check(job, machine)?;
    }
    source.points(machine, jobs, on_done)
}

/// All that is to be compared.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The loads that are compared.
    pub loads: Vec<Load>,
    /// The locks of the kernel.
    pub locks: Vec<KernelLock>,
    /// The policies that are compared, and whether the best fixed number of cores is.
    pub choices: Vec<Choice>,
    /// Numbers of cores, each with as many processes.
    pub cores: Vec<u32>,
    /// By how many per cent what policies see may be wrong, at most 100.
    pub noise: u32,
    /// How much is simulated.
    pub length: RunLength,
}

/// What makes one point of a plan: the best of some jobs.
#[derive(Debug)]
struct Contest {
    name: String,
    jobs: Vec<Job>,
}

impl Plan {
    fn job(&self, load: Load, lock: KernelLock, policy: PolicyName, cores: u32) -> Job {
        let lock_aware = LockAwareOptions::default();
        Job { load, lock, policy, lock_aware, cores, noise: self.noise, length: self.length }
    }

    /// What speed-ups are over: each load on one core with the spin lock and fair scheduling.
    fn bases(&self) -> impl Iterator<Item = Job> {
        let base = |&load: &Load| self.job(load, KernelLock::Spin, PolicyName::Fair, 1);
        self.loads.iter().map(base)
    }

    fn contests(&self) -> Vec<Contest> {
        let mut contests = Vec::new();
        for &load in &self.loads {
            for &lock in &self.locks {
                for &choice in &self.choices {
                    for &cores in &self.cores {
                        let policies = choice.policies(cores).into_iter();
                        let jobs = policies.map(|policy| self.job(load, lock, policy, cores));
                        contests.push(Contest { name: choice.to_string(), jobs: jobs.collect() });
                    }
                }
            }
        }
        contests
    }

    fn jobs(&self, contests: &[Contest]) -> Vec<Job> {
        self.bases().chain(contests.iter().flat_map(|contest| contest.jobs.clone())).collect()
    }

    /// How many simulations there are.
    #[must_use]
    pub fn simulations(&self) -> usize {
        self.jobs(&self.contests()).len()
    }

    /// Simulates all of it, and returns a point for each load, lock, choice and number of cores, in this
    /// order. `on_done` is called after each simulation, from any thread.
    ///
    /// # Errors
    /// The same as for [`simulate`], before anything is simulated if possible.
    ///
    /// # Panics
    /// If a simulated process panics.
    pub fn run(
        &self,
        source: &PointSource,
        machine: &Description,
        on_done: &(dyn Fn() + Sync),
    ) -> Result<Vec<Point>, LocksError> {
        let contests = self.contests();
        let jobs = self.jobs(&contests);
        let points = sweep(source, &jobs, machine, on_done)?;
        let (bases, mut rest) = points.split_at(self.loads.len());
        let mut best = Vec::with_capacity(contests.len());
        for contest in contests {
            let (own, others) = rest.split_at(contest.jobs.len());
            rest = others;
            let base = bases.iter().find(|base| base.load == own[0].load);
            best.push(winner(contest.name, own, base));
        }
        Ok(best)
    }
}

/// The point with the highest throughput, the first of them.
fn winner(name: String, points: &[Point], base: Option<&Point>) -> Point {
    let first = &points[0];
    let best = points
        .iter()
        .fold(first, |best, point| if point.throughput > best.throughput { point } else { best });
    let speedup = base.map(|base| best.throughput / base.throughput);
    Point { policy: name, speedup, ..best.clone() }
}
