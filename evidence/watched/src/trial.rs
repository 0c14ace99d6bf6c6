//! One run of a planted program under watch.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::planted::{BuildError, Built, Program, Ready, RunError, Truth, UnreadableTruth};
use kilocore_lock_profile::{Profile, ProfileError};

/// How the watcher gets to the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Attachment {
    /// The program runs already: `--pid`.
    Attached,
    /// The watcher starts it: `--`.
    Started,
}

/// What a planted program does, and for how long it is watched.
#[derive(Debug, Clone, Copy)]
pub struct Work {
    /// How many threads it has.
    pub threads: usize,
    /// How long they hold the lock, and how long they compute between.
    pub hold: Duration,
    /// How long threads compute between two holds, on average.
    pub think: Duration,
    /// How long it is watched.
    pub watched: Duration,
}

/// What both sides say of a run.
#[derive(Debug)]
pub struct Trial {
    /// The planted program that was watched.
    pub program: &'static Program,
    /// How the watcher got to it.
    pub how: Attachment,
    /// Where its lock is, by its own account.
    pub ready: Ready,
    /// What it says of its lock and of its holds, as it counted them itself.
    pub truth: Truth,
    /// What the watcher says.
    pub profile: Profile,
}

/// Why there is nothing to compare.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// The program is not built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The program does not run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// What the program says cannot be read.
    #[error(transparent)]
    Truth(#[from] UnreadableTruth),
    /// The profile cannot be read.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The watcher ended with a failure, and this is its message.
    #[error("{0}")]
    Watcher(String),
    /// The system refuses something.
    #[error(transparent)]
    System(#[from] std::io::Error),
}

impl Trial {
    /// Runs a program and has it watched by the program at `kilocore`.
    ///
    /// # Errors
    /// If one of the two fails, or says nothing.
    pub fn run(
        kilocore: &Path,
        program: &'static Program,
        how: Attachment,
        work: &Work,
    ) -> Result<Self, TrialError> {
        let built = program.build()?;
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("profile.json");
        let (ready, truth) = match how {
            Attachment::Attached => attached(kilocore, &built, work, &file)?,
            Attachment::Started => started(kilocore, &built, work, &file)?,
        };
        Ok(Self { program, how, ready, truth, profile: Profile::read(&file)? })
    }
}

fn attached(
    kilocore: &Path,
    built: &Built,
    work: &Work,
    file: &Path,
) -> Result<(Ready, Truth), TrialError> {
    let longer = work.watched * 100;
    let running = built.start(work.threads, work.hold, work.think, longer)?;
    let ready = running.ready().clone();
    let mut command = Command::new(kilocore);
    command.args(["record", "locks", "--tree", "--pid", &ready.pid.to_string(), "--duration"]);
    command.arg(work.watched.as_secs_f64().to_string()).arg("--output").arg(file);
    output(&mut command)?;
    running.terminate()?;
    Ok((ready, running.finish()?))
}

fn started(
    kilocore: &Path,
    built: &Built,
    work: &Work,
    file: &Path,
) -> Result<(Ready, Truth), TrialError> {
    let mut command = Command::new(kilocore);
    command.args(["record", "locks", "--recorder", "watch", "--output"]).arg(file).arg("--");
    command.args(built.command(work.threads, work.hold, work.think, work.watched));
    let text = output(&mut command)?;
    let line = text.lines().find(|line| line.starts_with("ready ")).unwrap_or_default();
    Ok((Ready::read(line)?, Truth::read(&text)?))
}

fn output(command: &mut Command) -> Result<String, TrialError> {
    let output = command.output()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        Ok(text(&output.stdout))
    } else {
        Err(TrialError::Watcher(text(&output.stderr)))
    }
}
