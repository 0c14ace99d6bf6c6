//! `kilocore locks` and `kilocore machines`: what is known.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use kilocore_locks::LockInfo;
use kilocore_machine::Description;
use kilocore_sim::Sim;
use serde::Serialize;

use crate::failure::Failure;
use crate::lock_name::{Listed, listed_named, mutexes, rw_locks};
use crate::output;

/// Lists the locks.
#[derive(Debug, Args)]
pub(crate) struct LocksArguments {
    #[command(subcommand)]
    action: Option<LocksAction>,
    /// Print one JSON document
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum LocksAction {
    /// Show one lock in full
    Show {
        /// Its name
        #[arg(value_parser = listed_named)]
        name: Listed,
    },
}

/// Lists the machines.
#[derive(Debug, Args)]
pub(crate) struct MachinesArguments {
    #[command(subcommand)]
    action: Option<MachinesAction>,
    /// Print one JSON document
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum MachinesAction {
    /// Show one machine in full, each figure with its source
    Show {
        /// Its name, or a machine file
        name: String,
    },
    /// Measure this host and describe it as a machine file
    Measure {
        /// Write the machine file here instead of printing it
        #[arg(long, short, value_name = "FILE.toml")]
        output: Option<PathBuf>,
    },
}

#[derive(Serialize)]
struct LockEntry {
    name: &'static str,
    title: &'static str,
    source: &'static str,
    best_at: &'static str,
    worst_at: &'static str,
    aliases: &'static [&'static str],
}

impl From<&LockInfo> for LockEntry {
    fn from(lock: &LockInfo) -> Self {
        let LockInfo { name, title, source, best_at, worst_at, aliases, .. } = *lock;
        Self { name, title, source, best_at, worst_at, aliases }
    }
}

#[derive(Serialize)]
struct MachineEntry {
    name: String,
    title: String,
    clock_ghz: f64,
    sockets: u32,
    nodes: u32,
    cores: u32,
    hardware_threads: u32,
}

impl From<&Description> for MachineEntry {
    fn from(machine: &Description) -> Self {
        let topology = &machine.topology;
        Self {
            name: machine.name.clone(),
            title: machine.title.clone(),
            clock_ghz: machine.clock_ghz.value,
            sockets: topology.sockets,
            nodes: topology.nodes(),
            cores: topology.cores(),
            hardware_threads: topology.hardware_threads(),
        }
    }
}

pub(crate) fn locks(arguments: LocksArguments) -> Result<ExitCode, Failure> {
    match arguments.action {
        Some(LocksAction::Show { name }) if arguments.json => {
            let kind = match name {
                Listed::Mutex(_) => "locks",
                Listed::ReadWrite(_) => "read_write_locks",
            };
            output::json(&serde_json::json!({ kind: [LockEntry::from(name.info())] }))?;
        }
        Some(LocksAction::Show { name }) => output::print(&lock_in_full(name)),
        None if arguments.json => {
            let mutexes: Vec<LockEntry> = mutexes().map(LockEntry::from).collect();
            let rw_locks: Vec<LockEntry> = rw_locks().map(LockEntry::from).collect();
            output::json(&serde_json::json!({ "locks": mutexes, "read_write_locks": rw_locks }))?;
        }
        None => {
            let table = |locks: Vec<&LockInfo>| {
                kilocore_report::terminal::locks_table(locks, output::width())
            };
            output::print(&table(mutexes().collect()));
            output::print("\nread-write locks\n");
            output::print(&table(rw_locks().collect()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn lock_in_full(lock: Listed) -> String {
    let LockInfo { name, title, source, best_at, worst_at, aliases, .. } = lock.info();
    let mut text = format!(
        "{name}: {title}\n  source       {source}\n  best at      {best_at}\n  worst at     {worst_at}\n"
    );
    if !aliases.is_empty() {
        text.push_str(&format!("  known as     {}\n", aliases.join(", ")));
    }
    let module = name.replace('-', "_");
    match lock {
        Listed::Mutex(_) => {
            text.push_str(&format!("  try it       kilocore run --lock {name} -- COMMAND\n"));
            text.push_str(&format!(
                "  build it in  kilocore_locks::sync::{module}::Mutex, or kc_{module}\n"
            ));
        }
        Listed::ReadWrite(lock) => {
            if lock.is_for_programs::<Sim>() {
                text.push_str(&format!("  try it       kilocore run --rwlock {name} -- COMMAND\n"));
            }
            text.push_str(&format!(
                "  build it in  kilocore_locks::sync::{module}::RwLock, or kc_{module}\n"
            ));
        }
    }
    text
}

pub(crate) fn machines(arguments: MachinesArguments) -> Result<ExitCode, Failure> {
    match arguments.action {
        None => list_machines(arguments.json),
        Some(MachinesAction::Show { name }) => {
            show(&kilocore_machine::find(&name)?, arguments.json)
        }
        Some(MachinesAction::Measure { output }) => measure(output, arguments.json),
    }
}

fn list_machines(json: bool) -> Result<ExitCode, Failure> {
    let machines = kilocore_machine::builtin()
        .iter()
        .map(kilocore_machine::Builtin::description)
        .collect::<Result<Vec<Description>, _>>()?;
    if json {
        let entries: Vec<MachineEntry> = machines.iter().map(MachineEntry::from).collect();
        output::json(&serde_json::json!({ "machines": entries }))?;
    } else {
        output::print(&kilocore_report::terminal::machines_table(&machines, output::width()));
    }
    Ok(ExitCode::SUCCESS)
}

fn show(machine: &Description, json: bool) -> Result<ExitCode, Failure> {
    if json {
        output::json(machine)?;
    } else {
        output::print(&machine.to_toml());
    }
    Ok(ExitCode::SUCCESS)
}

fn measure(file: Option<PathBuf>, json: bool) -> Result<ExitCode, Failure> {
    let spinner = output::progress(1, "measuring this host");
    let machine = kilocore_host::measure_host()?;
    spinner.finish_and_clear();
    if let Some(path) = &file {
        output::write(path, &machine.to_toml())?;
    }
    if json || file.is_none() {
        show(&machine, json)?;
    }
    Ok(ExitCode::SUCCESS)
}
