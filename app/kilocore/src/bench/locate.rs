//! `kilocore bench NAME --locate`: what takes longer below a system interface on many cores.
//!
//! The benchmark is run on the fewest and on the most cores in turn, each time as a program of its
//! own that is sampled. Of the recording, only what lies between the beginning and the end of the
//! counting is read, and that is compared per operation.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;

use kilocore_command_line::{Failure, output, say};
use kilocore_figures::Nanoseconds;
use kilocore_kernel_bench::{Document, Plan};
use kilocore_locate::{Comparison, LocateReport, Run, Work, compare, locate_table};
use kilocore_sampled_profile::SampledProfile;
use kilocore_sampled_profile::sampler::{CallGraph, Hertz, KernelSamples, Options, Output, record};
use tempfile::TempDir;

use super::measure_arguments::MeasureArguments;

/// Samples a second. No round number, as the kernel's own work is done at those.
const FREQUENCY: Hertz = Hertz(997);
/// Runs on each number of cores.
const RUNS: u32 = 3;
/// Rows of each table.
const ROWS: usize = 12;

pub(super) fn locate(arguments: &MeasureArguments, plan: &Plan) -> Result<ExitCode, Failure> {
    let [benchmark] = plan.benchmarks[..] else {
        return Err(Failure::new("--locate samples one benchmark at a time; name one"));
    };
    let name = benchmark.info().name;
    let (fewest, most) = (plan.cores.iter().min(), plan.cores.iter().max());
    let (Some(&fewest), Some(&most)) = (fewest, most) else {
        return Err(Failure::new("--cores: name two numbers of cores"));
    };
    if fewest == most {
        return Err(Failure::new(
            "--cores: --locate compares few cores with many; name two numbers, such as 1,4",
        ));
    }
    let folder = tempfile::tempdir()?;
    let (mut base, mut scaled) = (Vec::new(), Vec::new());
    let bar = output::progress(u64::from(2 * RUNS), name);
    for _ in 0..RUNS {
        base.push(one_run(arguments, plan, name, fewest, &folder)?);
        bar.inc(1);
        scaled.push(one_run(arguments, plan, name, most, &folder)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let comparison = compare(&base, &scaled, &kilocore_locate::Options::default())?;
    show(arguments, &comparison, name)
}

/// Runs the benchmark once on so many cores, sampled.
fn one_run(
    arguments: &MeasureArguments,
    plan: &Plan,
    name: &str,
    cores: u32,
    folder: &TempDir,
) -> Result<Run, Failure> {
    let profile = folder.path().join("perf.data");
    // Files: the other program's progress bar would disturb ours.
    let (printed, said) = (tempfile::tempfile()?, tempfile::tempfile()?);
    let options = Options {
        frequency: FREQUENCY,
        // The tasks are this program, which has frame pointers nowhere; what counts is the kernel.
        call_graph: CallGraph::FramePointers,
        program_output: Output::To { stdout: printed.as_fd(), stderr: said.as_fd() },
        ..Options::new(&profile)
    };
    let recording = record(&command(arguments, plan, name, cores), &options)?;
    if let KernelSamples::Excluded { why } = &recording.kernel {
        return Err(Failure::new(format!("--locate needs samples of the kernel: {why}")));
    }
    for warning in &recording.warnings {
        say(&warning.to_string());
    }
    let document = document(&printed, &said)?;
    let outcome = document.benchmarks.first();
    let point = outcome.and_then(|outcome| outcome.points.first());
    let refused = outcome
        .and_then(|outcome| outcome.refused.as_ref())
        .or_else(|| point.and_then(|point| point.refused.as_ref()));
    if let Some(refused) = refused {
        return Err(Failure::new(format!("{name}: {}", refused.message)));
    }
    let sample = point.and_then(|point| point.samples.first());
    let Some(sample) = sample else {
        return Err(Failure::new(format!("{name} on {cores} cores counted nothing")));
    };
    Ok(Run {
        name: format!("{name} on {cores}"),
        profile: part(&profile, sample.begin, sample.end)?,
        cores: Some(cores),
        work: Some(Work::units(sample.operations)?),
        elapsed: Some(sample.end.saturating_sub(sample.begin)),
        frequency: None,
        clock_ghz: None,
    })
}

/// This program with one sample of the benchmark to take.
fn command(arguments: &MeasureArguments, plan: &Plan, name: &str, cores: u32) -> Vec<OsString> {
    // Counting goes on for long enough to be sampled, and nothing else does.
    let seconds = (plan.measure.as_secs_f64() * f64::from(plan.repeats) / f64::from(RUNS)).max(0.5);
    let mut words: Vec<OsString> =
        ["/proc/self/exe", "bench", name, "--json", "--repeats=1"].map(Into::into).to_vec();
    words.push(format!("--cores={cores}").into());
    words.push(format!("--seconds={seconds}").into());
    words.push(format!("--pin={}", arguments.pin).into());
    words.extend(arguments.kind.map(|kind| format!("--as={kind}").into()));
    words.extend(arguments.quick.then(|| "--quick".into()));
    words.extend(arguments.file_bytes.map(|bytes| format!("--file-bytes={bytes}").into()));
    if let Some(folder) = &arguments.scratch {
        words.extend(["--scratch".into(), folder.into()]);
    }
    words
}

/// What the run printed; if that is nothing, what it said instead.
fn document(printed: &File, said: &File) -> Result<Document, Failure> {
    Document::parse(&text(printed)?).map_err(|error| {
        let said = text(said).unwrap_or_default();
        let said = said.trim().trim_start_matches("kilocore: ");
        Failure::new(if said.is_empty() { error.to_string() } else { said.to_owned() })
    })
}

fn text(mut file: &File) -> Result<String, Failure> {
    let mut text = String::new();
    file.rewind()?;
    file.read_to_string(&mut text)?;
    Ok(text)
}

/// The part of a recording between two times.
fn part(path: &Path, begin: Nanoseconds, end: Nanoseconds) -> Result<SampledProfile, Failure> {
    let options = kilocore_sampled_profile::Options {
        window: Some((begin.0, end.0)),
        ..kilocore_sampled_profile::Options::default()
    };
    Ok(kilocore_sampled_profile::read(path, &options, &mut |_| {})?)
}

fn show(
    arguments: &MeasureArguments,
    comparison: &Comparison,
    name: &str,
) -> Result<ExitCode, Failure> {
    let files = arguments.reports.files()?;
    let report =
        LocateReport { generated: output::generated(), title: format!("Below {name}"), comparison };
    arguments.reports.deliver(
        &files,
        &report,
        kilocore_locate::ComparisonDocument::of(comparison),
        || locate_table(comparison, ROWS, output::width()),
    )?;
    Ok(ExitCode::SUCCESS)
}
