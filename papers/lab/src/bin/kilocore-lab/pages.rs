//! `kilocore-lab pages`: which free page an allocation gets, and how long it takes to initialize it.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use kilocore_command_line::reports::Reports;
use kilocore_command_line::{CoreList, Failure, chosen, output, within};
use kilocore_machine::Description;
use kilocore_page_trace::Trace;
use kilocore_page_trace::simulated::{Pattern, Plan, Policy, Setting, Subject};
use kilocore_points::PointSource;

/// The most cores that patterns are simulated on if nothing is said.
const USUAL_CORES: u32 = 64;

/// Page pools under a recorded trace, or under cores that hand pages to each other.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Simulate this trace, recorded by `kilocore record pages`
    #[arg(long, value_name = "FILE", conflicts_with = "workload")]
    trace: Option<PathBuf>,
    /// Simulate cores that release their own pages (own), or those of a neighbour (pass)
    #[arg(long, default_value = "pass", value_name = "NAME")]
    workload: Pattern,
    /// Name of a machine, or a machine file
    #[arg(long, default_value = "core-i7-6700", value_name = "MACHINE")]
    machine: String,
    /// Numbers of hardware threads, as in 1,2,4-8; all of the machine for a trace, and powers of two up
    /// to 64 for a pattern, if not given
    #[arg(long, value_name = "LIST")]
    cores: Option<CoreList>,
    /// Policies of the page pool, separated by commas; all if not given
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pool: Vec<Policy>,
    #[command(flatten)]
    program: Program,
    /// Seed of all chance
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    reports: Reports,
}

/// What the program does with its memory, which no trace says.
#[derive(Debug, Clone, Copy, Args)]
struct Program {
    /// Pages of other memory that the program goes through for each page that it allocates: 0 to 1000
    #[arg(long, value_name = "PAGES", value_parser = |text: &str| within(text, 1000.0))]
    other_pages: Option<f64>,
    /// The share of released pages that the program has used right before: 0 to 1
    #[arg(long, value_name = "SHARE", value_parser = |text: &str| within(text, 1.0))]
    used_before_release: Option<f64>,
}

pub(crate) fn pages(arguments: &Arguments, source: &PointSource) -> Result<ExitCode, Failure> {
    match &arguments.trace {
        Some(path) => {
            let trace = Trace::read(path)?;
            let name = path.display().to_string();
            simulate(Subject::Trace { name: &name, trace: &trace }, arguments, source)
        }
        None => simulate(Subject::Pattern(arguments.workload), arguments, source),
    }
}

fn simulate(
    subject: Subject<'_>,
    arguments: &Arguments,
    source: &PointSource,
) -> Result<ExitCode, Failure> {
    let machine = kilocore_machine::find(&arguments.machine)?;
    let policies = chosen(&arguments.pool, &Policy::ALL);
    let cores = arguments.cores.clone();
    let cores = cores.map_or_else(|| usual_cores(subject, &machine), |list| list.0);
    let files = match cores.len() {
        1 => arguments.reports.files_without_charts("one number of hardware threads")?,
        _ => arguments.reports.files()?,
    };
    let mut setting = Setting::of(&machine);
    let Program { other_pages, used_before_release } = arguments.program;
    setting.other_pages = other_pages.unwrap_or(setting.other_pages);
    setting.used_before_release = used_before_release.unwrap_or(setting.used_before_release);
    let plan = Plan {
        setting: &setting,
        machine: &machine,
        subject,
        seed: arguments.seed,
        policies: &policies,
        cores: &cores,
    };
    let progress = output::progress(plan.points() as u64, "simulating");
    let results = plan.run(source, output::generated(), &|| progress.inc(1))?;
    progress.finish_and_clear();
    arguments.reports.deliver_study(&files, &results)?;
    Ok(ExitCode::SUCCESS)
}

fn usual_cores(subject: Subject<'_>, machine: &Description) -> Vec<u32> {
    let all = machine.hardware_threads();
    match subject {
        Subject::Trace { .. } => vec![all],
        Subject::Pattern(_) => CoreList::for_machine(all.min(USUAL_CORES), all).0,
    }
}
