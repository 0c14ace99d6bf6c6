//! A workload made of a profile beside the true one, both simulated.

use kilocore_forecast::{PointJob, RunSize, TODAY, TriedLock, Workload};
use kilocore_locks::LockId;
use kilocore_machine::Description;
use kilocore_points::PointSource;

/// Where forecasts and truth are compared.
pub(crate) const CORES: [u32; 6] = [1, 2, 6, 12, 24, 48];
/// Locks whose gains over [`TODAY`] are compared on the most cores.
pub(crate) const TRIED: [LockId; 4] = [LockId::Mcs, LockId::Tas, LockId::CBoMcs, LockId::McsPark];
/// A gain or loss of this share matters.
const MATTERS: f64 = 0.1;
/// Simulated sections of each point.
const SIMULATED: u64 = 8_000;

/// What is true and what is said.
pub(crate) struct Compared {
    /// Throughput under today's lock on each of [`CORES`], in sections a second: true and said.
    pub(crate) rates: Vec<[f64; 2]>,
    /// What each of [`TRIED`] gains on the most cores: true and said.
    pub(crate) gains: Vec<[f64; 2]>,
}

impl Compared {
    pub(crate) fn new(truth: &Workload, said: &Workload, machine: &Description) -> Self {
        let [truth, said] = [truth, said].map(|workload| rates(workload, machine));
        let both = |(truth, said): (f64, f64)| [truth, said];
        let all: Vec<[f64; 2]> = truth.into_iter().zip(said).map(both).collect();
        let (rates, tried) = all.split_at(CORES.len());
        let [today_truly, today_said] = rates[CORES.len() - 1];
        let gain = |[truth, said]: &[f64; 2]| [truth / today_truly, said / today_said];
        Self { rates: rates.to_vec(), gains: tried.iter().map(gain).collect() }
    }

    /// Errors of throughput.
    pub(crate) fn errors(&self) -> impl Iterator<Item = f64> {
        self.rates.iter().map(|[truth, said]| (said / truth - 1.0).abs())
    }

    /// For each lock that truly gains or loses as much as matters: whether it gains, and whether that is said.
    pub(crate) fn signs(&self) -> impl Iterator<Item = [bool; 2]> {
        let matters = self.gains.iter().filter(|[truth, _]| (truth - 1.0).abs() >= MATTERS);
        matters.map(|gains| gains.map(|gain| gain > 1.0))
    }
}

/// Throughput under today's lock on all numbers of cores, and then under each other lock on the most.
fn rates(workload: &Workload, machine: &Description) -> Vec<f64> {
    let size = RunSize { sections: SIMULATED, ..RunSize::default() };
    let job = |lock, cores| PointJob { workload, lock: TriedLock::Mutex(lock), cores, size };
    let today = CORES.map(|cores| job(TODAY, cores));
    let tried = TRIED.map(|lock| job(lock, CORES[CORES.len() - 1]));
    let points = PointSource::unkept().points(machine, &[&today[..], &tried[..]].concat(), &|| {});
    let points = points.expect("the machine has the cores");
    points.iter().map(|point| point.throughput_per_s).collect()
}
