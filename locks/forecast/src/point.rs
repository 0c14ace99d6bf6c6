//! One point of a curve.

use std::collections::BTreeSet;

use kilocore_machine::{Description, HardwareThread};
use kilocore_points::Name;
use kilocore_sim::{Activity, Outcome};
use serde::{Deserialize, Serialize};

use crate::progress::Progress;
use crate::tried_lock::read_lock_name;

/// One point of a curve: the result of a simulation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The name of the lock that the curve is of.
    #[serde(deserialize_with = "read_lock_name")]
    pub lock: Name,
    /// How many cores there are.
    pub cores: u32,
    /// How many threads run on them.
    pub threads: u32,
    /// Outermost sections finished per second of simulated time.
    pub throughput_per_s: f64,
    /// Half the width of the 95 % confidence interval of the throughput. It covers only the chance
    /// within the simulation.
    pub throughput_error_per_s: f64,
    /// Share of the threads' time between asking for a lock and holding it.
    pub wait_share: f64,
    /// Share of the threads' time inside the operations of each lock of the workload, or of each
    /// group of locks that are used alike. The operations are waiting, acquiring and releasing.
    pub lock_share_by_lock: Vec<f64>,
    /// Energy for each outermost section, including everything that the sockets in use consume.
    pub joules_per_op: f64,
    /// Share of the cores' time spent computing.
    pub working_share: f64,
    /// Share of the cores' time spent waiting for cache lines.
    pub stalled_share: f64,
    /// Share of the cores' time spent spinning.
    pub spinning_share: f64,
    /// Share of the cores' time spent in low-power waits.
    pub low_power_share: f64,
    /// Share of the cores' time spent in the operating system.
    pub system_share: f64,
    /// The rest of the cores' time, in which they had nothing to run.
    pub idle_share: f64,
    /// Sections of the thread that finished the fewest, as a share of the mean.
    pub fairness: f64,
}

impl Point {
    /// Computes the point from a finished simulation.
    pub(crate) fn new(
        lock: &'static str,
        machine: &Description,
        cores: u32,
        outcome: &Outcome,
        progress: &Progress,
    ) -> Self {
        let capacity = outcome.end.0 as f64 * outcome.cores as f64;
        let times = outcome.times();
        let share = |activity| times.of(activity).0 as f64 / capacity;
        let threads = outcome.tasks.len() as u32;
        let threads_time = outcome.end.0 as f64 * f64::from(threads);
        let in_locks = progress.in_locks.borrow();
        let (throughput, error) = progress.throughput(outcome.clock_ghz);
        let finished = progress.finished().max(1.0);
        let counts = progress.by_thread.borrow();
        let fewest = counts.iter().copied().reduce(f64::min).unwrap_or(0.0);
        Self {
            lock,
            cores,
            threads,
            throughput_per_s: throughput,
            throughput_error_per_s: error,
            wait_share: progress.waited.get() as f64 / threads_time,
            lock_share_by_lock: in_locks.iter().map(|&spent| spent as f64 / threads_time).collect(),
            joules_per_op: outcome.energy_joules(&machine.power) / finished,
            working_share: share(Activity::Working),
            stalled_share: share(Activity::Stalled),
            spinning_share: share(Activity::Spinning),
            low_power_share: share(Activity::LowPower),
            system_share: share(Activity::System),
            idle_share: (1.0 - times.total().0 as f64 / capacity).max(0.0),
            fairness: fewest * f64::from(threads) / finished,
        }
    }
}

impl Point {
    /// The same point with `cycles` more for each section. In these cycles one core computes and
    /// the others have nothing to do.
    ///
    /// Serial parts are few, and long compared with sections. What happens at their ends is
    /// negligible, so their time is simply added to that of the rest.
    pub(crate) fn with_serial(self, cycles: f64, machine: &Description) -> Self {
        self.with_more(cycles, 1.0, machine)
    }

    /// The same point with `cycles` more for each section. In these cycles, all cores are idle.
    pub(crate) fn with_idle(self, cycles: f64, machine: &Description) -> Self {
        self.with_more(cycles, 0.0, machine)
    }

    /// The same point with `cycles` more for each section. In these cycles, `busy` cores compute.
    fn with_more(mut self, cycles: f64, busy: f64, machine: &Description) -> Self {
        if cycles <= 0.0 {
            return self;
        }
        let seconds = cycles / (machine.clock_ghz.value * 1e9);
        let before = 1.0 / (1.0 + seconds * self.throughput_per_s);
        self.throughput_per_s *= before;
        self.throughput_error_per_s *= before * before;
        for share in self.lock_share_by_lock.iter_mut().chain([
            &mut self.wait_share,
            &mut self.working_share,
            &mut self.stalled_share,
            &mut self.spinning_share,
            &mut self.low_power_share,
            &mut self.system_share,
            &mut self.idle_share,
        ]) {
            *share *= before;
        }
        let cores = f64::from(self.cores);
        self.working_share += (1.0 - before) * busy / cores;
        self.idle_share += (1.0 - before) * (cores - busy) / cores;
        let socket = |core| machine.location(HardwareThread(core)).socket;
        let sockets = (0..self.cores).map(socket).collect::<BTreeSet<_>>().len();
        let power = &machine.power;
        let watts = power.active_w.value * busy
            + power.idle_w.value * (cores - busy)
            + power.socket_w.value * sockets as f64;
        self.joules_per_op += seconds * watts;
        self
    }
}

#[cfg(test)]
impl Point {
    /// A point without figures, to which they are added.
    pub(crate) fn empty(lock: &'static str) -> Self {
        Self {
            lock,
            cores: 1,
            threads: 1,
            throughput_per_s: 0.0,
            throughput_error_per_s: 0.0,
            wait_share: 0.0,
            lock_share_by_lock: Vec::new(),
            joules_per_op: 0.0,
            working_share: 0.0,
            stalled_share: 0.0,
            spinning_share: 0.0,
            low_power_share: 0.0,
            system_share: 0.0,
            idle_share: 0.0,
            fairness: 0.0,
        }
    }
}
