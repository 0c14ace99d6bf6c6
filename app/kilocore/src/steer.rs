//! `kilocore steer -- CMD…` and `kilocore steer --pid …`.

mod summary;
mod watch;

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use clap::Args;
use kilocore_command_line::{Failure, output, say};
use kilocore_lock_recorder::measuring;
use kilocore_process::{Held, NotStarted, Output, Start, shell_status};
use kilocore_sched_daemon::{
    Control, Daemon, DaemonError, Linux, Meter, Metrics, Options, Orphan, Outcome, Summary,
    check_control, guard, recordings_folder, restore_orphans,
};
use kilocore_sched_policy::{PolicyName, UnknownPolicy};
use kilocore_show::Format;

use crate::{examples, launch, time};

/// The name of the hidden verb that puts things back after a kill.
pub(crate) const GUARDIAN: &str = "steer-guardian";

/// Steers programs by a scheduling policy.
#[derive(Debug, Args)]
#[command(after_help = examples::STEER)]
pub(crate) struct Arguments {
    /// Who decides; see `kilocore list policies`
    #[arg(long, value_name = "NAME", default_value = "lock-aware", value_parser = policy)]
    policy: PolicyName,
    /// How often it decides, such as 100ms or 1s; longer if listing the threads takes longer than a
    /// tenth of that
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = window)]
    window: Duration,
    /// Where metrics come from: auto (what this host offers), perf (sees spinning), proc, preload (starts the
    /// program with a library that counts its pthread locks, for sleeping locks with exact waits),
    /// tracepoints (exact sleep in the futexes of any program, at two records of the kernel a wait), or kernel
    /// (insists on waits for the kernel's own locks, which all but proc take where they are to be had)
    #[arg(long, value_name = "SOURCE", default_value = "auto")]
    metrics: Metrics,
    /// How orders are carried out: affinity, or cpuset, which moves threads into cgroups made for it and
    /// leaves what they have asked for themselves as it is
    #[arg(long, value_name = "WAY", default_value = "affinity")]
    control: Control,
    /// Decide, but order nothing
    #[arg(long)]
    dry_run: bool,
    /// How long to do so, as in 10, 90s or 5m. The program goes on after that
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    duration: Option<Duration>,
    /// Take a process that runs already, in the place of a command. It may be several, with commas
    /// between; they are steered, with what they start, until they end or a signal comes
    #[arg(long, value_name = "PID", value_delimiter = ',', conflicts_with = "command")]
    pid: Vec<u32>,
    /// Let --pid 1 mean what it says: all processes of this system, or of this container
    #[arg(long, requires = "pid")]
    whole_system: bool,
    /// Only put back what an earlier run left that was killed together with its guardian
    #[arg(long, conflicts_with_all = ["pid", "command"])]
    restore: bool,
    /// Show what is done live on the terminal; `q` closes that, and with --pid ends steering, too. Let the
    /// program write to files, since what it prints on the terminal is drawn over
    #[arg(long, conflicts_with = "restore")]
    watch: bool,
    /// Print one JSON document and nothing else on standard output. What the program prints goes to
    /// standard error
    #[arg(long)]
    json: bool,
    /// Also write a report, in the format that the file's ending asks for. It is .json; may be given for
    /// several files
    #[arg(long, short, value_name = "FILE")]
    output: Vec<PathBuf>,
    /// Write a line for each change to this file
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// The program and its arguments, all that follows; `--` before it ends kilocore's own options
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Puts things back when a daemon has died.
#[derive(Debug, Args)]
pub(crate) struct GuardianArguments {
    journal: PathBuf,
}

pub(crate) fn guardian(arguments: &GuardianArguments) -> ExitCode {
    match guard(&arguments.journal, &mut Linux) {
        Ok(Some(outcome)) => {
            let threads = outcome.threads;
            say(&format!(
                "the kilocore that confined them was killed; {threads} threads got their affinity back"
            ));
            if tell_left(&outcome) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
        }
        Ok(None) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Says what could not be put back, and whether there is something; and what is not known.
pub(crate) fn tell_left(Outcome { left, unknown, strangers, .. }: &Outcome) -> bool {
    for what in unknown.iter().chain(strangers) {
        say(&format!("steer: not known: {what}"));
    }
    for what in left {
        say(&format!(
            "steer: could not be put back: {what}; `kilocore steer --restore` tries again"
        ));
    }
    !left.is_empty()
}

pub(crate) fn steer(arguments: Arguments) -> Result<ExitCode, Failure> {
    let left = put_back_orphans(arguments.restore);
    if arguments.restore {
        return Ok(if left { ExitCode::FAILURE } else { ExitCode::SUCCESS });
    }
    if arguments.pid.is_empty() && arguments.command.is_empty() {
        return Err(Failure::new("nothing to steer: add a command, or --pid with a process"));
    }
    for file in &arguments.output {
        if output::format_of(file)? != Format::Json {
            return Err(Failure::new(format!(
                "{}: of steering there is a JSON document only; choose a file that ends in .json",
                file.display()
            )));
        }
    }
    if let Some(file) = &arguments.log {
        output::check_folder(file)?;
    }
    if arguments.metrics == Metrics::Preload && !arguments.pid.is_empty() {
        return Err(Failure::new(
            "--metrics preload loads a library into the program at its start, so it cannot watch processes \
             that run already: take --metrics auto with --pid, or let kilocore start the program",
        ));
    }
    // What would fail later fails before anything is written and the program exists.
    let meter = Meter::begin(arguments.metrics, arguments.policy)?;
    if arguments.pid.contains(&1) && !arguments.whole_system {
        return Err(DaemonError::WholeSystem.into());
    }
    check_control(arguments.control, &arguments.pid, &mut Linux)?;
    if arguments.command.is_empty() {
        watch_running(&arguments, meter)
    } else {
        start(&arguments, meter)
    }
}

/// Puts back what was left of daemons that were killed. Returns whether something could not be put back,
/// of which those that cannot be put back from here are told only if that was `asked` for.
fn put_back_orphans(asked: bool) -> bool {
    let mut left = false;
    for orphan in restore_orphans(&mut Linux) {
        match orphan {
            Orphan::Restored { daemon, outcome } => {
                say(&format!(
                    "process {daemon}, which confined them, was killed together with its guardian; {} threads got \
                     their affinity back",
                    outcome.threads
                ));
                left |= tell_left(&outcome);
            }
            Orphan::Elsewhere { daemon, path } if asked => {
                say(&format!(
                    "steer: {} was left by process {daemon} of another PID namespace, where processes have \
                     other numbers: run `kilocore steer --restore` in that container or, if it is gone, remove the \
                     file",
                    path.display()
                ));
                left = true;
            }
            Orphan::Elsewhere { .. } => {}
        }
    }
    left
}

/// Steers processes that run already.
fn watch_running(arguments: &Arguments, meter: Meter) -> Result<ExitCode, Failure> {
    let held = Held::begin();
    let mut steering = Steering::of(arguments)?;
    let mut daemon = steering.daemon(&arguments.pid, meter)?;
    steering.steer(&mut daemon, &|| held.came())?;
    let done = daemon.finish();
    // The terminal is as before only after everything else is.
    drop(steering);
    arguments.tell(&done)?;
    Ok(ExitCode::SUCCESS)
}

/// Starts a program and steers it until it ends.
fn start(arguments: &Arguments, meter: Meter) -> Result<ExitCode, Failure> {
    launch::check(&arguments.command)?;
    let preloaded = (arguments.metrics == Metrics::Preload).then(preload).transpose()?;
    let held = Held::begin();
    let mut steering = Steering::of(arguments)?;
    let (folder, environment) = preloaded.unzip();
    steering.options.recordings = folder;
    let over = Arc::new(AtomicBool::new(false));
    let (tell, told) = mpsc::channel();
    let seen = Arc::clone(&over);
    let before_exec = move |pid: libc::pid_t| {
        let (ready, is_ready) = mpsc::channel();
        let thread = std::thread::spawn(move || steering.all(pid as u32, meter, &seen, &ready));
        let _ = tell.send(thread);
        // Without an answer, it has ended before it could begin.
        if is_ready.recv().is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let end = kilocore_process::run(Start {
        command: &arguments.command,
        environment: environment.unwrap_or_default(),
        before_exec: Some(Box::new(before_exec)),
        // A daemon that the program starts twice over stays findable.
        adopt_orphans: true,
        output: if arguments.json { Output::ToStderr } else { Output::Inherited },
        ..Start::default()
    });
    over.store(true, Ordering::SeqCst);
    let thread: Option<JoinHandle<Result<Summary, DaemonError>>> = told.recv().ok();
    let steered =
        thread.map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
    let end = match end {
        Ok(end) => end,
        Err(NotStarted::Refused(error)) => {
            return Err(launch::cannot_start(&arguments.command[0], error));
        }
        Err(NotStarted::HeldBack) => match steered {
            Some(Err(error)) => return Err(error.into()),
            _ => return Err(Failure::new("the program was held back")),
        },
    };
    match steered {
        Some(Ok(done)) => arguments.tell(&done)?,
        Some(Err(error)) => say(&format!("the program was not steered to its end: {error}")),
        None => {}
    }
    drop(held);
    let status = shell_status(end.status);
    launch::check_loaded(&arguments.command, status)?;
    Ok(ExitCode::from(status as u8))
}

impl Arguments {
    /// Tells what was done, and writes it where that is asked for.
    fn tell(&self, done: &Summary) -> Result<(), Failure> {
        summary::write(done, self.dry_run, self.json, &self.output)
    }
}

/// A folder for recordings, and the variables with which a program records there.
fn preload() -> Result<(PathBuf, Vec<(OsString, OsString)>), Failure> {
    let library = launch::library("libkilocore_measure.so")?.canonicalize()?;
    let folder = recordings_folder()?;
    let environment = measuring(&library, &folder);
    Ok((folder, environment))
}

/// The options of the daemon, and the view of it.
struct Steering {
    options: Options,
    duration: Option<Duration>,
    log: Option<File>,
    view: Option<watch::View>,
    shown: Option<watch::OpenView>,
}

impl Steering {
    fn of(arguments: &Arguments) -> Result<Self, Failure> {
        let create =
            |path: &PathBuf| File::create(path).map_err(|error| Failure::from(error).about(path));
        let view = arguments.watch.then(|| {
            let Arguments { command, pid, policy, dry_run, .. } = arguments;
            watch::View::of(command, pid, *policy, *dry_run)
        });
        Ok(Self {
            options: Options {
                policy: arguments.policy,
                window: arguments.window,
                control: arguments.control,
                dry_run: arguments.dry_run,
                whole_system: arguments.whole_system,
                adopts: !arguments.command.is_empty(),
                recordings: None,
            },
            duration: arguments.duration,
            view: view.transpose()?,
            shown: None,
            log: arguments.log.as_ref().map(create).transpose()?,
        })
    }

    fn daemon(&self, pids: &[u32], meter: Meter) -> Result<Daemon, DaemonError> {
        let mut guardian = Command::new("/proc/self/exe");
        guardian.arg(GUARDIAN);
        Daemon::new(pids, self.options.clone(), meter, Box::new(Linux), guardian)
    }

    fn steer(&mut self, daemon: &mut Daemon, over: &dyn Fn() -> bool) -> Result<(), DaemonError> {
        let began = Instant::now();
        let (duration, log) = (self.duration, &mut self.log);
        self.shown = self.view.take().map(|view| view.show(daemon));
        let shown = self.shown.as_ref();
        if let Some(log) = log {
            let _ = writeln!(log, "0.0 s: orders are carried out by {}", daemon.control());
        }
        let closed = || shown.is_some_and(watch::OpenView::asks_to_end);
        let late = || duration.is_some_and(|duration| began.elapsed() >= duration);
        let stop = || over() || late() || closed();
        daemon.run(&stop, &mut |line| {
            if let Some(log) = log {
                let _ = writeln!(log, "{:.1} s: {line}", began.elapsed().as_secs_f64());
            }
        })
    }

    /// Steers the program with this process from before its beginning to its end.
    fn all(
        mut self,
        pid: u32,
        meter: Meter,
        over: &AtomicBool,
        ready: &mpsc::Sender<()>,
    ) -> Result<Summary, DaemonError> {
        let mut daemon = self.daemon(&[pid], meter)?;
        let _ = ready.send(());
        self.steer(&mut daemon, &|| over.load(Ordering::SeqCst))?;
        Ok(daemon.finish())
    }
}

/// A policy by its name. A name that none has is answered with those that can steer.
fn policy(name: &str) -> Result<PolicyName, UnknownPolicy> {
    name.parse().map_err(|unknown: UnknownPolicy| unknown.offering(PolicyName::steering()))
}

/// How long a window may be.
fn window(text: &str) -> Result<Duration, String> {
    let time = time::parse(text)?;
    // A window in which no thread is sampled says nothing; a day is for ever.
    let possible = Duration::from_millis(10)..=Duration::from_secs(86_400);
    possible.contains(&time).then_some(time).ok_or(format!("{text}: choose from 10ms to 24h"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_have_bounds() {
        assert_eq!(window("100ms"), Ok(Duration::from_millis(100)));
        assert_eq!(window("2s"), Ok(Duration::from_secs(2)));
        assert_eq!(window("24h"), Ok(Duration::from_secs(86_400)));
        for text in ["", "ms", "-1s", "9ms", "1441m", "99999999999999999999s"] {
            assert!(window(text).is_err(), "{text}");
        }
    }
}
