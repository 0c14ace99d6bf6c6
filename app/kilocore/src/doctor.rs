//! `kilocore doctor -- CMD…`: `record locks` and then `forecast` of that recording.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use kilocore_lock_profile::{Scaling, WhyNotTimed};

use crate::emulate::{Emulation, emulated_there};
use crate::examples;
use crate::forecast::profile::{Target, show};
use crate::record::locks::{self, RecordingOptions};
use crate::record::subject::Subject;
use crate::record::timing::{TimingOptions, try_recommended};
use crate::record::window::Window;
use kilocore_command_line::Failure;
use kilocore_command_line::reports::Reports;

/// The whole way from a program to advice.
#[derive(Debug, Args)]
#[command(after_help = examples::DOCTOR)]
pub(crate) struct Arguments {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    reports: Reports,
    /// Keep the recording in this file, for `kilocore show`, `kilocore forecast` and `kilocore compare`
    #[arg(long, value_name = "FILE")]
    keep: Option<PathBuf>,
    /// Run the program once only: for one whose second run would do harm. How much data moves
    /// with each lock is then assumed
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    emulation: Emulation,
    #[command(flatten)]
    timing: TimingOptions,
    #[command(flatten)]
    window: Window,
    #[command(flatten)]
    subject: Subject,
}

pub(crate) fn doctor(arguments: &Arguments) -> Result<ExitCode, Failure> {
    // What can fail early fails before the program is run.
    let machine = arguments.target.machine()?;
    let files = arguments.reports.files()?;
    let emulator = arguments.emulation.emulator(arguments.target.keeps())?;
    arguments.keep.as_deref().map_or(Ok(()), locks::check)?;
    let timing = arguments.timing.timing()?.filter(|_| !arguments.once);
    let wanted = RecordingOptions {
        timing: timing.as_ref(),
        confining: arguments.timing.confining()?,
        confined_run: !arguments.once,
        count_lines: false,
        output_to_stderr: arguments.reports.json,
        window: &arguments.window,
    };
    let (mut measured, held) = locks::run(&arguments.subject, &wanted)?;
    drop(held);
    if timing.is_none() {
        measured.profile.scaling = Some(Scaling::untimed(WhyNotTimed::Once));
    }
    if let Some(file) = &arguments.keep {
        locks::write(&measured.profile, file)?;
    }
    let (target, reports) = (&arguments.target, &arguments.reports);
    let answer = arguments.subject.answer();
    let mut forecast = target.forecast(&measured.profile, &machine)?;
    if let Some(timing) = &timing {
        let choice = arguments.subject.choice()?;
        forecast = try_recommended(forecast, &measured, choice, timing);
    }
    if let (Some(emulator), Some(command)) = (&emulator, arguments.subject.choice()?.command()) {
        forecast = emulated_there(forecast, command, &machine, emulator);
    }
    show(&forecast, (&measured.profile, target, &machine), reports, &files, answer)?;
    // To have seen too little is an answer: the program's end is ours all the same.
    Ok(locks::exit_code(&measured))
}
