//! `kilocore record locks -- CMD…`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use kilocore_command_line::{Destination, Failure, output, say};
use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{Profile, Run, Scaling, WhyNotTimed};
use kilocore_lock_recorder::{BeforeEnd, Conduct, Measured, Options, ProcessScope, Timing};
use kilocore_process::{Held, allowed_cores, sized_for};
use kilocore_sched_daemon::Linux;

use super::confining::Target;
use super::crash;
use super::leave_cores::BeforeWatching;
use super::line_counter::LineCounter;
use super::lost::Lost;
use super::subject::{Choice, Subject};
use super::timing::{self, Confining};
use super::window::Window;
use crate::{examples, launch};

/// The recording's name if none is given.
const USUAL_NAME: &str = "kilocore.locks.json";

/// Records the locks of a program.
#[derive(Debug, Args)]
#[command(after_help = examples::RECORD_LOCKS)]
pub(crate) struct Arguments {
    /// Write the recording here [default: kilocore.locks.json]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print one JSON document and nothing else on standard output. It is the recording, which is only
    /// written to a file if --output names one; what the program prints goes to standard error
    #[arg(long)]
    json: bool,
    /// Run the program a second time, confined to one core, to see how much of its data moves with
    /// each lock. Only for programs that may be run twice
    #[arg(long)]
    twice: bool,
    /// Run the program once more under QEMU, to count which lines of data move with each lock, and
    /// to see locks that are no pthread locks. Only for programs that may be run twice
    #[arg(long, conflicts_with = "pid")]
    count_lines: bool,
    #[command(flatten)]
    window: Window,
    #[command(flatten)]
    subject: Subject,
}

pub(crate) fn record(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let file = match &arguments.output {
        Some(file) => Some(file.as_path()),
        None => (!arguments.json).then_some(Path::new(USUAL_NAME)),
    };
    if let Some(file) = file {
        check(file)?;
    }
    let wanted = RecordingOptions {
        timing: None,
        confining: None,
        confined_run: arguments.twice,
        count_lines: arguments.count_lines,
        output_to_stderr: arguments.json,
        window: &arguments.window,
    };
    let (measured, held) = run(&arguments.subject, &wanted)?;
    let profile = &measured.profile;
    if let Some(file) = file {
        write(profile, file)?;
    }
    if arguments.json {
        output::json(profile)?;
    } else {
        print(profile, arguments.subject.answer());
    }
    drop(held);
    Ok(exit_code(&measured))
}

/// Prints what a profile says, in short.
pub(crate) fn print(profile: &Profile, answer: Destination) {
    answer.print(&kilocore_lock_report::terminal::profile_table(profile, answer.width()));
    print_times(profile, answer);
}

/// Refuses a file that a recording cannot be written to.
pub(crate) fn check(path: &Path) -> Result<(), Failure> {
    if output::is_page(path) {
        return Err(Failure::new(format!(
            "{page}: a recording is no page; let its name end in .json, and make the page of it with \
             `kilocore show FILE --output {page}`",
            page = path.display()
        )));
    }
    output::check_folder(path)
}

/// Writes the recording to `path`, and says where it is.
pub(crate) fn write(profile: &Profile, path: &Path) -> Result<(), Failure> {
    profile.write(path)?;
    say(&format!("recording written to {}", path.display()));
    Ok(())
}

/// Prints where the threads' time went, if that was seen.
pub(crate) fn print_times(profile: &Profile, answer: Destination) {
    if let Some(times) = profile.runs.first().and_then(Run::checked_times) {
        let table = kilocore_lock_report::terminal::times_table(&times, answer.width());
        answer.print(&format!("\n{table}"));
    }
    print_hints(profile, answer);
}

/// Says what would name the functions that the profile has no names for, if there are any.
fn print_hints(profile: &Profile, answer: Destination) {
    let watching = profile.runs.first().and_then(|run| run.watching.as_ref());
    let hints = watching.map_or(&[][..], |watching| &watching.hints);
    if !hints.is_empty() {
        let hints = format!("Functions without a name: {}.", hints.join("; "));
        answer.print(&format!("\n{}\n", kilocore_show::printable_document(&hints)));
    }
}

/// How a program is to be measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordingOptions<'a> {
    /// How it is timed on the cores that are here, if it is.
    pub(crate) timing: Option<&'a Timing>,
    /// How it is confined to fewer cores while it runs on, if it is.
    pub(crate) confining: Option<Confining>,
    /// Whether it is run a second time, on one core.
    pub(crate) confined_run: bool,
    /// Whether it is run once more, under QEMU.
    pub(crate) count_lines: bool,
    /// Whether what it prints goes to standard error.
    pub(crate) output_to_stderr: bool,
    /// What of its run counts.
    pub(crate) window: &'a Window,
}

/// Measures a program and makes its profile. What asks this process to end does not do so until
/// what is given with it is dropped.
pub(crate) fn run(
    subject: &Subject,
    wanted: &RecordingOptions<'_>,
) -> Result<(Measured, Held), Failure> {
    let asked = subject.choice()?;
    let sized = asked.command().map(|command| sized_for(command, allowed_cores().len() as u32));
    let choice = sized.as_deref().map_or(asked, |command| asked.with_command(command));
    let mut line_counter = None;
    subject.tell_what_is_done_instead();
    if let Some(command) = choice.command() {
        launch::check(command)?;
        launch::check_numbers(command)?;
        line_counter = wanted.count_lines.then(|| LineCounter::new(command)).transpose()?;
    }
    let held = Held::begin();
    let mut measured = match choice {
        Choice::Preload(command) => recorded(command, wanted, false)?,
        Choice::Both(command) => recorded(command, wanted, true)?,
        Choice::Watch(command) => kilocore_lock_recorder::measure_watching(
            command,
            wanted.output_to_stderr,
            &conduct(wanted),
        )
        .map_err(|error| launch::not_measured(command, error))?,
        Choice::Attach(pid, scope) => {
            let before = BeforeWatching::look();
            let over = || held.came();
            let steered_by = || kilocore_sched_daemon::steered_by(pid, &mut Linux);
            let steered_before = steered_by();
            let target = Target { pid, with_descendants: scope == ProcessScope::Tree };
            let confined = wanted.confining.map(|how| target.check().map(|()| how.budget));
            let confined = confined.transpose()?;
            let mut measured =
                kilocore_lock_recorder::measure_running(pid, scope, &conduct(wanted), &over)?;
            if let Some(run) = measured.profile.runs.first_mut() {
                run.steered_by = steered_before.or_else(steered_by);
            }
            if let (Some(budget), [_, ..]) = (confined, &measured.profile.runs[..]) {
                measured.profile.scaling = Some(target.time(budget, None, &over));
            }
            before.give_way();
            measured
        }
    };
    if let (Some(command), [first, ..]) = (choice.command(), &measured.profile.runs[..]) {
        launch::check_loaded(command, first.exit_status)?;
    }
    if let Some(timing) = wanted.timing {
        let part = wanted.window.delay.is_some() || wanted.window.duration.is_some();
        timing::time(&mut measured, asked, timing, part);
    }
    crash::tell(&measured);
    if let Some(error) = &measured.not_watched {
        say(&format!("it was recorded, but not watched from outside: {error}"));
    }
    if let Some(line_counter) = line_counter {
        line_counter.count(&mut measured);
    }
    Lost::of(&measured).tell();
    // A program that runs on would lose the cores meanwhile.
    let runs_on = matches!(choice, Choice::Attach(..));
    if !runs_on && !measured.profile.runs.iter().all(|run| run.processes.is_empty()) {
        measured.profile.host.core_to_core =
            kilocore_hardware::host_core_to_core().map(Nanoseconds);
    }
    Ok((measured, held))
}

/// Measures with the library under the program, and watches it as well if that is asked.
fn recorded(
    command: &[OsString],
    wanted: &RecordingOptions<'_>,
    watch: bool,
) -> Result<Measured, Failure> {
    let library = launch::library("libkilocore_measure.so")?;
    let (confined_run, output_to_stderr) = (wanted.confined_run, wanted.output_to_stderr);
    let options = Options { library, confined_run, output_to_stderr, watch };
    kilocore_lock_recorder::measure_as(command, &options, conduct(wanted))
        .map_err(|error| launch::not_measured(command, error))
}

fn conduct(wanted: &RecordingOptions<'_>) -> Conduct<'static> {
    let confine = |Confining { budget, sections }| {
        let before_end = move |pid, recordings: Option<&Path>| {
            if sections && recordings.is_none() {
                return Scaling::untimed(WhyNotTimed::FewSections);
            }
            let target = Target { pid, with_descendants: true };
            // A signal ends the program, and with it the windows.
            target.time(budget, recordings.filter(|_| sections), &|| false)
        };
        Box::new(before_end) as Box<BeforeEnd<'_>>
    };
    Conduct {
        before_end: wanted.confining.map(confine),
        delay: wanted.window.delay,
        duration: wanted.window.duration,
        by_signals: true,
        adopt_orphans: true,
        before_confined_run: Some(Box::new(|| {
            say("running the program again on one core, without input or output, to see \
                 how much of its data moves with each lock");
        })),
    }
}

/// The exit status for this program: that of the measured program, or 2 if nothing could be recorded of it.
pub(crate) fn exit_code(measured: &Measured) -> ExitCode {
    if Lost::of(measured).all {
        return ExitCode::from(2);
    }
    if measured.time_was_up {
        // It ended because it was told to, as whoever limited the time wanted.
        return ExitCode::SUCCESS;
    }
    let status = measured.profile.runs.first().map_or(0, |run| run.exit_status);
    ExitCode::from(u8::try_from(status).unwrap_or(u8::MAX))
}
