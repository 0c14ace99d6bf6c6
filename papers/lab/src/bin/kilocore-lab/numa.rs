//! `kilocore-lab numa`: when a page should be copied to another node, simulated.

mod at_one_delay;
mod delays;
mod document;
mod machine;
mod outcome_columns;
mod results;
mod shares;
mod tables;
mod trace;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use delays::Delays;
use document::{Document, points};
use kilocore_command_line::reports::Reports;
use kilocore_command_line::{Failure, chosen, output};
use kilocore_lab::numa::{DELAYS, Load, Replay, jobs, sweep};
use kilocore_lab::numa_programs::{Program, Size};
use kilocore_placement::{Rule, Synthetic};
use kilocore_points::PointSource;
use kilocore_show::{About, Host, Lines, Points, Study, Table};
use machine::Machine;
use results::Results;
use serde::Serialize;
use shares::Shares;

/// The initial delays under which a trace is simulated if nothing is said.
const FEW_DELAYS: [u32; 3] = [100, 1000, 5000];

/// Programs whose pages are copied or moved between memory nodes.
#[derive(Debug, Args)]
#[command(
    after_help = "The chart of an .svg file is of the first program. Of a trace there is none."
)]
pub(crate) struct Arguments {
    /// Programs, separated by commas: mp3d, barnes, cholesky, radix; all if not given
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    program: Vec<Program>,
    /// How much the programs do: as much as is published (published), or little (small)
    #[arg(long, default_value = "published", value_name = "SIZE")]
    size: Size,
    /// Made-up references in the place of programs, by the shares of private reads, private writes,
    /// shared reads and shared writes, as in 50,36,13,1
    #[arg(long, value_name = "SHARES", conflicts_with_all = ["program", "size"])]
    synthetic: Option<Shares>,
    /// The references of an unmodified program in the place of these programs: a trace that
    /// `kilocore record references` has written
    #[arg(long, value_name = "FILE", conflicts_with_all = ["program", "size", "synthetic"])]
    trace: Option<PathBuf>,
    /// Policies of copying and moving pages, separated by commas; all if not given
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    copying: Vec<Rule>,
    /// Initial delays, separated by commas, for policies that have one; those of the paper's figure if
    /// not given, or 100,1000,5000 for a trace
    #[arg(long, value_name = "LIST")]
    initial_delay: Option<Delays>,
    #[command(flatten)]
    machine: Machine,
    #[command(flatten)]
    reports: Reports,
}

pub(crate) fn numa(arguments: &Arguments, source: &PointSource) -> Result<ExitCode, Failure> {
    let files = match &arguments.trace {
        Some(_) => arguments.reports.files_without_charts("a trace of references")?,
        None => arguments.reports.files()?,
    };
    let setting = arguments.machine.setting()?;
    let rules = chosen(&arguments.copying, &Rule::ALL);
    let delays = arguments.initial_delay.as_ref().map(|delays| &delays.0[..]);
    if let Some(path) = &arguments.trace {
        let replay = Replay::new(&setting, &rules, delays.unwrap_or(&FEW_DELAYS))?;
        trace::simulate(path, replay, arguments.machine.name(), &arguments.reports, &files)?;
        return Ok(ExitCode::SUCCESS);
    }
    let delays = delays.unwrap_or(&DELAYS);
    let loads: Vec<Load> = match arguments.synthetic {
        Some(Shares(shares)) => {
            let seed = setting.options.seed;
            vec![Load::Synthetic(Synthetic { seed, ..Synthetic::with_shares(shares) })]
        }
        None => {
            let programs = chosen(&arguments.program, &Program::ALL);
            programs.into_iter().map(|program| Load::Program(program, arguments.size)).collect()
        }
    };
    let jobs = jobs(&setting, &loads, &rules, delays);
    let progress = output::progress(jobs.len() as u64, "simulating");
    let points = sweep(source, &jobs, &|| progress.inc(1))?;
    progress.finish_and_clear();
    let results = Results {
        setting: &setting,
        machine: arguments.machine.name(),
        loads: &loads,
        rules: &rules,
        delays,
        points: &points,
    };
    arguments.reports.deliver_study(&files, &results)?;
    Ok(ExitCode::SUCCESS)
}

impl Study for Results<'_> {
    fn about(&self) -> About {
        About {
            generated: output::generated(),
            kind: "A published experiment, simulated",
            title: "Pages that are copied to who reads them".to_owned(),
            host: Host::named(self.machine_name(), self.machine_title()),
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
        self.loads.iter().map(|load| self.chart(load)).collect()
    }

    fn tables(&self) -> Vec<Table> {
        tables::all(self)
    }
}
