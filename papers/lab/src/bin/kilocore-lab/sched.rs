//! `kilocore-lab sched`: schedulers that see contention, simulated.

mod cache;
mod locks;
mod scheduler_choice;

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use kilocore_command_line::reports::Reports;
use kilocore_command_line::{CoreList, Failure};
use kilocore_lab::sched::locks::{KernelLock, Load, RunLength, load_named};
use kilocore_points::PointSource;
use scheduler_choice::SchedulerChoice;

/// Schedulers that see contention, beside those that do not.
#[derive(Debug, Args)]
#[command(after_help = "The chart of an .svg file is of the first workload.")]
pub(crate) struct Arguments {
    /// What the tasks fight for
    #[arg(long, value_enum, default_value_t = Experiment::Locks)]
    experiment: Experiment,
    /// Name of a machine, or a machine file; those of the thesis if not given: opteron-8356-8s for
    /// locks, xeon-e5345-2s for caches
    #[arg(long, value_name = "MACHINE")]
    machine: Option<String>,
    /// Who schedules, separated by commas: fair, pinned, malthusian, lock-aware, confined=N for N cores,
    /// or best-static for the best N; distributed-intensity, intensity, complement, companions, or optimum for the
    /// best division over caches. If not given, fair and lock-aware for locks, and for caches all that
    /// have to do with them
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    scheduler: Vec<SchedulerChoice>,
    /// Workloads, separated by commas: mmapbench, sockbench, parallel-find, parallel-postmark, kernbench;
    /// all if not given
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = load_named)]
    workload: Vec<Load>,
    /// Locks of the kernel, separated by commas: spin, mutex, adaptive, requester; all if not given
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    kernel_lock: Vec<KernelLock>,
    /// Mixes of programs that share caches, separated by commas: heavy, heavy-light, streams-sets, all,
    /// half, medium, medium-light, light, uncorrelated; all if not given
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    mix: Vec<String>,
    /// Numbers of cores, each with as many processes, as in 1,6,12-48:12; what suits the machine if not
    /// given. For caches one number
    #[arg(long, value_name = "LIST")]
    cores: Option<CoreList>,
    /// Length of the windows by which policies decide, in simulated microseconds; 1,000 for locks and
    /// 100,000 for caches if not given
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(10..=1_000_000))]
    window_us: Option<u32>,
    /// Simulated seconds for which programs share caches
    #[arg(long, default_value_t = 20, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=3600))]
    seconds: u32,
    /// Orders of the programs from which each policy starts on caches; results are means over them
    #[arg(long, default_value_t = 5, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=100))]
    orders: u32,
    /// Windows that count, after the search
    #[arg(long, default_value_t = RunLength::default().windows, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    windows: u32,
    /// By how many per cent what policies see may be wrong
    #[arg(long, default_value_t = 0, value_name = "PERCENT", value_parser = clap::value_parser!(u32).range(0..=100))]
    noise: u32,
    /// Seed of all chance
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    reports: Reports,
}

/// What tasks fight for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Experiment {
    /// Locks of the kernel
    Locks,
    /// Last-level caches and memory bandwidth
    Cache,
}

pub(crate) fn sched(arguments: &Arguments, source: &PointSource) -> Result<ExitCode, Failure> {
    match arguments.experiment {
        Experiment::Locks => locks::locks(arguments, source),
        Experiment::Cache => cache::cache(arguments, source),
    }
}
