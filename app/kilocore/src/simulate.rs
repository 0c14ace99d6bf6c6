//! `kilocore simulate EXPERIMENT`.

mod ldu;
mod lock;
mod lru;
mod numa;
pub(crate) mod pages;
mod sched;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;
use kilocore_published::Parameter;
use kilocore_show::{Assumption, Format, Report, Table};
use serde::Serialize;

use crate::failure::Failure;
use crate::output;

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

/// What was chosen by name, each once; all there is if nothing was.
pub(crate) fn chosen<T: Copy + PartialEq>(names: &[T], all: &[T]) -> Vec<T> {
    let mut chosen = Vec::new();
    for &name in if names.is_empty() { all } else { names } {
        if !chosen.contains(&name) {
            chosen.push(name);
        }
    }
    chosen
}

/// Files to write, each with the format that its ending chooses.
pub(crate) fn formats(files: &[PathBuf]) -> Result<Vec<(&PathBuf, Format)>, Failure> {
    files.iter().map(|path| Ok((path, output::format_of(path)?))).collect()
}

/// Writes results into files, and prints them: the document if that is asked for, else the tables.
pub(crate) fn deliver(
    results: &impl Report,
    files: Vec<(&PathBuf, Format)>,
    document: Option<impl Serialize>,
    tables: impl FnOnce() -> Vec<Table>,
) -> Result<(), Failure> {
    for (path, format) in files {
        output::write(path, &results.render(format)?)?;
    }
    if let Some(document) = document {
        return output::json(&document);
    }
    let width = output::width();
    let tables: Vec<String> = tables().iter().map(|table| table.plain(width)).collect();
    output::print(&tables.join("\n"));
    Ok(())
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
