//! `kilocore-lab ldu`: the published figures of deferred updates, simulated.

mod document;
mod results;
mod tables;
mod updates;

use std::process::ExitCode;

use clap::Args;
use document::{Document, points};
use kilocore_command_line::reports::Reports;
use kilocore_command_line::{CoreList, Failure, chosen, output};
use kilocore_lab::ldu::{Job, RunLength, SchemeId, Setting, Workload, sweep};
use kilocore_machine::Description;
use kilocore_points::PointSource;
use kilocore_show::{About, Host, Lines, Points, Study, Table};
use results::Results;
use serde::Serialize;
use updates::Updates;

/// Processes that are created and end on all cores.
#[derive(Debug, Args)]
#[command(
    after_help = "The chart of an .svg file is against shares of updates if there are several, else against cores."
)]
pub(crate) struct Arguments {
    /// What goes on beside: aim7, exim or lmbench-fork
    #[arg(long, value_name = "NAME")]
    workload: Workload,
    /// Name of a machine, or a machine file
    #[arg(long, default_value = "xeon-e7-8870v2-8s", value_name = "MACHINE")]
    machine: String,
    /// Numbers of cores, as in 1,15,30-120:15; one core and whole nodes if not given
    #[arg(long, value_name = "LIST")]
    cores: Option<CoreList>,
    /// Ways to share the reverse mapping, separated by commas; all if not given
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    scheme: Vec<SchemeId>,
    /// Percentages of operations that are updates, the others being walks: as in 99 or 50,66,75 or
    /// 50..99, which is those of 50,66,75,80,85,90,99 that lie inside
    #[arg(long, default_value = "100", value_name = "LIST", allow_hyphen_values = true)]
    updates: Updates,
    /// Seed of all chance
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    reports: Reports,
}

pub(crate) fn ldu(arguments: &Arguments, source: &PointSource) -> Result<ExitCode, Failure> {
    let files = arguments.reports.files()?;
    let machine = kilocore_machine::find(&arguments.machine)?;
    let schemes = chosen(&arguments.scheme, SchemeId::ALL);
    let cores = arguments.cores.clone().unwrap_or_else(|| whole_nodes(&machine)).0;
    let setting = Setting::of(arguments.workload);
    let updates = arguments.updates.0.clone();
    let length = RunLength { seed: arguments.seed, ..RunLength::default() };
    let mut jobs = Vec::new();
    for &updates_percent in &updates {
        for &scheme in &schemes {
            for &cores in &cores {
                jobs.push(Job { setting: &setting, scheme, cores, updates_percent, length });
            }
        }
    }
    let progress = output::progress(jobs.len() as u64, "simulating");
    let points = sweep(source, &jobs, &machine, &|| progress.inc(1))?;
    progress.finish_and_clear();
    let results = Results {
        setting: &setting,
        machine: &machine,
        seed: arguments.seed,
        updates: &updates,
        schemes: &schemes,
        cores: &cores,
        points: &points,
    };
    arguments.reports.deliver_study(&files, &results)?;
    Ok(ExitCode::SUCCESS)
}

/// One core and whole nodes, as in the paper; what suits the machine if it is one node.
fn whole_nodes(machine: &Description) -> CoreList {
    let per_node = machine.topology.cores_per_node();
    let CoreList(mut cores) = CoreList::for_machine(machine.hardware_threads(), per_node);
    if machine.hardware_threads() > per_node {
        cores.retain(|&n| n == 1 || n >= per_node);
    }
    CoreList(cores)
}

impl Study for Results<'_> {
    fn about(&self) -> About {
        About {
            generated: output::generated(),
            kind: "A published experiment, simulated",
            title: format!("Deferred updates under {}", self.setting.workload),
            host: Host::Machine(kilocore_show::described(self.machine)),
            parameters: self.setting.parameters(),
        }
    }

    fn document(&self) -> impl Serialize {
        Document::new(self)
    }

    fn points(&self) -> Points {
        points(self)
    }

    fn charts(&self) -> Vec<Lines> {
        vec![self.chart()]
    }

    fn tables(&self) -> Vec<Table> {
        tables::all(self)
    }
}
