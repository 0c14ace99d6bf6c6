//! `kilocore compare A B`: what became slower, and where.

pub(crate) mod bench;
pub(crate) mod inputs;
mod locks;
pub(crate) mod sampled;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use self::inputs::Reading;
use self::sampled::{ResultOptions, RunFacts};
use crate::examples;
use crate::file_kind::{Applicability, FileKind, refuse_unfit};
use kilocore_command_line::Failure;

#[derive(Debug, Args)]
#[command(
    after_help = examples::COMPARE,
    after_long_help = "\
A sampled profile is what 'record samples' or 'perf record' writes, what 'perf script' prints, \
folded stacks, pprof, or a profile of gperftools; the two may be of different kinds. A folder is \
several runs of the same program on the same cores: they show how much runs differ. What a profile \
cannot say, its cores, its work, how long it ran, comes from the options or from a file beside it, \
PROFILE.kilocore.json."
)]
pub(crate) struct Arguments {
    /// A sampled profile of the program on few cores, or a folder of such; or a lock profile, or a saved run of
    /// benchmarks
    #[arg(value_name = "A")]
    first: PathBuf,
    /// The same on many cores, or later
    #[arg(value_name = "B")]
    second: PathBuf,
    #[command(flatten)]
    shown: ResultOptions,
    #[command(flatten, next_help_heading = "Sampled profiles")]
    facts: RunFacts,
    #[command(flatten)]
    reading: Reading,
    /// The least change that counts as one [default: 3]
    #[arg(long, value_name = "PERCENT", value_parser = bench::percent, help_heading = "Saved runs of benchmarks")]
    least: Option<f64>,
    /// Exit with status 1 if the program takes more than so much longer for the same work, as in 5%, with status 3
    /// if the runs cannot tell, and with 0 only if they show that it does not
    #[arg(long, value_name = "PERCENT", value_parser = locks::share, help_heading = "Lock profiles")]
    fail_if_slower: Option<f64>,
}

pub(crate) fn compare(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let Arguments { first, second, facts, reading, shown, .. } = arguments;
    let [kind, other] = [kind_of(first)?, kind_of(second)?];
    if kind != other {
        return Err(Failure::new(format!(
            "{} is {kind} and {} is {other}; name two of a kind",
            first.display(),
            second.display()
        )));
    }
    refuse_unfit(first, kind, &arguments.applicabilities())?;
    match kind {
        FileKind::SampledProfile => sampled::compare_files(first, second, facts, reading, shown)?,
        FileKind::LockProfile => {
            return locks::compare_files(first, second, arguments.fail_if_slower, shown);
        }
        FileKind::BenchRun => {
            let least = arguments.least.unwrap_or(bench::LEAST_CHANGE);
            bench::compare_files(first, second, least, shown.json)?;
        }
        _ => {
            return Err(Failure::new(format!(
                "{} is {kind}, and two of these are not compared; name two sampled profiles, two \
                 folders of such, two lock profiles, or two saved runs of benchmarks",
                first.display()
            )));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What a path names. A folder is one of sampled profiles, and so is standard input.
fn kind_of(path: &Path) -> Result<FileKind, Failure> {
    if path.is_dir() || path == Path::new("-") {
        return Ok(FileKind::SampledProfile);
    }
    FileKind::of(path)
}

impl Arguments {
    /// Which option goes with which kind of file.
    fn applicabilities(&self) -> Vec<Applicability> {
        const SAMPLED: &[FileKind] = &[FileKind::SampledProfile];
        const REPORTED: &[FileKind] = &[FileKind::SampledProfile, FileKind::LockProfile];
        let Self { facts, reading, shown, .. } = self;
        vec![
            Applicability::new("--base-cores", facts.base_cores.is_some(), SAMPLED),
            Applicability::new("--scaled-cores", facts.scaled_cores.is_some(), SAMPLED),
            Applicability::new("--base-work", facts.base_work.is_some(), SAMPLED),
            Applicability::new("--scaled-work", facts.scaled_work.is_some(), SAMPLED),
            Applicability::new("--base-seconds", facts.base_seconds.is_some(), SAMPLED),
            Applicability::new("--scaled-seconds", facts.scaled_seconds.is_some(), SAMPLED),
            Applicability::new("--base-frequency", facts.base_frequency.is_some(), SAMPLED),
            Applicability::new("--scaled-frequency", facts.scaled_frequency.is_some(), SAMPLED),
            Applicability::new("--clock", facts.clock.is_some(), SAMPLED),
            Applicability::new("--event", reading.event.is_some(), SAMPLED),
            Applicability::new("--kallsyms", reading.kallsyms.is_some(), SAMPLED),
            Applicability::new("--run-noise", reading.run_noise.is_some(), SAMPLED),
            Applicability::new("--top", shown.top.is_some(), REPORTED),
            Applicability::new("--output", !shown.output.is_empty(), REPORTED),
            Applicability::new(
                "--fail-if-slower",
                self.fail_if_slower.is_some(),
                &[FileKind::LockProfile],
            ),
            Applicability::new("--least", self.least.is_some(), &[FileKind::BenchRun]),
        ]
    }
}
