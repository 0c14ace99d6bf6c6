//! Forecasting every profile for every machine.

use std::collections::BTreeSet;
use std::path::Path;

use kilocore_forecast::{
    Extent, Forecast, Profiled, Question, RunSize, TODAY, forecast_profiled, from_profile,
};
use kilocore_lock_profile::Profile;
use kilocore_locks::LockId;
use kilocore_machine::Description;
use kilocore_points::PointSource;

use super::{Comparison, Entry, Error, ReadWrite, read_index};
use crate::data::{DataSet, Program};
use crate::published::PublishedGains;

/// Sections simulated for each point: for about 2 % of chance in its throughput.
const SECTIONS: u64 = 4_000;

/// An entry on a machine, with the programs measured there that it stands for.
struct Task<'a> {
    entry: &'a Entry,
    set: &'a DataSet,
    machine: Description,
    programs: Vec<&'a Program>,
}

impl Task<'_> {
    fn question<'a>(&'a self, source: &'a PointSource, seed: u64) -> Question<'a> {
        let per_node = self.set.machine.cores_per_node;
        let programs = || self.programs.iter();
        // Numbers of nodes that any of the programs was measured on.
        let nodes: BTreeSet<u32> = programs().flat_map(|p| p.nodes_under(TODAY)).collect();
        let locks: BTreeSet<LockId> =
            programs().flat_map(|p| p.measured_as(TODAY)).map(|(lock, _)| lock).collect();
        Question {
            machine: &self.machine,
            cores: nodes.into_iter().map(|nodes| nodes * per_node).collect(),
            locks: locks.into_iter().collect(),
            rw_locks: Vec::new(),
            size: RunSize { sections: SECTIONS, seed, ..RunSize::default() },
            extent: Extent::Every,
            source,
        }
    }
}

/// Every profile on every machine that programs it stands for were measured on.
fn tasks<'a>(entries: &'a [Entry], sets: &'a [DataSet]) -> Result<Vec<Task<'a>>, Error> {
    let mut tasks = Vec::new();
    for entry in entries {
        for set in sets {
            let programs: Vec<&Program> =
                entry.programs.iter().filter_map(|name| set.program(name)).collect();
            if !programs.is_empty() {
                let file = set.machine.description;
                let machine = kilocore_machine::find(file);
                let machine = machine.map_err(|e| Error::new(Path::new(file), e))?;
                tasks.push(Task { entry, set, machine, programs });
            }
        }
    }
    Ok(tasks)
}

/// How many simulations [`compare`] will run: what a progress bar counts to.
///
/// # Errors
/// As [`compare`].
pub fn simulations(profiles: &Path, sets: &[DataSet]) -> Result<usize, Error> {
    let entries = read_index(profiles)?;
    Ok(tasks(&entries, sets)?
        .iter()
        .map(|task| task.question(PointSource::unkept(), 0).simulations())
        .sum())
}

/// Forecasts every profile of a folder for every machine that programs it stands for were measured
/// on, and compares.
///
/// `progress` is called after each simulation, from any thread.
///
/// # Errors
/// [`struct@Error`] if a file is missing or malformed, or a profile holds no locks.
pub fn compare(
    profiles: &Path,
    sets: &[DataSet],
    source: &PointSource,
    seed: u64,
    progress: &(dyn Fn() + Sync),
) -> Result<Vec<Comparison>, Error> {
    let entries = read_index(profiles)?;
    let published = PublishedGains::of(sets);
    let mut comparisons = Vec::new();
    let tasks = tasks(&entries, sets)?;
    let forecast =
        |task: &Task<'_>| forecast(profiles, task, &task.question(source, seed), progress);
    // All are asked for before any is needed, so that other processes can be given them all at once.
    let forecasts: Vec<_> = tasks.iter().map(forecast).collect();
    for (task, forecast) in tasks.iter().zip(forecasts) {
        let forecast = forecast?;
        let machine = task.set.machine;
        let compare =
            |program| Comparison::new(task.entry, machine, program, &forecast, &published);
        comparisons.extend(task.programs.iter().copied().filter_map(compare));
    }
    Ok(comparisons)
}

fn forecast(
    profiles: &Path,
    task: &Task<'_>,
    question: &Question<'_>,
    progress: &(dyn Fn() + Sync),
) -> Result<Forecast, Error> {
    let path = profiles.join(&task.entry.name).with_extension("json");
    let profile = Profile::read(&path).map_err(|e| Error::new(&path, e))?;
    let mut profiled: Profiled = from_profile(&profile).map_err(|e| Error::new(&path, e))?;
    if task.entry.saturated {
        profiled = profiled.saturated();
    }
    if task.entry.read_write == ReadWrite::Mutex {
        profiled = profiled.with_mutexes_only();
    }
    forecast_profiled(profiled, &profile, question, progress).map_err(|e| Error::new(&path, e))
}
