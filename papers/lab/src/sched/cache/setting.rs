//! What an experiment is run with.

use kilocore_machine::Description;
use kilocore_platform::Nanos;

/// What an experiment is run with.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The simulated machine, as its machine file describes it.
    pub machine: Description,
    /// How many of its hardware threads are used.
    pub cores: u32,
    /// For how long tasks run.
    pub duration: Nanos,
    /// How long policies watch before they decide, each time.
    pub window: Nanos,
    /// The first seed. It orders the tasks, and says where in their iterations they begin.
    pub seed: u64,
    /// By how many per cent what policies see may be wrong, at most 100.
    pub noise: u32,
    /// From how many orders of the tasks each policy starts: its result is the mean over them.
    pub orders: u32,
}

impl Setting {
    /// The machine that is assumed for the thesis: eight cores, two of which share a cache. 20 seconds, by
    /// windows of a tenth, from five orders.
    ///
    /// # Panics
    /// Never: the machine is built in.
    #[must_use]
    pub fn of_the_thesis() -> Self {
        Self::on(kilocore_machine::find("xeon-e5345-2s").expect("it is built in"))
    }

    /// The same on the first eight hardware threads of another machine, or on all if it has fewer.
    #[must_use]
    pub fn on(machine: Description) -> Self {
        Self {
            cores: machine.hardware_threads().min(8),
            machine,
            duration: Nanos(20_000_000_000),
            window: Nanos(100_000_000),
            seed: 1,
            noise: 0,
            orders: 5,
        }
    }
}
