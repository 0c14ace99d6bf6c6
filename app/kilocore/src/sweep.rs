//! `kilocore sweep PLAN`: many runs of commands, over lists and ranges of their options.

use std::env;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use indicatif::ProgressBar;
use kilocore_command_line::output::{json, print};
use kilocore_command_line::{Failure, output};
use kilocore_hardware::available_memory;
use kilocore_process::{CpuId, allowed_cores, find_program, shell_status_of_signal};
use kilocore_show::number::count;
use kilocore_sweep::{Outcome, Progress, Standing, Sweep};
use kilocore_sweep_plan::{MOST_BYTES, Plan, PlannedRun};
use serde::Serialize;

use crate::bytes::bytes;
use crate::examples;

#[derive(Debug, Args)]
#[command(
    after_help = examples::SWEEP,
    after_long_help = "\
docs/formats/plans.md says how a plan is written. Runs are tried first; the points that they miss are computed by one \
process for each core, the longest first, and kept as those of any command are. So a sweep that was interrupted goes on \
where it was, and answers that are there are made anew of what is kept."
)]
pub(crate) struct Arguments {
    /// What is to be run: a file of TOML
    #[arg(value_name = "PLAN")]
    plan: PathBuf,
    /// The folder of the answers [default: what the plan says, or its name without .toml]
    #[arg(long, value_name = "FOLDER")]
    into: Option<PathBuf>,
    /// How many processes compute at a time, each on a core of its own [default: all cores]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZero<usize>>,
    /// The memory that all of them may take [default: four fifths of what is free]
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    memory: Option<u64>,
    /// Say what would be run, and run nothing
    #[arg(long)]
    list: bool,
    /// Print one JSON document and nothing else on standard output
    #[arg(long)]
    json: bool,
}

/// The format of what `--json` prints, and its version.
const SCHEMA: &str = "kilocore-sweep/1";

/// A plan's run, as `--json` has it.
#[derive(Debug, Serialize)]
struct RunDocument<'a> {
    /// The line of its command in the plan.
    line: usize,
    values: Vec<(&'a str, &'a str)>,
    command: &'a [String],
    files: Vec<PathBuf>,
    /// `answered`, `failed` or `left`; nothing of a run that would be run.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    folder: &'a Path,
    runs: Vec<RunDocument<'a>>,
    /// How many points were computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    computed: Option<usize>,
}

pub(crate) fn sweep(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let plan = read(&arguments.plan)?;
    let folder = arguments.folder(&plan);
    if arguments.list {
        let runs = plan.runs.iter().map(|run| described(run, &folder)).collect();
        match arguments.json {
            true => json(&Document { schema: SCHEMA, folder: &folder, runs, computed: None })?,
            false => {
                plan.runs.iter().for_each(|run| print(&format!("{}\n", line_of(run, &folder))))
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut cores: Vec<CpuId> = allowed_cores();
    cores.truncate(arguments.jobs.map_or(usize::MAX, NonZero::get));
    let memory = arguments.memory.or_else(|| Some(available_memory()? / 5 * 4)).unwrap_or(u64::MAX);
    let bar = Bar(output::progress(0, "sweeping"));
    let sweep = Sweep { plan: &plan, folder: &folder, cores: &cores, memory };
    let outcome = sweep.run(&program, &bar)?;
    bar.0.finish_and_clear();
    if arguments.json {
        json(&document(&plan, &folder, &outcome))?;
    } else {
        print(&told(&plan, &folder, &outcome));
    }
    Ok(match (outcome.told_by, outcome.failed.is_empty()) {
        (Some(signal), _) => {
            ExitCode::from(u8::try_from(shell_status_of_signal(signal)).unwrap_or(u8::MAX))
        }
        (None, true) => ExitCode::SUCCESS,
        (None, false) => ExitCode::from(1),
    })
}

fn read(file: &Path) -> Result<Plan, Failure> {
    use std::io::Read;
    let unreadable = |error: &std::io::Error| {
        Failure::new(format!(
            "{}: cannot read the plan: {error}; name a file that can be read",
            file.display()
        ))
    };
    let opened = std::fs::File::open(file).map_err(|error| unreadable(&error))?;
    let mut text = String::new();
    let limit = MOST_BYTES as u64 + 1;
    opened.take(limit).read_to_string(&mut text).map_err(|error| unreadable(&error))?;
    Ok(Plan::parse(&text, &file.display().to_string())?)
}

impl Arguments {
    /// The folder of the answers. One that the plan names lies beside the plan.
    fn folder(&self, plan: &Plan) -> PathBuf {
        match (&self.into, &plan.folder) {
            (Some(folder), _) => folder.clone(),
            (None, Some(folder)) => self.plan.parent().unwrap_or(Path::new("")).join(folder),
            (None, None) if self.plan.extension().is_some() => self.plan.with_extension(""),
            (None, None) => self.plan.with_extension("answers"),
        }
    }
}

/// The program of that name: this one, one beside it, or one in `PATH`.
fn program(name: &str) -> Option<PathBuf> {
    let own = env::current_exe().ok()?;
    if own.file_name().is_some_and(|own| own == name) {
        return Some(own);
    }
    let beside = own.with_file_name(name);
    if beside.is_file() { Some(beside) } else { find_program(name.as_ref()).ok() }
}

/// How far it is, on the bar.
struct Bar(ProgressBar);

impl Progress for Bar {
    fn is_at(&self, standing: Standing) {
        let Standing { runs_ended, runs, points_ended, points, time_left } = standing;
        self.0.set_length((runs + points) as u64);
        self.0.set_position((runs_ended + points_ended) as u64);
        if let Some(left) = time_left {
            self.0.set_message(format!("sweeping, {} of computing left", about(left.as_secs())));
        }
    }
}

/// So many seconds, in few words.
fn about(seconds: u64) -> String {
    match seconds {
        0..100 => format!("{seconds} s"),
        100..6_000 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h", seconds.div_ceil(3_600)),
    }
}

/// A run as a person could type it.
fn line_of(run: &PlannedRun, folder: &Path) -> String {
    let words = run.words_with_reports(folder);
    let words: Vec<String> = words.iter().map(|word| quoted(&word.to_string_lossy())).collect();
    let printed = match &run.answer {
        kilocore_sweep_plan::Answer::Printed(file) => {
            format!(" > {}", quoted(&folder.join(file).to_string_lossy()))
        }
        kilocore_sweep_plan::Answer::Reports(_) => String::new(),
    };
    format!("{}{printed}", words.join(" "))
}

/// A word as a shell would read it.
fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:,=+@%{}".contains(&byte);
    match !word.is_empty() && word.bytes().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

fn described<'a>(run: &'a PlannedRun, folder: &Path) -> RunDocument<'a> {
    RunDocument {
        line: run.line,
        values: run.values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect(),
        command: &run.words,
        files: run.answer.files().iter().map(|file| folder.join(file)).collect(),
        state: None,
        why: None,
    }
}

fn document<'a>(plan: &'a Plan, folder: &'a Path, outcome: &'a Outcome) -> Document<'a> {
    let mut runs: Vec<RunDocument<'_>> = plan
        .runs
        .iter()
        .map(|run| RunDocument { state: Some("left"), ..described(run, folder) })
        .collect();
    for run in &outcome.done {
        runs[run.0].state = Some("answered");
    }
    for failed in &outcome.failed {
        let run = &mut runs[failed.run.0];
        run.state = Some("failed");
        run.why = Some(&failed.why);
    }
    Document { schema: SCHEMA, folder, runs, computed: Some(outcome.computed) }
}

/// What has come of it, for people.
fn told(plan: &Plan, folder: &Path, outcome: &Outcome) -> String {
    let Outcome { done, failed, left, computed, .. } = outcome;
    let mut text = format!(
        "{} of {} runs are answered, in {}; {} points were computed.\n",
        count(done.len() as u64),
        count(plan.runs.len() as u64),
        folder.display(),
        count(*computed as u64),
    );
    for failed in failed {
        let run = &plan.runs[failed.run.0];
        text += &format!("failed: line {}, {}: {}\n", run.line, run.named(), failed.why);
    }
    if !left.is_empty() {
        text += "What was computed is kept. Run it again to go on.\n";
    }
    text
}
