//! `kilocore locks` and `kilocore machines`: what is known.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use kilocore_locks::{LockId, LockInfo};
use kilocore_machine::Description;
use serde::Serialize;

use crate::failure::Failure;
use crate::lock_name::lock_named;
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
        #[arg(value_parser = lock_named)]
        name: LockId,
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

impl From<LockId> for LockEntry {
    fn from(lock: LockId) -> Self {
        let LockInfo { name, title, source, best_at, worst_at, aliases, .. } = *lock.info();
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
    let chosen = match arguments.action {
        Some(LocksAction::Show { name }) => vec![name],
        None => LockId::ALL.to_vec(),
    };
    if arguments.json {
        let entries: Vec<LockEntry> = chosen.into_iter().map(LockEntry::from).collect();
        output::json(&serde_json::json!({ "locks": entries }))?;
    } else if let Some(LocksAction::Show { name }) = arguments.action {
        output::print(&lock_in_full(name.info()));
    } else {
        let infos = chosen.iter().map(|lock| lock.info());
        output::print(&kilocore_report::terminal::locks_table(infos, output::width()));
    }
    Ok(ExitCode::SUCCESS)
}

fn lock_in_full(info: &LockInfo) -> String {
    let LockInfo { name, title, source, best_at, worst_at, aliases, .. } = info;
    let mut text = format!(
        "{name}: {title}\n  source       {source}\n  best at      {best_at}\n  worst at     {worst_at}\n"
    );
    if !aliases.is_empty() {
        text.push_str(&format!("  known as     {}\n", aliases.join(", ")));
    }
    text.push_str(&format!("  try it       kilocore run --lock {name} -- COMMAND\n"));
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
