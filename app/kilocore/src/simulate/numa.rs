//! `kilocore simulate numa`: when a page should be copied to another node, simulated.

mod document;
mod results;
mod shares;
mod tables;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use document::{Document, csv_rows};
use kilocore_command_line::{Failure, output};
use kilocore_numa_programs::{Program, Size};
use kilocore_placement::{Rule, Synthetic};
use kilocore_published::numa::{Load, jobs, sweep};
use kilocore_show::{Host, LinesReport, Report, ReportError, in_csv, in_json};
use results::Results;
use shares::Shares;

use crate::numa::{Delays, Machine};

/// Programs whose pages are copied or moved between memory nodes.
#[derive(Debug, Args)]
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
    /// Policies, separated by commas; all if not given
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    policy: Vec<Rule>,
    /// Initial delays, separated by commas, for policies that have one
    #[arg(long, default_value_t, value_name = "LIST")]
    delay: Delays,
    #[command(flatten)]
    machine: Machine,
    /// Print one JSON document and nothing else on standard output
    #[arg(long)]
    json: bool,
    /// Also write the results; its ending chooses the format: .html, .svg, .csv or .json. May be
    /// given for several files. An .svg has the first program
    #[arg(long, short, value_name = "FILE")]
    output: Vec<PathBuf>,
}

pub(crate) fn numa(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let files = output::files(&arguments.output)?;
    let setting = arguments.machine.setting()?;
    let rules = kilocore_command_line::chosen(&arguments.policy, &Rule::ALL);
    let loads: Vec<Load> = match arguments.synthetic {
        Some(Shares(shares)) => {
            let seed = setting.options.seed;
            vec![Load::Synthetic(Synthetic { seed, ..Synthetic::with_shares(shares) })]
        }
        None => {
            let programs = kilocore_command_line::chosen(&arguments.program, &Program::ALL);
            programs.into_iter().map(|program| Load::Program(program, arguments.size)).collect()
        }
    };
    let jobs = jobs(&setting, &loads, &rules, &arguments.delay.0);
    let progress = output::progress(jobs.len() as u64, "simulating");
    let points = sweep(&jobs, &|| progress.inc(1))?;
    progress.finish_and_clear();
    let results = Results {
        setting: &setting,
        machine: arguments.machine.name(),
        loads: &loads,
        rules: &rules,
        delays: &arguments.delay.0,
        points: &points,
    };
    let document = arguments.json.then(|| Document::new(&results));
    output::deliver(&results, &files, document, || tables::all(&results))?;
    Ok(ExitCode::SUCCESS)
}

impl Report for Results<'_> {
    fn html(&self) -> Result<String, ReportError> {
        page(self).html()
    }

    fn svg(&self) -> Result<String, ReportError> {
        self.chart(&self.loads[0]).svg()
    }

    fn csv(&self) -> Result<String, ReportError> {
        in_csv(csv_rows(self))
    }

    fn json(&self) -> Result<String, ReportError> {
        in_json(&Document::new(self))
    }
}

/// Everything on one page.
fn page(results: &Results<'_>) -> LinesReport {
    LinesReport {
        generated: output::generated(),
        kind: "A published experiment, simulated",
        title: "Pages that are copied to who reads them".to_owned(),
        host: Host::Real {
            name: results.machine_name().to_owned(),
            title: results.machine_title(),
            facts: Vec::new(),
        },
        charts: results.loads.iter().map(|load| results.chart(load)).collect(),
        tables: tables::all(results),
        assumptions: super::assumptions(results.setting.parameters()),
    }
}
