//! What a simulation says afterwards.

use kilocore_machine::Power;
use kilocore_platform::Cycles;

/// What a core does for a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Activity {
    /// Computing, and hitting its cache.
    Working,
    /// Waiting for a cache line to arrive.
    Stalled,
    /// Spinning on a line.
    Spinning,
    /// In a low-power wait on a line.
    LowPower,
    /// In the operating system: system calls and context switches.
    System,
}

impl Activity {
    /// All of them, in the order of [`TaskTimes`].
    pub const ALL: [Activity; 5] = [
        Activity::Working,
        Activity::Stalled,
        Activity::Spinning,
        Activity::LowPower,
        Activity::System,
    ];
}

/// How long cores did what, for one task or for several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TaskTimes([Cycles; 5]);

impl TaskTimes {
    /// The time spent on one activity.
    #[must_use]
    pub fn of(&self, activity: Activity) -> Cycles {
        self.0[activity as usize]
    }

    /// The time on a core.
    #[must_use]
    pub fn total(&self) -> Cycles {
        self.0.iter().fold(Cycles(0), |sum, &time| sum + time)
    }

    #[inline]
    pub(crate) fn add(&mut self, activity: Activity, time: Cycles) {
        self.0[activity as usize] += time;
    }

    /// Takes away what has been charged for in advance, which is mostly computing.
    pub(crate) fn defer(&mut self, ahead: Cycles) {
        let working = &mut self.0[Activity::Working as usize];
        *working = working.since(ahead);
    }

    /// What has been added since an earlier time of the same task.
    #[must_use]
    pub fn since(&self, earlier: &TaskTimes) -> TaskTimes {
        Self(std::array::from_fn(|activity| self.0[activity].since(earlier.0[activity])))
    }

    /// Adds the times of another task, or those of the same task later on.
    pub fn merge(&mut self, other: &TaskTimes) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine += theirs;
        }
    }
}

/// Traffic of one cache line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineTraffic {
    /// The line's number, in the order of first touch.
    pub line: u32,
    /// How often a cache had to ask for it.
    pub transfers: u64,
    /// How long those requests waited for their turn, all together.
    pub queued: Cycles,
}

/// The result of a simulation.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// When the last task ended.
    pub end: Cycles,
    /// Cores that tasks could run on.
    pub cores: usize,
    /// Sockets that those cores are in.
    pub sockets: usize,
    /// Times of each task, in the order in which they were spawned.
    pub tasks: Vec<TaskTimes>,
    /// The lines with the most transfers, at most 16, the busiest first.
    pub lines: Vec<LineTraffic>,
    /// How many memory operations were simulated.
    pub operations: u64,
    /// Clock of the machine in GHz.
    pub clock_ghz: f64,
}

impl Outcome {
    /// Times of all tasks together.
    #[must_use]
    pub fn times(&self) -> TaskTimes {
        let mut all = TaskTimes::default();
        for task in &self.tasks {
            all.merge(task);
        }
        all
    }

    /// The energy in joules that the sockets in use took until the end.
    #[must_use]
    pub fn energy_joules(&self, power: &Power) -> f64 {
        energy_joules(&self.times(), self.end, self.cores, self.sockets, self.clock_ghz, power)
    }
}

/// The energy in joules that `cores` cores on `sockets` sockets take in a span. They spend `times`
/// on tasks and are idle for the rest.
pub(crate) fn energy_joules(
    times: &TaskTimes,
    span: Cycles,
    cores: usize,
    sockets: usize,
    clock_ghz: f64,
    power: &Power,
) -> f64 {
    let seconds = |time: Cycles| time.0 as f64 / (clock_ghz * 1e9);
    let idle = (span * cores as u64).since(times.total());
    let on_cores: f64 = Activity::ALL
        .iter()
        .map(|&activity| {
            let watts = match activity {
                Activity::Working | Activity::Stalled | Activity::System => power.active_w.value,
                Activity::Spinning => power.spin_w.value,
                Activity::LowPower => power.low_power_w.value,
            };
            seconds(times.of(activity)) * watts
        })
        .sum();
    on_cores
        + seconds(idle) * power.idle_w.value
        + seconds(span) * power.socket_w.value * sockets as f64
}
