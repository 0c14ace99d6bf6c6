//! `kilocore list machines`.

use std::process::ExitCode;

use clap::Args;
use kilocore_machine::Description;
use serde::Serialize;

use kilocore_command_line::Failure;
use kilocore_command_line::output;
use kilocore_show::terminal::NARROWEST;
use kilocore_show::terminal::columns::{Align, Column, table_of};
use kilocore_show::text::printable;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Show this one in full, each figure with its source
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Print one JSON document and nothing else on standard output
    #[arg(long)]
    json: bool,
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

pub(crate) fn machines(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if let Some(name) = &arguments.name {
        return show(&kilocore_machine::find(name)?, arguments.json);
    }
    let machines = kilocore_machine::builtin()
        .iter()
        .map(kilocore_machine::Builtin::description)
        .collect::<Result<Vec<Description>, _>>()?;
    if arguments.json {
        let entries: Vec<MachineEntry> = machines.iter().map(MachineEntry::from).collect();
        output::json(&serde_json::json!({ "machines": entries }))?;
    } else {
        output::print(&machines_table(&machines));
    }
    Ok(ExitCode::SUCCESS)
}

/// Machines by name, with the number of their hardware threads.
fn machines_table(machines: &[Description]) -> String {
    let columns = [
        Column::new("name", Align::Left, machines, |machine| printable(&machine.name)),
        Column::new("threads", Align::Right, machines, |machine| {
            machine.hardware_threads().to_string()
        }),
        Column::new("what it is", Align::Left, machines, |machine| printable(&machine.title)),
    ];
    table_of(&columns, output::width().max(NARROWEST))
}

/// Prints a machine in full.
pub(crate) fn show(machine: &Description, json: bool) -> Result<ExitCode, Failure> {
    if json {
        output::json(machine)?;
    } else {
        output::print(&machine.to_toml());
    }
    Ok(ExitCode::SUCCESS)
}
