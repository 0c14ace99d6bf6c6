//! `kilocore-lab`: the experiments of the papers that Kilocore's techniques come from, simulated anew.
//!
//! An experiment is a file that turns arguments into calls of the libraries; beside it, in a folder of
//! its name, lie its document, its tables and its charts.

mod kernel;
mod ldu;
mod lock;
mod lru;
mod numa;
mod pages;
mod sched;
mod tables;
mod vary;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use kilocore_command_line::{Failure, say};
use kilocore_points::PointSource;
use kilocore_sim::SimHeap;
use kilocore_sweep::write_plan;

/// Simulations print the same bytes every time.
#[global_allocator]
static HEAP: SimHeap = SimHeap;

/// Simulates the experiments of the papers that Kilocore's techniques come from.
///
/// Without --machine, each runs on the machine of its paper.
#[derive(Debug, Parser)]
#[command(
    name = "kilocore-lab",
    version,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true
)]
struct Arguments {
    #[command(subcommand)]
    experiment: Experiment,
    /// Simulate everything anew, and keep nothing of it for the next time. The answer is the same. So is it
    /// with `KILOCORE_NO_CACHE` in the environment
    #[arg(long, global = true)]
    no_cache: bool,
    /// Compute nothing, and write a plan for `kilocore sweep` that runs this command, to be given more values
    #[arg(long, global = true, value_name = "FILE")]
    plan: Option<PathBuf>,
}

/// What can be simulated.
#[derive(Debug, Subcommand)]
enum Experiment {
    /// Threads that think, take one of some locks, hold it, and start over
    Lock(lock::Arguments),
    /// Processes that fork and exit on all cores: the figures of the paper on deferred updates
    Ldu(ldu::Arguments),
    /// A fork and exit as a processor executed it in Linux, replayed by many cores
    Kernel(kernel::Arguments),
    /// Processes that write through the page cache on all threads: the paper on FinerLRU
    Lru(lru::Arguments),
    /// Pages that are copied to the memory of who reads them: the paper on the adjustable delay counter
    Numa(numa::Arguments),
    /// Page pools: which free page an allocation gets, and how long it takes to initialize it: the
    /// paper on cache-hot pages
    Pages(pages::Arguments),
    /// Schedulers that see contention for kernel locks: the thesis on the scalability of operating
    /// systems
    Sched(sched::Arguments),
    /// Change what nobody has published, and see what becomes of the results
    Vary(vary::Arguments),
    /// Put the tables of experiments, written as .md files, into a page
    Tables(tables::Arguments),
}

fn main() -> ExitCode {
    kilocore_command_line::begin(env!("CARGO_BIN_NAME"), env!("CARGO_PKG_VERSION"));
    kilocore_process::survive_full_files();
    let Arguments { experiment, no_cache, plan } = kilocore_command_line::parse::<Arguments>();
    if let Some(plan) = plan {
        // No experiment starts a program, so all reports are its own.
        let written = write_plan(&plan, env!("CARGO_BIN_NAME"), usize::MAX);
        return kilocore_command_line::end(written.map_err(Failure::from).map(|told| {
            say(&told);
            ExitCode::SUCCESS
        }));
    }
    let result = PointSource::of_user(no_cache).map_err(Failure::from);
    let result = result.and_then(|source| match experiment {
        Experiment::Lock(arguments) => lock::lock(&arguments, &source),
        Experiment::Ldu(arguments) => ldu::ldu(&arguments, &source),
        Experiment::Kernel(arguments) => kernel::kernel(&arguments, &source),
        Experiment::Lru(arguments) => lru::lru(&arguments, &source),
        Experiment::Numa(arguments) => numa::numa(&arguments, &source),
        Experiment::Pages(arguments) => pages::pages(&arguments, &source),
        Experiment::Sched(arguments) => sched::sched(&arguments, &source),
        Experiment::Vary(arguments) => vary::vary(&arguments, &source),
        Experiment::Tables(arguments) => tables::tables(&arguments),
    });
    kilocore_command_line::end(result)
}
