//! `kilocore-lab kernel`: a kernel's own path, replayed by many cores.

mod document;
mod results;
mod tables;

use std::process::ExitCode;

use clap::Args;
use kilocore_command_line::reports::Reports;
use kilocore_command_line::{CoreList, Failure, chosen, output};
use kilocore_lab::kernel::{Job, Setting, TreeScheme, find_path, sweep};
use kilocore_lab::ldu::{self, Workload};
use kilocore_points::PointSource;
use kilocore_show::{About, Host, Lines, Parameter, Points, Study, Table};
use results::Results;
use serde::Serialize;

/// What processors did in Linux for a fork and exit, or a fork, exec and exit, replayed by many cores.
#[derive(Debug, Args)]
#[command(
    after_help = "A path was recorded in a virtual machine of 8 processors, one after the other (linux/paths/record). \
                  Cores of the simulated machine replay it all at once. What is simulated is a model of the \
                  kernel: it has the kernel's instructions, shared lines and locks, and no scheduler, interrupts \
                  or devices."
)]
pub(crate) struct Arguments {
    /// What is replayed: fork (and exit), exec (a fork, exec and exit), or a file that linux/paths/record made
    #[arg(long, default_value = "fork", value_name = "NAME|FILE")]
    path: String,
    /// Name of a machine, or a machine file
    #[arg(long, default_value = "xeon-e7-8870v2-8s", value_name = "MACHINE")]
    machine: String,
    /// Numbers of cores, as in 1,15,30-120:15; up to all of the machine if not given
    #[arg(long, value_name = "LIST")]
    cores: Option<CoreList>,
    /// How the trees of files' mappings are shared: stock, ldu, split; all if not given
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    scheme: Vec<TreeScheme>,
    /// What a core does between two operations: aim7 or lmbench-fork; shows what is published of it. Nothing if
    /// not given
    #[arg(long, value_name = "NAME", conflicts_with = "between")]
    beside: Option<Workload>,
    /// For how long a core computes between two operations instead, in microseconds
    #[arg(long, default_value_t = 0.0, value_name = "US", value_parser = duration)]
    between: f64,
    /// How many cycles an instruction takes, misses of private data included
    #[arg(long, default_value_t = 1.0, value_name = "CYCLES", value_parser = positive)]
    cycles_per_instruction: f64,
    /// Seed of all chance
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    reports: Reports,
}

fn duration(text: &str) -> Result<f64, String> {
    let us: f64 = text.parse().map_err(|_| "give a number of microseconds".to_owned())?;
    let fits = (0.0..=1e6).contains(&us);
    fits.then_some(us).ok_or_else(|| "give at least 0 and at most 1000000 µs".to_owned())
}

fn positive(text: &str) -> Result<f64, String> {
    let cycles: f64 = text.parse().map_err(|_| "give a number of cycles".to_owned())?;
    let fits = (0.1..=100.0).contains(&cycles);
    fits.then_some(cycles).ok_or_else(|| "give at least 0.1 and at most 100 cycles".to_owned())
}

/// For how many operations of a core alone a point lasts.
const OPERATIONS: u32 = 200;

pub(crate) fn kernel(arguments: &Arguments, source: &PointSource) -> Result<ExitCode, Failure> {
    let files = arguments.reports.files()?;
    let machine = kilocore_machine::find(&arguments.machine)?;
    let path = find_path(&arguments.path)?;
    let schemes = chosen(&arguments.scheme, TreeScheme::ALL);
    let cores = arguments.cores.clone().unwrap_or_else(|| {
        CoreList::for_machine(machine.hardware_threads(), machine.topology.cores_per_node())
    });
    let beside = arguments.beside.map(ldu::Setting::of);
    if arguments.beside == Some(Workload::Exim) {
        return Err(Failure::new(
            "--beside exim: its messages take the lock of a directory, which no path has; choose aim7 or lmbench-fork",
        ));
    }
    let between_us = beside
        .as_ref()
        .map_or(arguments.between, |beside| (beside.user_us + beside.system_us) / beside.forks);
    let setting = Setting {
        path,
        cycles_per_instruction: arguments.cycles_per_instruction,
        between_us,
        operations: OPERATIONS,
        seed: arguments.seed,
    };
    let mut jobs = Vec::new();
    for &scheme in &schemes {
        for &cores in &cores.0 {
            jobs.push(Job { setting: &setting, scheme, cores });
        }
    }
    let progress = output::progress(jobs.len() as u64, "simulating");
    let points = sweep(source, &jobs, &machine, &|| progress.inc(1))?;
    progress.finish_and_clear();
    let results = Results {
        setting: &setting,
        beside: beside.as_ref(),
        machine: &machine,
        schemes: &schemes,
        cores: &cores.0,
        points: &points,
    };
    arguments.reports.deliver_study(&files, &results)?;
    Ok(ExitCode::SUCCESS)
}

impl Study for Results<'_> {
    fn about(&self) -> About {
        About {
            generated: output::generated(),
            kind: "A kernel's own path, replayed by simulated cores",
            title: format!("A {} on many cores", self.setting.path.operation),
            host: Host::Machine(kilocore_show::described(self.machine)),
            parameters: parameters(self),
        }
    }

    fn document(&self) -> impl Serialize {
        document::Document::new(self)
    }

    fn points(&self) -> Points {
        document::points(self)
    }

    fn charts(&self) -> Vec<Lines> {
        vec![self.chart()]
    }

    fn tables(&self) -> Vec<Table> {
        tables::all(self)
    }
}

fn parameters(results: &Results<'_>) -> Vec<Parameter> {
    let setting = results.setting;
    let path = &setting.path;
    let all = (0..path.processors).map(|processor| path.instructions(processor));
    let (least, most) = (all.clone().min().unwrap_or(0), all.max().unwrap_or(0));
    let between = match results.beside {
        Some(beside) => {
            format!("that of {}, which `kilocore-lab ldu` has with its sources", beside.workload)
        }
        None => "as asked for".to_owned(),
    };
    vec![
        Parameter::new("kernel", path.kernel.clone(), "recorded"),
        Parameter::new(
            "instructions of an operation",
            format!("{least} to {most}"),
            "recorded: those of the processors, one after the other, without what they need for locks",
        ),
        Parameter::new(
            "lines and locks that several processors used",
            format!("{} and {}", path.lines.len(), path.locks.len()),
            "recorded",
        ),
        Parameter::new(
            "cycles for an instruction",
            setting.cycles_per_instruction.to_string(),
            "as asked for; 1 is what a fork, exit and wait of 142 µs takes (measured, one core of a virtual machine) for the instructions of the path 'fork'",
        ),
        Parameter::new(
            "computing between two operations",
            format!("{} µs", setting.between_us.round()),
            &between,
        ),
    ]
}
