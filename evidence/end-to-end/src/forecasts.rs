//! Forecasting every profile for every machine.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use kilocore_lock_profile::Profile;
use kilocore_locks::LockId;
use kilocore_machine::Description;
use kilocore_predict::{
    Forecast, Profiled, Question, RunSize, TODAY, forecast_profiled, from_profile,
};

use crate::{Comparison, Entry, Error, Published, ReadWrite, read_index, read_published};

/// The machines of the data set: its name for each, and the machine file's.
pub const MACHINES: [(&str, &str); 2] = [("A48", "opteron-6344-4s"), ("I48", "xeon-e7-4830v3-4s")];

/// Sections simulated for each point: for about 2 % of chance in its throughput.
const SECTIONS: u64 = 4_000;

/// An entry on a machine, with the programs measured there that it stands for.
struct Task<'a> {
    entry: &'a Entry,
    machine: &'a Description,
    published: Vec<(&'a str, &'a Published)>,
}

impl Task<'_> {
    /// Numbers of nodes that any of the programs was measured on.
    fn nodes(&self) -> BTreeSet<u32> {
        let today = self.published.iter().filter_map(|(_, published)| published.today(TODAY));
        today.flat_map(|by_nodes| by_nodes.keys().copied()).collect()
    }

    fn question(&self, seed: u64) -> Question<'_> {
        let per_node = self.machine.topology.cores_per_node();
        let measured = self.published.iter().flat_map(|(_, p)| p.with_counterpart(TODAY));
        let locks: BTreeSet<LockId> = measured.map(|(_, lock, _)| lock).collect();
        Question {
            machine: self.machine,
            cores: self.nodes().into_iter().map(|nodes| nodes * per_node).collect(),
            locks: locks.into_iter().collect(),
            size: RunSize { sections: SECTIONS, seed, ..RunSize::default() },
        }
    }
}

/// All that is read before anything is simulated.
struct Material {
    entries: Vec<Entry>,
    machines: Vec<(&'static str, Description, BTreeMap<String, Published>)>,
}

impl Material {
    fn read(data: &Path) -> Result<Self, Error> {
        let machines = MACHINES.map(|(name, file)| {
            let machine =
                kilocore_machine::find(file).map_err(|e| Error::new(Path::new(file), e))?;
            let published = read_published(&data.join("litl").join(name).with_extension("csv"))?;
            Ok((name, machine, published))
        });
        let entries = read_index(&data.join("profiles"))?;
        Ok(Self { entries, machines: machines.into_iter().collect::<Result<_, _>>()? })
    }

    fn tasks(&self) -> Vec<(&'static str, Task<'_>)> {
        let mut tasks = Vec::new();
        for entry in &self.entries {
            for (name, machine, programs) in &self.machines {
                let published: Vec<_> = entry
                    .programs
                    .iter()
                    .filter_map(|program| Some((program.as_str(), programs.get(program)?)))
                    .collect();
                if !published.is_empty() {
                    tasks.push((*name, Task { entry, machine, published }));
                }
            }
        }
        tasks
    }
}

/// How many simulations [`compare`] will run: what a progress bar counts to.
///
/// # Errors
/// As [`compare`].
pub fn simulations(data: &Path) -> Result<usize, Error> {
    let material = Material::read(data)?;
    Ok(material.tasks().iter().map(|(_, task)| task.question(0).simulations()).sum())
}

/// Forecasts every profile under `data/profiles` for every machine that programs it stands for
/// were measured on, and compares.
///
/// `progress` is called after each simulation, from any thread.
///
/// # Errors
/// [`struct@Error`] if a file is missing or malformed, or a profile holds no locks.
pub fn compare(
    data: &Path,
    seed: u64,
    progress: &(dyn Fn() + Sync),
) -> Result<Vec<Comparison>, Error> {
    let material = Material::read(data)?;
    let mut comparisons = Vec::new();
    for (machine, task) in material.tasks() {
        let forecast = forecast(data, &task, seed, progress)?;
        let per_node = task.machine.topology.cores_per_node();
        for (program, published) in &task.published {
            let compared =
                Comparison::new(task.entry, machine, program, published, &forecast, per_node);
            comparisons.extend(compared);
        }
    }
    Ok(comparisons)
}

fn forecast(
    data: &Path,
    task: &Task<'_>,
    seed: u64,
    progress: &(dyn Fn() + Sync),
) -> Result<Forecast, Error> {
    let path = data.join("profiles").join(&task.entry.name).with_extension("json");
    let profile = Profile::read(&path).map_err(|e| Error::new(&path, e))?;
    let mut profiled: Profiled = from_profile(&profile).map_err(|e| Error::new(&path, e))?;
    if task.entry.saturated {
        profiled = profiled.saturated();
    }
    if task.entry.read_write == ReadWrite::Mutex {
        profiled = profiled.with_mutexes_only();
    }
    forecast_profiled(profiled, &profile, &task.question(seed), progress)
        .map_err(|e| Error::new(&path, e))
}
