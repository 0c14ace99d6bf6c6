//! `kilocore-lab lru`: the experiments of the paper on FinerLRU, simulated.

mod document;
mod factors;
mod results;
mod tables;

use std::process::ExitCode;

use clap::Args;
use document::{Document, points};
use factors::Factors;
use kilocore_command_line::reports::Reports;
use kilocore_command_line::{CoreList, Failure, chosen, output};
use kilocore_lab::lru::{
    FolioOrder, Folios, Job, LARGEST_FOLIO, Pattern, RunLength, Setting, Variant, jobs, sweep,
};
use kilocore_machine::Description;
use kilocore_points::PointSource;
use kilocore_show::{About, Host, Lines, Points, Study, Table};
use results::Results;
use serde::Serialize;

/// Processes that write or read a file each, through the page cache.
#[derive(Debug, Args)]
#[command(after_help = "The chart of an .svg file is of the largest factor.")]
pub(crate) struct Arguments {
    /// What they do: seq-write, rand-write or read
    #[arg(long, default_value = "seq-write", value_name = "NAME")]
    workload: Pattern,
    /// Name of a machine, or a machine file
    #[arg(long, default_value = "knl-7210", value_name = "MACHINE")]
    machine: String,
    /// Numbers of hardware threads, each with a process, as in 1,2,4-8 or 32-256:32; powers of two
    /// if not given
    #[arg(long, value_name = "LIST")]
    cores: Option<CoreList>,
    /// Ways to divide the lists, separated by commas; all if not given
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    variant: Vec<Variant>,
    /// Numbers of stripes, separated by commas; 8, 32 and one for each thread of the machine if not
    /// given
    #[arg(long, value_name = "LIST")]
    factor: Option<Factors>,
    /// Write in folios of 2^N pages, which go through the lists as one: 0 to 4. Only for seq-write
    #[arg(long, default_value = "0", value_name = "N", value_parser = folio_order)]
    folio_order: FolioOrder,
    /// Let large folios wait in batches, as single pages do; Linux does not
    #[arg(long)]
    folios_wait: bool,
    /// Seed of all chance
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    reports: Reports,
}

pub(crate) fn lru(arguments: &Arguments, source: &PointSource) -> Result<ExitCode, Failure> {
    let files = arguments.reports.files()?;
    let machine = kilocore_machine::find(&arguments.machine)?;
    let variants = chosen(&arguments.variant, &Variant::ALL);
    let threads = arguments.cores.clone().unwrap_or_else(|| powers_of_two(&machine)).0;
    let of_machine = || Factors::for_machine(machine.hardware_threads());
    let factors = arguments.factor.clone().unwrap_or_else(of_machine).0;
    let setting = Setting::of(&machine);
    let length = RunLength { seed: arguments.seed, ..RunLength::default() };
    let pattern = arguments.workload;
    let folios = Folios { order: arguments.folio_order, wait: arguments.folios_wait };
    let like = Job {
        setting: &setting,
        variant: Variant::Stock,
        factor: 1,
        pattern,
        folios,
        threads: 1,
        length,
    };
    let jobs = jobs(like, &variants, &factors, &threads);
    let progress = output::progress(jobs.len() as u64, "simulating");
    let points = sweep(source, &jobs, &machine, &|| progress.inc(1))?;
    progress.finish_and_clear();
    let results = Results {
        setting: &setting,
        machine: &machine,
        pattern,
        folios,
        seed: arguments.seed,
        variants: &variants,
        factors: &factors,
        threads: &threads,
        points: &points,
    };
    arguments.reports.deliver_study(&files, &results)?;
    Ok(ExitCode::SUCCESS)
}

fn folio_order(text: &str) -> Result<FolioOrder, String> {
    let order = text.parse().ok().and_then(FolioOrder::new);
    let order = order.filter(|order| *order <= LARGEST_FOLIO);
    order.ok_or_else(|| format!("it must be a number from 0 to {}", LARGEST_FOLIO.get()))
}

/// Powers of two up to all hardware threads of a machine.
fn powers_of_two(machine: &Description) -> CoreList {
    let all = machine.hardware_threads();
    CoreList::for_machine(all, all)
}

impl Study for Results<'_> {
    fn about(&self) -> About {
        About {
            generated: output::generated(),
            kind: "A published experiment, simulated",
            title: format!("The page cache's lists under {}", self.what()),
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
