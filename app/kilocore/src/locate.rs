//! `kilocore locate -- CMD…`: `record samples` on few cores and on many, and then `compare`.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use kilocore_figures::Nanoseconds;
use kilocore_locate::{Sidecar, compare};
use kilocore_sampled_profile::sampler::{Output, Rule};
use kilocore_show::number;

use crate::compare::inputs::{self, Reading};
use crate::compare::sampled::{self, FileContent, ResultOptions};
use crate::sampling::{self, Sampling, shell_word};
use crate::{examples, launch};
use kilocore_command_line::{CoreList, Failure, output, say};

/// Runs a program on few cores and on many, samples it, and compares the profiles.
#[derive(Debug, Args)]
#[command(after_help = examples::LOCATE)]
pub(crate) struct Arguments {
    /// Numbers of cores, as in 1,6,12-48:12. The program is run on each, two or more; the smallest is
    /// compared with the largest [default: 1 and all that may be used]
    #[arg(long, value_name = "LIST")]
    cores: Option<CoreList>,
    /// Run it so many times on each number of cores, in turn: runs show how much runs differ
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    runs: u32,
    #[command(flatten)]
    sampling: Sampling,
    /// Keep the profiles in this new folder [default: kilocore-locate, or with a number behind it]
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    shown: ResultOptions,
    /// The program and its arguments, all that follows; `--` before it ends kilocore's own options.
    /// {cores} or {threads} in them becomes the number of cores. Its input is empty, as it is run several times
    #[arg(trailing_var_arg = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(crate) fn locate(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let files = sampled::files(&arguments.shown)?;
    launch::check(&arguments.command)?;
    launch::check_numbers(&arguments.command)?;
    let rule = arguments.sampling.rule()?;
    let counts = counts(arguments.cores.as_ref())?;
    let taken = NewFolder::make(arguments.folder.as_deref())?;
    let folder = &taken.path;
    let recorded = all_runs(arguments, &rule, &counts, folder);
    if !matches!(recorded, Ok(None)) {
        // It was empty, and what is in it now is of no use.
        let _ = fs::remove_dir_all(folder);
    }
    match recorded? {
        Some(failed) => Ok(failed),
        None => compared(arguments, &counts, folder, &files),
    }
}

/// Records all runs, the numbers of cores in turn. Gives how to end if the program did not end
/// well.
fn all_runs(
    arguments: &Arguments,
    rule: &Rule,
    counts: &[u32],
    folder: &Path,
) -> Result<Option<ExitCode>, Failure> {
    for run in 1..=arguments.runs {
        for &count in counts {
            say(&format!("run {run} of {} on {}", arguments.runs, sampling::in_words(count)));
            let failed = one_run(arguments, rule, count, &folder_of(folder, count), run)?;
            if failed.is_some() {
                return Ok(failed);
            }
        }
    }
    Ok(None)
}

/// The numbers of cores to run on.
fn counts(asked: Option<&CoreList>) -> Result<Vec<u32>, Failure> {
    let allowed = sampling::check_cores(asked.map_or(&[][..], |list| &list.0))?;
    let counts = asked.map_or_else(|| vec![1, allowed], |list| list.0.clone());
    if counts.len() < 2 || counts.first() == counts.last() {
        return Err(Failure::new(
            "--cores: two numbers of cores are compared; name two, such as 1,4".to_owned(),
        ));
    }
    Ok(counts)
}

/// The folder for the profiles. While it lives, nobody else's `locate` writes there.
struct NewFolder {
    path: PathBuf,
    _lock: fs::File,
}

impl NewFolder {
    /// Makes one. One that has something in it is left alone.
    fn make(asked: Option<&Path>) -> Result<Self, Failure> {
        const NAME: &str = "kilocore-locate";
        let Some(asked) = asked else {
            let names = std::iter::once(NAME.to_owned())
                .chain((2..).map(|number| format!("{NAME}-{number}")));
            for path in names.map(PathBuf::from) {
                match fs::create_dir(&path) {
                    Ok(()) => {}
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                    Err(error) => return Err(cannot_make(&path, &error)),
                }
                // Another one that was told to use this name may have been quicker.
                if let Some(folder) = Self::lock(&path)? {
                    return Ok(folder);
                }
            }
            unreachable!("there is always another number");
        };
        fs::create_dir_all(asked).map_err(|error| cannot_make(asked, &error))?;
        Self::lock(asked)?.ok_or_else(|| {
            Failure::new(format!(
                "{} has something in it already, or another `locate` writes there; remove it, \
                 or name another with --folder",
                asked.display()
            ))
        })
    }

    /// Takes a folder, if it is empty and nobody has taken it.
    fn lock(path: &Path) -> Result<Option<Self>, Failure> {
        let lock = fs::File::open(path).map_err(|error| cannot_make(path, &error))?;
        let is_taken = lock.try_lock().is_err();
        // Only who has it locked can tell whether it stays empty.
        let is_empty = || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
        Ok((!is_taken && is_empty()).then(|| Self { path: path.to_owned(), _lock: lock }))
    }
}

fn cannot_make(folder: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("cannot make {}: {error}", folder.display()))
}

/// Where the runs on so many cores are.
fn folder_of(folder: &Path, count: u32) -> PathBuf {
    folder.join(format!("cores-{count}"))
}

/// Records a run. Gives how to end if the program did not end well.
fn one_run(
    arguments: &Arguments,
    rule: &Rule,
    count: u32,
    folder: &Path,
    run: u32,
) -> Result<Option<ExitCode>, Failure> {
    fs::create_dir_all(folder).map_err(|error| cannot_make(folder, &error))?;
    let profile = folder.join(profile_name(run));
    let command = kilocore_process::sized_for(&arguments.command, count);
    let (recording, counter) = arguments.sampling.run(
        &command,
        &sampling::Run {
            profile: &profile,
            rule,
            cores: Some(count),
            // The first run would leave nothing of it to the others.
            empty_input: true,
            // What the comparison prints is all that is on standard output.
            output: Output::ToStderr,
        },
    )?;
    if recording.interrupted || !recording.status.success() {
        let status = kilocore_process::status_of_bad_end(recording.status);
        launch::check_loaded(&command, status)?;
        say(&format!(
            "the program was interrupted or failed, with status {status}, in run {run} \
             on {}; nothing is compared",
            sampling::in_words(count)
        ));
        return Ok(Some(ExitCode::from(u8::try_from(status).unwrap_or(u8::MAX))));
    }
    let work = counter.finish(recording.status)?;
    sampling::write_facts(&profile, &recording, Some(&work), &command)?;
    Ok(None)
}

/// Compares the fewest cores with the most, and says how the others did.
fn compared(
    arguments: &Arguments,
    counts: &[u32],
    folder: &Path,
    files: &[(PathBuf, FileContent)],
) -> Result<ExitCode, Failure> {
    let read = |&count: &u32| {
        inputs::runs(&folder_of(folder, count), &inputs::GivenFacts::default(), &arguments.reading)
    };
    let (Some(fewest), Some(most)) = (counts.first(), counts.last()) else {
        return Err(Failure::new("two numbers of cores are compared"));
    };
    let (base, scaled) = (read(fewest)?, read(most)?);
    let comparison = compare(&base, &scaled, &inputs::options(&arguments.reading))?;
    let words: Vec<String> = arguments.command.iter().map(|word| shell_word(word)).collect();
    if counts.len() > 2 && !arguments.shown.json {
        output::print(&speedups(arguments, folder, counts)?);
    }
    sampled::show(&comparison, &words.join(" "), &arguments.shown, files)?;
    let [base, scaled] = [fewest, most].map(|&count| folder_of(folder, count));
    say(&format!(
        "compare again with: kilocore compare {} {}",
        shell_word(base.as_os_str()),
        shell_word(scaled.as_os_str())
    ));
    Ok(ExitCode::SUCCESS)
}

/// The throughput on each number of cores, as a table.
fn speedups(arguments: &Arguments, folder: &Path, counts: &[u32]) -> Result<String, Failure> {
    let mut rows = Vec::new();
    let mut first: Option<(u32, f64)> = None;
    for &count in counts {
        let mut throughputs = Vec::new();
        for run in 1..=arguments.runs {
            let profile = folder_of(folder, count).join(profile_name(run));
            let known = Sidecar::of(&profile)?.unwrap_or_default();
            if let (Some(work), Some(elapsed @ Nanoseconds(1..))) = (known.work, known.elapsed) {
                throughputs.push(work.as_f64() / elapsed.calculated().seconds());
            }
        }
        throughputs.sort_by(f64::total_cmp);
        let Some(&median) = throughputs.get(throughputs.len() / 2) else { continue };
        let &mut (fewest, alone) = first.get_or_insert((count, median));
        let speedup = median / alone;
        let linear = speedup * f64::from(fewest) / f64::from(count);
        let figures =
            vec![number::per_second(median), number::multiple(speedup), number::percent(linear)];
        rows.push((count.to_string(), figures));
    }
    let headings = ["work", "speedup", "of linear"];
    let table = kilocore_show::terminal::figures_table("cores", &headings, &rows, output::width());
    Ok(format!("Throughput, the median of {} runs each (measured)\n{table}\n", arguments.runs))
}

/// The name of a run's profile.
fn profile_name(run: u32) -> String {
    format!("run-{run}.perf.data")
}
