//! `kilocore simulate numa`: when a page should be copied to another node, simulated.

mod delays;
mod document;
mod results;
mod shares;
mod tables;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use kilocore_numa_programs::{Program, Size};
use kilocore_placement::{Coherence, CopyCost, PageSize, Rule, Start, Synthetic, TlbOptions};
use kilocore_platform::Cycles;
use kilocore_published::numa::{Load, Setting, jobs, sweep};
use kilocore_report::{Host, LinesReport, Report, ReportError, in_csv, in_json};

use crate::failure::Failure;
use crate::output;
use delays::Delays;
use document::{Document, csv_rows};
use results::Results;
use shares::Shares;

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
    /// Processors: 1 to 64
    #[arg(long, default_value_t = 32, value_name = "N")]
    cpus: u32,
    /// Memory nodes, to which the processors are dealt evenly. Each processor is one if not given, or
    /// the machine's nodes with --machine
    #[arg(long, value_name = "N")]
    nodes: Option<u32>,
    /// Costs of a machine of today, by name or as a machine file; those of the paper if not given
    #[arg(long, value_name = "MACHINE")]
    machine: Option<String>,
    #[command(flatten)]
    choices: Choices,
    /// Seed of all chance
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print one JSON document and nothing else on standard output
    #[arg(long)]
    json: bool,
    /// Also write the results; its ending chooses the format: .html, .svg, .csv or .json. May be
    /// given for several files. An .svg has the first program
    #[arg(long, short, value_name = "FILE")]
    output: Vec<PathBuf>,
}

/// What the paper leaves open, and what it draws as hardware.
#[derive(Debug, Clone, Args)]
pub(crate) struct Choices {
    /// Bytes of a page: a power of two from 64 to 1073741824
    #[arg(long, default_value = "4096", value_name = "BYTES", value_parser = page_size)]
    page: PageSize,
    /// Cycles between two runs of a daemon
    #[arg(long, default_value_t = 1_000_000, value_name = "CYCLES", value_parser = positive())]
    period: u64,
    /// Of how many writes a copy is told until the updates policy looks at it
    #[arg(long, default_value_t = 1000, value_name = "WRITES", value_parser = clap::value_parser!(u32).range(1..))]
    budget: u32,
    /// On how many nodes a page may be
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    most_copies: Option<u32>,
    /// A write takes other copies away, and does not update them
    #[arg(long)]
    invalidate: bool,
    /// Shared pages lie with each node in turn at first, and not with who touches them first
    #[arg(long)]
    round_robin: bool,
    /// The adjustable delay compares costs in cycles with numbers of references, as its formula is printed
    #[arg(long)]
    costs_in_cycles: bool,
    /// Counters are in translation buffers of so many entries
    #[arg(long, value_name = "ENTRIES", value_parser = clap::value_parser!(u32).range(1..=65_535))]
    tlb: Option<u32>,
    /// Bits of such a counter
    #[arg(long, default_value_t = 13, value_name = "BITS", requires = "tlb", value_parser = clap::value_parser!(u32).range(1..=32))]
    counter_bits: u32,
    /// Counters of entries that make room are lost
    #[arg(long, requires = "tlb")]
    lose_counts: bool,
}

fn positive() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(1..)
}

fn page_size(text: &str) -> Result<PageSize, String> {
    let size = text.parse().ok().and_then(PageSize::of);
    size.ok_or_else(|| "it must be a power of two from 64 to 1073741824".to_owned())
}

impl Choices {
    pub(crate) fn apply(&self, setting: &mut Setting) {
        let Setting { options, told, .. } = setting;
        told.period = Cycles(self.period);
        told.budget = self.budget;
        if self.costs_in_cycles {
            told.adjustable.unit = CopyCost::Cycles;
        }
        options.most_copies = self.most_copies.unwrap_or(options.most_copies);
        if self.invalidate {
            options.coherence = Coherence::WriteInvalidate;
        }
        if self.round_robin {
            options.start = Start::RoundRobin;
        }
        options.tlb = self.tlb.map(|entries| TlbOptions {
            entries,
            counter_bits: self.counter_bits,
            writes_back: !self.lose_counts,
        });
    }
}

pub(crate) fn numa(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let files = super::formats(&arguments.output)?;
    let setting = setting(arguments)?;
    let rules = super::chosen(&arguments.policy, &Rule::ALL);
    let loads: Vec<Load> = match arguments.synthetic {
        Some(Shares(shares)) => {
            let seed = arguments.seed;
            vec![Load::Synthetic(Synthetic { seed, ..Synthetic::with_shares(shares) })]
        }
        None => {
            let programs = super::chosen(&arguments.program, &Program::ALL);
            programs.into_iter().map(|program| Load::Program(program, arguments.size)).collect()
        }
    };
    let jobs = jobs(&setting, &loads, &rules, &arguments.delay.0);
    let progress = output::progress(jobs.len() as u64, "simulating");
    let points = sweep(&jobs, &|| progress.inc(1))?;
    progress.finish_and_clear();
    let results = Results {
        setting: &setting,
        machine: arguments.machine.as_deref(),
        loads: &loads,
        rules: &rules,
        delays: &arguments.delay.0,
        points: &points,
    };
    let document = arguments.json.then(|| Document::new(&results));
    super::deliver(&results, files, document, || tables::all(&results))?;
    Ok(ExitCode::SUCCESS)
}

fn setting(arguments: &Arguments) -> Result<Setting, Failure> {
    let &Arguments { cpus, nodes, seed, .. } = arguments;
    if nodes.is_some_and(|nodes| nodes == 0 || !cpus.is_multiple_of(nodes)) {
        let nodes = nodes.unwrap_or_default();
        return Err(Failure::new(format!(
            "{cpus} processors cannot be dealt evenly to {nodes} nodes; choose a number of nodes that divides them"
        )));
    }
    let page = arguments.choices.page;
    let mut setting = match &arguments.machine {
        Some(name) => Setting::of(&kilocore_machine::find(name)?, cpus, nodes, page),
        None => {
            let mut setting = Setting::published(cpus, page);
            let nodes = nodes.unwrap_or(cpus);
            setting.options.nodes = nodes;
            setting.options.processors_per_node = cpus / nodes.max(1);
            setting
        }
    };
    setting.options.seed = seed;
    arguments.choices.apply(&mut setting);
    Ok(setting)
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
fn page<'a>(results: &Results<'a>) -> LinesReport<'a> {
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
