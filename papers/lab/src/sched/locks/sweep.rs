//! Simulates many points at once, on all cores of the host.

use kilocore_machine::Description;
use kilocore_sched_policy::{LockAwareOptions, PolicyName};
use kilocore_sim::in_parallel;

use crate::sched::locks::algorithm::KernelLock;
use crate::sched::locks::choice::Choice;
use crate::sched::locks::load::Load;
use crate::sched::locks::point::Point;
use crate::sched::locks::run::{Job, LocksError, RunLength, check, simulate};

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
    /// order. Each core of the host takes a simulation whenever it has none; the result does not depend
    /// on which takes which. `on_done` is called after each simulation, from any thread.
    ///
    /// # Errors
    /// The same as for [`simulate`], before anything is simulated if possible.
    ///
    /// # Panics
    /// If a simulated process panics.
    pub fn run(
        &self,
        machine: &Description,
        on_done: &(dyn Fn() + Sync),
    ) -> Result<Vec<Point>, LocksError> {
        let contests = self.contests();
        let jobs = self.jobs(&contests);
        for job in &jobs {
            check(job, machine)?;
        }
        let points = in_parallel(jobs.len(), &|index| simulate(&jobs[index], machine), on_done);
        let points: Vec<Point> = points.into_iter().collect::<Result<_, _>>()?;
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
