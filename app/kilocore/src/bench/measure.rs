//! `kilocore bench NAME…`: measuring.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use kilocore_kernel_bench::document::Outcome;
use kilocore_kernel_bench::{
    Benchmark, Cpus, Document, Helpers, Kind, Pin, Plan, Scratch, benchmarks, run,
};

use super::{HELPER, compare, locate, overview, page};
use crate::core_list::CoreList;
use crate::failure::Failure;
use crate::output;

/// What is measured, and how.
#[derive(Debug, Args)]
pub(crate) struct MeasureArguments {
    /// Benchmarks by name, or all; see kilocore bench list
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// Few and short samples, on one, half and all cores: all benchmarks in two minutes
    #[arg(long)]
    pub(super) quick: bool,
    /// Numbers of cores, as in 1,2,4-8 [default: powers of two and all, quick: one, half and all]
    #[arg(long, value_name = "LIST")]
    cores: Option<CoreList>,
    /// What runs side by side: processes or threads [default: by benchmark]
    #[arg(long = "as", value_name = "KIND")]
    pub(super) kind: Option<Kind>,
    /// What tasks are tied to: core, sibling, node or none
    #[arg(long, default_value_t)]
    pub(super) pin: Pin,
    /// Samples of each benchmark on each number of cores [default: 11, quick: 7]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeats: Option<u32>,
    /// How long each sample is counted [default: 0.5, quick: 0.15]
    #[arg(long, value_parser = seconds)]
    seconds: Option<Duration>,
    /// Where the order of samples comes from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The folder for scratch files [default: in memory; large files where temporary files go]
    #[arg(long, value_name = "FOLDER")]
    pub(super) scratch: Option<PathBuf>,
    /// The size of large scratch files in bytes, for tests [default: by benchmark]
    #[arg(long, hide = true, value_name = "BYTES")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    pub(super) file_bytes: Option<u64>,
    /// Save all samples, to be compared later
    #[arg(long, value_name = "FILE.json")]
    save: Option<PathBuf>,
    /// Also hold the result against a saved run
    #[arg(long, value_name = "FILE.json")]
    baseline: Option<PathBuf>,
    /// Also say which functions of the kernel and of the task take longer for an operation on many
    /// cores than on few, from samples
    #[arg(long, conflicts_with_all = ["save", "baseline"])]
    locate: bool,
    #[command(flatten)]
    pub(super) output: output::Options,
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
    fn plan(&self) -> Result<Plan, Failure> {
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
            seed: self.seed,
            scratch: Scratch {
                folder: self.scratch.clone(),
                quick: self.quick,
                file_bytes: self.file_bytes,
            },
        })
    }
}

pub(crate) fn measure(arguments: &MeasureArguments) -> Result<ExitCode, Failure> {
    output::check(&arguments.output)?;
    arguments.save.as_deref().map_or(Ok(()), output::check_folder)?;
    arguments.scratch.as_deref().map_or(Ok(()), check_scratch)?;
    let plan = arguments.plan()?;
    if arguments.locate {
        return locate::locate(arguments, &plan);
    }
    let baseline = arguments.baseline.as_deref().map(compare::read).transpose()?;
    if let Some(first) = baseline.as_ref().filter(|first| !have_something_in_common(first, &plan)) {
        return Err(Failure::new(format!(
            "--baseline: it was measured {}, and so nothing that is to be measured now can be held \
             against it; choose benchmarks, --cores and --as that it has",
            first.generated.command
        )));
    }
    let document = carry_out(&plan)?;
    show(arguments, &document, baseline.as_ref())?;
    // After it was shown: whatever cannot be written, what was measured is not lost.
    let written = [
        save(arguments, &document),
        arguments.output.output.as_deref().map_or(Ok(()), |path| page::write(path, &document)),
    ];
    let mut failures = written.into_iter().filter_map(Result::err);
    if let Some(last) = failures.next_back() {
        for failure in failures {
            let _ = failure.report();
        }
        return Err(last);
    }
    if document.benchmarks.iter().any(Outcome::has_run) {
        return Ok(ExitCode::SUCCESS);
    }
    Err(Failure::new("no benchmark could run here; the reasons stand with each"))
}

/// Whether a saved run has anything that a plan is to measure.
fn have_something_in_common(saved: &Document, plan: &Plan) -> bool {
    plan.benchmarks.iter().any(|benchmark| {
        let info = benchmark.info();
        let outcome = saved.outcome(info.name, plan.kind.unwrap_or(info.default));
        let mut points = outcome.into_iter().flat_map(|outcome| &outcome.points);
        points.any(|point| !point.samples.is_empty() && plan.cores.contains(&point.cores))
    })
}

fn show(
    arguments: &MeasureArguments,
    document: &Document,
    baseline: Option<&Document>,
) -> Result<(), Failure> {
    let against = baseline.map(|first| {
        kilocore_kernel_bench::compare(first, document, compare::LEAST_CHANGE / 100.0)
    });
    match (arguments.output.json, against) {
        (true, None) => return output::json(document),
        (true, Some(against)) => {
            return output::json(&serde_json::json!({ "run": document, "against": against }));
        }
        (false, None) => output::print(&overview::in_words(document, output::width())),
        (false, Some(against)) => {
            output::print(&overview::in_words(document, output::width()));
            output::print(&format!("\n{}", compare::in_words(&against)));
        }
    }
    Ok(())
}

/// Refuses a folder that cannot be handed on: tasks are told of it as text.
fn check_scratch(folder: &Path) -> Result<(), Failure> {
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    if folder.to_str().is_some() && whole.to_str().is_some() {
        return Ok(());
    }
    let refusal = Failure::new("its name is no UTF-8 text; choose another folder with --scratch");
    Err(refusal.about(&whole))
}

fn carry_out(plan: &Plan) -> Result<Document, Failure> {
    // Not the path it was started by: that may have been replaced meanwhile.
    let program = PathBuf::from("/proc/self/exe");
    let helpers = Helpers { program, words: vec![HELPER.into()] };
    let generated = output::generated();
    let bar = output::progress(0, "");
    let shown = |progress: kilocore_kernel_bench::Progress| {
        bar.set_length(progress.of);
        bar.set_position(progress.done);
        bar.set_message(progress.benchmark);
    };
    let document = run(plan, &helpers, generated.by, generated.command, shown);
    bar.finish_and_clear();
    Ok(document?)
}

fn save(arguments: &MeasureArguments, document: &Document) -> Result<(), Failure> {
    let Some(path) = &arguments.save else { return Ok(()) };
    let mut text = serde_json::to_string_pretty(document)?;
    text.push('\n');
    output::write(path, &text)
}
