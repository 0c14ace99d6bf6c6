//! `kilocore simulate EXPERIMENT`.

mod ldu;
mod lock;
mod lru;
mod numa;
pub(crate) mod pages;
mod sched;

use std::process::ExitCode;

use clap::Subcommand;
use kilocore_command_line::Failure;
use kilocore_published::Parameter;
use kilocore_show::Assumption;

/// What can be simulated.
#[derive(Debug, Subcommand)]
pub(crate) enum Experiment {
    /// Threads that think, take one of some locks, hold it, and start over
    Lock(lock::Arguments),
    /// Processes that fork and exit on all cores: the figures of the paper on deferred updates
    Ldu(ldu::Arguments),
    /// Processes that write through the page cache on all threads: the paper on FinerLRU
    Lru(lru::Arguments),
    /// Pages that are copied to the memory of who reads them: the paper on the adjustable delay counter
    Numa(numa::Arguments),
    /// Page pools: which free page an allocation gets, and how long it takes to initialize it: the
    /// paper on cache-hot pages
    Pages(pages::Arguments),
    /// Schedulers that see contention for kernel locks: the thesis on the scalability of operating
    /// systems
    Sched(sched::Arguments),
}

pub(crate) fn simulate(experiment: Experiment) -> Result<ExitCode, Failure> {
    match experiment {
        Experiment::Lock(arguments) => lock::lock(&arguments),
        Experiment::Ldu(arguments) => ldu::ldu(&arguments),
        Experiment::Lru(arguments) => lru::lru(&arguments),
        Experiment::Numa(arguments) => numa::numa(&arguments),
        Experiment::Pages(arguments) => pages::pages(&arguments),
        Experiment::Sched(arguments) => sched::sched(&arguments),
    }
}

/// The parameters of an experiment, as a page shows them.
pub(crate) fn assumptions(parameters: Vec<Parameter>) -> Vec<Assumption> {
    let assumption = |parameter: Parameter| Assumption {
        name: parameter.name.to_owned(),
        value: parameter.value,
        source: parameter.source.to_owned(),
    };
    parameters.into_iter().map(assumption).collect()
}
