//! Sampling a program: the options for it, and one run. For `kilocore record samples` and `kilocore
//! locate`.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::{Args, ValueEnum};
use kilocore_figures::Nanoseconds;
use kilocore_locate::Sidecar;
use kilocore_output_file::OutputFile;
use kilocore_sampled_profile::sampler::{
    Backend, CallGraph, Counter, CpuId, Hertz, Observer, Options, Output, Recording, Rule, Taker,
    Work, allowed_cores,
};

use crate::work::WorkOption;
use kilocore_command_line::{Failure, say};

/// How to sample a program.
#[derive(Debug, Args)]
pub(crate) struct Sampling {
    #[command(flatten)]
    work: WorkOption,
    /// What a unit of work is called
    #[arg(long, value_name = "NAME", requires = "work")]
    unit: Option<String>,
    /// Take so many samples in a second of a core's time
    #[arg(long, value_name = "HZ", default_value_t = 499, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    frequency: u32,
    /// How samples tell who called
    #[arg(long, value_enum, value_name = "HOW", default_value_t = Stacks::Dwarf)]
    call_graph: Stacks,
    /// What takes the samples
    #[arg(long, value_enum, value_name = "SAMPLER", default_value_t = Sampler::Auto)]
    sampler: Sampler,
}

/// How samples tell who called.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Stacks {
    /// By a copy of the stack, unwound afterwards: right for all programs
    Dwarf,
    /// By the chain of frame pointers: less to write, and wrong where programs have none
    Fp,
    /// Samples do not tell who called
    None,
}

/// What takes the samples.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Sampler {
    /// Kilocore's own where it may watch whole cores, as root may; else perf where it is installed
    /// and works
    Auto,
    /// perf record
    Perf,
    /// Kilocore's own
    Own,
}

impl Sampling {
    /// How work is counted.
    pub(crate) fn rule(&self) -> Result<Rule, Failure> {
        self.work.rule(self.unit.as_deref())
    }

    /// Runs a program once on so many cores and writes its profile. What is known of the run is written
    /// beside it by [`write_facts`].
    pub(crate) fn run(
        &self,
        command: &[OsString],
        run: &Run<'_>,
    ) -> Result<(Recording, Counter), Failure> {
        let counter = Counter::new(run.rule.clone());
        let cores = run
            .cores
            .map(|count| allowed_cores().into_iter().take(count as usize).collect::<Vec<CpuId>>());
        let options = Options {
            frequency: Hertz(self.frequency),
            cores,
            backend: match self.sampler {
                Sampler::Auto => Backend::Auto,
                Sampler::Perf => Backend::Perf,
                Sampler::Own => Backend::Own,
            },
            call_graph: match self.call_graph {
                Stacks::Dwarf => CallGraph::Dwarf,
                Stacks::Fp => CallGraph::FramePointers,
                Stacks::None => CallGraph::None,
            },
            empty_input: run.empty_input,
            program_output: run.output,
            observer: run.rule.needs_output().then_some(&counter as &dyn Observer),
            ..Options::new(run.profile)
        };
        let recording = kilocore_sampled_profile::sampler::record(command, &options)?;
        for warning in &recording.warnings {
            say(&warning.to_string());
        }
        Ok((recording, counter))
    }
}

/// One run of a program that is sampled.
#[derive(Debug)]
pub(crate) struct Run<'a> {
    /// Where its profile goes.
    pub(crate) profile: &'a Path,
    /// How its work is counted.
    pub(crate) rule: &'a Rule,
    /// On how many cores, if not on all that may be used.
    pub(crate) cores: Option<u32>,
    /// Whether it has no input.
    pub(crate) empty_input: bool,
    /// Where its output goes.
    pub(crate) output: Output<'a>,
}

/// How many cores may be used, in words.
pub(crate) fn in_words(cores: u32) -> String {
    if cores == 1 { "one core".to_owned() } else { format!("{cores} cores") }
}

/// Refuses more cores than may be used. Returns how many these are.
pub(crate) fn check_cores(counts: &[u32]) -> Result<u32, Failure> {
    let allowed = allowed_cores().len() as u32;
    match counts.iter().find(|&&count| count > allowed) {
        Some(many) => Err(Failure::new(format!(
            "--cores: {} may be used here, not {many}; choose at most that many",
            in_words(allowed)
        ))),
        None => Ok(allowed),
    }
}

/// Writes what is known of a run beside its profile; of its work only if that is known. Beside a device or a FIFO is
/// no place for it: nobody would look there.
pub(crate) fn write_facts(
    profile: &Path,
    recording: &Recording,
    work: Option<&Work>,
    command: &[OsString],
) -> Result<(), Failure> {
    if !OutputFile::named(profile)?.is_regular() {
        return Ok(());
    }
    let sidecar = sidecar(recording, work, command)?;
    let text = serde_json::to_string_pretty(&sidecar)? + "\n";
    let path = Sidecar::path_of(profile);
    kilocore_show::write_whole(&path, &text)
        .map_err(|error| Failure::new(format!("cannot write {}: {error}", path.display())))
}

/// What goes beside a profile.
fn sidecar(
    recording: &Recording,
    work: Option<&Work>,
    command: &[OsString],
) -> Result<Sidecar, Failure> {
    let cpu_time = recording.cpu_time;
    let processor = Nanoseconds(cpu_time.user.0.saturating_add(cpu_time.system.0));
    Ok(Sidecar {
        cores: Some(recording.cores),
        work: work.map(|work| in_millionths(&work.count.to_string()).parse()).transpose()?,
        unit: work.map(|work| work.unit.clone()),
        elapsed: Some(recording.elapsed),
        processor: Some(processor),
        frequency_hz: Some(f64::from(recording.frequency.0)),
        command: command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        recorder: Some(match recording.taker {
            Taker::Perf => "perf".to_owned(),
            Taker::Own => "kilocore".to_owned(),
        }),
        host: Some(kilocore_process::hostname()),
        kernel: Some(kilocore_process::kernel_release()),
        ..Sidecar::new()
    })
}

/// A decimal number without what is beyond its sixth place.
fn in_millionths(number: &str) -> &str {
    const PLACES: usize = 6;
    let end = number.find('.').map_or(number.len(), |point| point + 1 + PLACES);
    &number[..end.min(number.len())]
}

/// A word as a shell takes it.
pub(crate) fn shell_word(word: &OsStr) -> String {
    kilocore_show::shell::shell_word(&word.to_string_lossy())
}
