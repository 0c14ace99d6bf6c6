//! Reading the profiles of a side, and what is known of them.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use kilocore_command_line::{Failure, output};
use kilocore_figures::Nanoseconds;
use kilocore_locate::{Options, Run, Sidecar, Work};
use kilocore_sampled_profile::{Format, Progress, SampledProfile};

/// How to read the profiles.
#[derive(Debug, Args)]
pub(crate) struct Reading {
    /// The event to compare, where a profile has several
    #[arg(long, value_name = "NAME")]
    pub(super) event: Option<String>,
    /// Symbols of the kernel that perf.data was recorded under, if it is not the one that runs
    #[arg(long, value_name = "FILE")]
    pub(super) kallsyms: Option<PathBuf>,
    /// How much runs of the same program on the same cores differ, if you know it
    #[arg(long, value_name = "PERCENT", value_parser = positive)]
    pub(super) run_noise: Option<f64>,
}

/// What the user says of a side's runs. It comes before what their sidecars say.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct GivenFacts {
    pub(crate) cores: Option<u32>,
    pub(crate) work: Option<Work>,
    pub(crate) seconds: Option<f64>,
    pub(crate) frequency: Option<f64>,
    pub(crate) clock_ghz: Option<f64>,
}

/// A number above zero.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err("give a number above zero".to_owned()),
    }
}

/// The options of the comparison.
pub(crate) fn options(reading: &Reading) -> Options {
    Options { run_noise: reading.run_noise.map(|percent| percent / 100.0) }
}

/// The runs of a side: of one profile, or of all in a folder.
pub(crate) fn runs(
    path: &Path,
    known: &GivenFacts,
    reading: &Reading,
) -> Result<Vec<Run>, Failure> {
    let profiles = profiles(path)?;
    profiles.iter().map(|profile| run(profile, known, reading)).collect()
}

/// The profiles that a path names, by name.
fn profiles(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let unreadable = |error| Failure::new(format!("cannot list {}: {error}", path.display()));
    let mut found = Vec::new();
    for entry in fs::read_dir(path).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?.path();
        let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if entry.is_file() && !name.ends_with(Sidecar::ENDING) && !name.starts_with('.') {
            found.push(entry);
        }
    }
    found.sort();
    if found.is_empty() {
        let message =
            format!("there is no profile in {}; name a folder that has some", path.display());
        return Err(Failure::new(message));
    }
    Ok(found)
}

fn run(path: &Path, known: &GivenFacts, reading: &Reading) -> Result<Run, Failure> {
    let sidecar = Sidecar::of(path)?.unwrap_or_default();
    let profile = profile(path, reading.event.clone(), reading.kallsyms.clone())?;
    // What was sampled of a whole program lasts about as long as it did; only those formats know.
    let by_samples = match profile.format {
        Format::PerfData | Format::PerfScript => profile.facts.span,
        Format::Folded | Format::Pprof | Format::GperftoolsCpu | Format::Contention => None,
    };
    let elapsed = known
        .seconds
        .map(|seconds| Nanoseconds((seconds * 1e9).round() as u64))
        .or(sidecar.elapsed)
        .or(profile.facts.duration)
        .or(by_samples);
    Ok(Run {
        name: path.display().to_string(),
        cores: known.cores.or(sidecar.cores),
        work: known.work.or(sidecar.work),
        elapsed,
        frequency: known.frequency.or(sidecar.frequency_hz),
        clock_ghz: known.clock_ghz,
        profile,
    })
}

/// Reads a profile, with a progress bar.
pub(crate) fn profile(
    path: &Path,
    event: Option<String>,
    kallsyms: Option<PathBuf>,
) -> Result<SampledProfile, Failure> {
    let options = kilocore_sampled_profile::Options {
        event,
        kallsyms,
        ..kilocore_sampled_profile::Options::default()
    };
    let bar = bar(path);
    let mut show = |progress: Progress| {
        if let Some(total) = progress.total {
            bar.set_length(total);
        }
        bar.set_position(progress.read);
    };
    let profile = kilocore_sampled_profile::read(path, &options, &mut show)?;
    bar.finish_and_clear();
    Ok(profile)
}

/// A bar of bytes on standard error, if that is a terminal.
fn bar(path: &Path) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {bytes}/{total_bytes} {eta}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    output::progress(0, "").with_style(style).with_message(name)
}
