//! What `kilocore bench` is asked to measure.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use kilocore_command_line::{CoreList, Failure};
use kilocore_kernel_bench::{Benchmark, Cpus, Kind, Pin, Plan, Scratch, benchmarks};

use crate::examples;
use crate::page_pool::PagePool;
use kilocore_command_line::reports::Reports;

/// What is measured, and how.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true, after_help = examples::BENCH)]
pub(crate) struct MeasureArguments {
    /// Benchmarks by name, or all; see `kilocore list benchmarks`
    #[arg(required_unless_present = "replay", value_name = "NAME")]
    names: Vec<String>,
    /// Few and short samples, on one, half and all cores: all benchmarks in two minutes
    #[arg(long)]
    pub(super) quick: bool,
    /// Numbers of cores, as in 1,6,12-48:12 [default: powers of two and all; quick: one, half and all]
    #[arg(long, value_name = "LIST")]
    cores: Option<CoreList>,
    /// What runs side by side: processes or threads [default: by benchmark]
    #[arg(long = "as", value_name = "KIND")]
    pub(super) kind: Option<Kind>,
    /// What tasks are tied to: core, sibling, node or none
    #[arg(long, value_name = "PIN", default_value_t)]
    pub(super) pin: Pin,
    /// So many samples of each benchmark on each number of cores, or of each policy of a replay
    /// [default: 11; quick: 7; replay: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) repeats: Option<u32>,
    /// How long each sample is counted [default: 0.5; quick: 0.15]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    seconds: Option<Duration>,
    /// Seed of all chance [default: 1]. The order of the samples comes from it
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// The folder for scratch files [default: in memory; large files where temporary files go]
    #[arg(long, value_name = "FOLDER")]
    pub(super) scratch: Option<PathBuf>,
    /// The size of large scratch files in bytes, for tests [default: by benchmark]
    #[arg(long, hide = true, value_name = "BYTES")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    pub(super) file_bytes: Option<u64>,
    /// Also hold the result against a saved run
    #[arg(long, value_name = "FILE")]
    pub(super) baseline: Option<PathBuf>,
    /// Also say which functions of the kernel and of the task take longer for an operation on many
    /// cores than on few, from samples
    #[arg(long, conflicts_with = "baseline")]
    pub(super) locate: bool,
    #[command(flatten)]
    pub(super) reports: Reports,
    /// Replay this trace of pages under each policy of the page pool, in the place of benchmarks
    #[arg(long, value_name = "FILE", help_heading = "Page pools", conflicts_with_all = [
        "names", "quick", "cores", "kind", "pin", "seconds", "seed", "scratch", "file_bytes", "baseline", "locate"
    ])]
    pub(super) replay: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Page pools")]
    pub(super) pool: PagePool,
}

fn seconds(text: &str) -> Result<Duration, String> {
    const MOST: f64 = 3600.0;
    let refuse = || format!("'{text}' is no such time; write seconds above 0 and at most {MOST}");
    let seconds: f64 = text.parse().map_err(|_| refuse())?;
    let sound = seconds > 0.0 && seconds <= MOST;
    sound.then(|| Duration::from_secs_f64(seconds)).ok_or_else(refuse)
}

/// The benchmarks of these names, in the order of the registry, each once.
fn chosen(names: &[String]) -> Result<Vec<&'static dyn Benchmark>, Failure> {
    for name in names.iter().filter(|name| *name != "all") {
        benchmarks::find(name)?;
    }
    let wanted = |benchmark: &&dyn Benchmark| {
        let info = benchmark.info();
        let named = names.iter().any(|name| name == info.name);
        named || !info.hidden && names.iter().any(|name| name == "all")
    };
    Ok(benchmarks::ALL.iter().copied().filter(wanted).collect())
}

impl MeasureArguments {
    /// What these arguments ask for.
    pub(super) fn plan(&self) -> Result<Plan, Failure> {
        const WARM_UP: [Duration; 2] = [Duration::from_millis(100), Duration::from_millis(30)];
        const MEASURE: [Duration; 2] = [Duration::from_millis(500), Duration::from_millis(150)];
        const REPEATS: [u32; 2] = [11, 7];
        /// Of the two minutes, some are for what is begun when this is over.
        const QUICK: Duration = Duration::from_secs(100);
        let quick = usize::from(self.quick);
        let cores = self.cores.as_ref().map(|list| list.0.clone());
        let cpus = Cpus::of_this_process();
        let usual = || if self.quick { cpus.few_counts() } else { cpus.default_counts() };
        // Who says how many samples there are to be, or how long, gets them.
        let is_bounded = self.quick && self.repeats.is_none() && self.seconds.is_none();
        Ok(Plan {
            benchmarks: chosen(&self.names)?,
            cores: cores.unwrap_or_else(usual),
            kind: self.kind,
            pin: self.pin,
            repeats: self.repeats.unwrap_or(REPEATS[quick]),
            measure: self.seconds.unwrap_or(MEASURE[quick]),
            warm_up: WARM_UP[quick],
            budget: is_bounded.then_some(QUICK),
            seed: self.seed.unwrap_or(1),
            scratch: Scratch {
                folder: self.scratch.clone(),
                quick: self.quick,
                file_bytes: self.file_bytes,
            },
        })
    }
}
