//! `kilocore sweep PLAN`: many runs of commands, over lists and ranges of their options.

mod bar;
mod cluster;
mod document;
mod figures;
mod status;

use std::env;
use std::io::Read;
use std::num::NonZero;
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use kilocore_command_line::Failure;
use kilocore_command_line::output::{json, print};
use kilocore_hardware::available_memory;
use kilocore_process::{CpuId, Held, allowed_cores, find_program, shell_status_of_signal};
use kilocore_sweep::{AfterEnd, Engine, Outcome, Share, Sweep};
use kilocore_sweep_plan::{MOST_BYTES, Plan};

use crate::bytes::bytes;
use crate::examples;

use self::bar::Bar;
use self::figures::Figures;

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = examples::SWEEP,
    after_long_help = "\
docs/formats/plans.md says how a plan is written. Runs are tried first; the points that they miss are computed by one \
process for each core, the longest first, and kept as those of any command are. So a sweep that was interrupted goes on \
where it was, and answers that are there are made anew of what is kept. docs/guide/clusters.md says how the nodes of a \
cluster compute them."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    of_tasks: Option<OfTasks>,
    #[command(flatten)]
    swept: Swept,
    /// Let Slurm's nodes compute, in this partition or those of a list; this host runs the commands alone
    #[arg(long, value_name = "PARTITION", num_args = 0..=1)]
    slurm: Option<Option<String>>,
    #[command(flatten)]
    cluster: cluster::Arguments,
    /// Compute this part of all points and no other, such as 3/40: for batch systems that Kilocore does not know
    #[arg(long, value_name = "I/N", value_parser = share, conflicts_with = "slurm")]
    bundle: Option<Share>,
    /// How many processes compute at a time, each on a core of its own [default: all cores]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZero<usize>>,
    /// The memory that all of them may take [default: four fifths of what is free]
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    memory: Option<u64>,
    /// Say what would be run, and run nothing
    #[arg(long)]
    list: bool,
}

/// What is swept, and how it is told.
#[derive(Debug, Args)]
pub(crate) struct Swept {
    /// What is to be run: a file of TOML
    #[arg(value_name = "PLAN", required = true)]
    plan: Option<PathBuf>,
    /// The folder of the answers [default: what the plan says, or its name without .toml]
    #[arg(long, value_name = "FOLDER")]
    into: Option<PathBuf>,
    /// Print one JSON document and nothing else on standard output
    #[arg(long)]
    json: bool,
}

/// What is done with tasks that a cluster has.
#[derive(Debug, Subcommand)]
pub(crate) enum OfTasks {
    /// Say how far the tasks of a sweep are
    Status(Swept),
    /// Take in what the tasks of a sweep have computed by now, and write the answers that are complete
    Collect(Swept),
    /// For Kilocore's own use
    #[command(hide = true, name = cluster::TASK)]
    Task(cluster::TaskArguments),
}

pub(crate) fn sweep(arguments: &Arguments) -> Result<ExitCode, Failure> {
    match &arguments.of_tasks {
        Some(OfTasks::Status(swept)) => return status::status(swept),
        Some(OfTasks::Collect(swept)) => return cluster::collect(swept),
        Some(OfTasks::Task(task)) => return cluster::task(task),
        None => {}
    }
    let (plan, folder) = arguments.swept.read()?;
    if arguments.list {
        let figures = Figures::planned(&plan, &folder);
        match arguments.swept.json {
            true => json(&document::planned(&plan, &folder, &figures))?,
            false => print(&document::listed(&plan, &folder, &figures)),
        }
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(partition) = &arguments.slurm {
        let Arguments { swept, cluster, jobs, .. } = arguments;
        return cluster::submit(swept, (&plan, &folder), partition.as_deref(), cluster, *jobs);
    }
    let mut cores: Vec<CpuId> = allowed_cores();
    cores.truncate(arguments.jobs.map_or(usize::MAX, NonZero::get));
    let engine = arguments.bundle.map_or(Engine::Cores, Engine::Share);
    let memory = arguments.memory.unwrap_or_else(free_memory);
    let sweep = Sweep {
        plan: &plan,
        folder: &folder,
        cores: &cores,
        memory,
        engine,
        told_by: Held::signal,
    };
    let mut outcome = arguments.swept.run(&sweep)?;
    // Who computes a part leaves the answers to somebody else, and so what is made of them.
    let figures = match arguments.bundle {
        Some(_) => Figures::left(&plan, &folder),
        None => arguments.swept.conclude(&sweep, &mut outcome),
    };
    arguments.swept.tell(&plan, &folder, &outcome, &figures)?;
    let left = arguments.bundle.is_none() && !outcome.left.is_empty();
    Ok(status_of(&outcome, left || figures.has_failed()))
}

/// The memory that processes may take if nobody says how much, in bytes.
fn free_memory() -> u64 {
    available_memory().map_or(u64::MAX, |free| free / 5 * 4)
}

/// How a sweep ends, in which runs may be left that should not be.
fn status_of(outcome: &Outcome, is_short: bool) -> ExitCode {
    match outcome.told_by {
        Some(signal) => told_to_end(signal),
        None => {
            let has_failed = |end: &AfterEnd| matches!(end, AfterEnd::Failed(_));
            let fails = !outcome.failed.is_empty() || outcome.after.iter().any(has_failed);
            ExitCode::from(u8::from(is_short || fails))
        }
    }
}

/// How a process ends that was told to by a signal.
fn told_to_end(signal: i32) -> ExitCode {
    ExitCode::from(u8::try_from(shell_status_of_signal(signal)).unwrap_or(u8::MAX))
}

impl Swept {
    /// The plan, and the folder of its answers. One that the plan names lies beside the plan.
    fn read(&self) -> Result<(Plan, PathBuf), Failure> {
        let file = self.plan.as_deref().unwrap_or(Path::new(""));
        let plan = read(file)?;
        let folder = match (&self.into, &plan.folder) {
            (Some(folder), _) => folder.clone(),
            (None, Some(folder)) => beside(file.parent().unwrap_or(Path::new("")), folder),
            (None, None) if file.extension().is_some() => file.with_extension(""),
            (None, None) => file.with_extension("answers"),
        };
        Ok((plan, folder))
    }

    /// Runs a sweep, and shows meanwhile how far it is.
    fn run(&self, sweep: &Sweep<'_>) -> Result<Outcome, Failure> {
        let bar = Bar::new();
        // A signal that comes while no command runs must not end this process as it is.
        let _held = Held::begin();
        let outcome = sweep.run(&program, &bar)?;
        bar.clear();
        Ok(outcome)
    }

    /// Makes the plan's figures of what has come of it. Then runs what comes after, if all is there.
    fn conclude<'a>(&self, sweep: &Sweep<'a>, outcome: &mut Outcome) -> Figures<'a> {
        let file = self.plan.as_deref().unwrap_or(Path::new(""));
        let origin = file.display().to_string();
        let figures = Figures::make(sweep.plan, &origin, sweep.folder, outcome);
        if !figures.has_failed() {
            sweep.conclude(&program, outcome);
        }
        figures
    }

    /// Says what has come of it.
    fn tell(
        &self,
        plan: &Plan,
        folder: &Path,
        outcome: &Outcome,
        figures: &Figures<'_>,
    ) -> Result<(), Failure> {
        match self.json {
            true => json(&document::document(plan, folder, outcome, figures))?,
            false => print(&document::told(plan, folder, outcome, figures)),
        }
        Ok(())
    }
}

/// The path of a folder that is named as seen from another one, without the detour over that one where there is none.
fn beside(from: &Path, folder: &Path) -> PathBuf {
    let short = || {
        // A link's parent is not the folder that it stands in.
        let mut path = from.join(".").canonicalize().ok()?;
        for part in folder.components() {
            match part {
                Component::Normal(name) => path.push(name),
                Component::ParentDir => drop(path.pop()),
                _ => return None,
            }
            path = path.canonicalize().unwrap_or(path);
        }
        let here = env::current_dir().ok()?.canonicalize().ok()?;
        Some(match path.strip_prefix(here) {
            Ok(rest) if rest.as_os_str().is_empty() => PathBuf::from("."),
            Ok(rest) => rest.to_owned(),
            Err(_) => path,
        })
    };
    let is_detour = folder.components().any(|part| part == Component::ParentDir);
    is_detour.then(short).flatten().unwrap_or_else(|| from.join(folder))
}

fn read(file: &Path) -> Result<Plan, Failure> {
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

/// The program of that name: this one, one beside it, or one in `PATH`.
fn program(name: &str) -> Option<PathBuf> {
    let own = env::current_exe().ok()?;
    if own.file_name().is_some_and(|own| own == name) {
        return Some(own);
    }
    let beside = own.with_file_name(name);
    if beside.is_file() { Some(beside) } else { find_program(name.as_ref()).ok() }
}

/// A part of all points, as it is typed.
fn share(text: &str) -> Result<Share, String> {
    let parts = text
        .split_once('/')
        .and_then(|(number, of)| Share::new(number.trim().parse().ok()?, of.trim().parse().ok()?));
    parts.ok_or_else(|| {
        format!("'{text}' is no part; give its number and how many there are, as in 3/40")
    })
}
