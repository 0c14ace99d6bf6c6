//! `kilocore record pages -- CMD…`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use kilocore_command_line::{Failure, output, say};
use kilocore_page_trace::Ending;
use kilocore_page_trace::recorder::{Options, RecordError, Recording};
use kilocore_process::{Held, shell_status};
use kilocore_show::number;

use crate::{examples, launch, time};

/// Records the pages that a program is given and gives back.
#[derive(Debug, Args)]
#[command(after_help = examples::RECORD_PAGES)]
pub(crate) struct Arguments {
    /// Write the recording here
    #[arg(long, short, value_name = "FILE", default_value = "kilocore.pages")]
    output: PathBuf,
    /// Leave out what the program does in its first seconds, as in 2.5 or 500ms
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    delay: Option<Duration>,
    /// How long to do so, as in 10, 90s or 5m. Then the program is asked to end (SIGTERM)
    #[arg(long, value_name = "TIME", value_parser = time::parse)]
    duration: Option<Duration>,
    /// Record so many events, and then ask the program to end (SIGTERM)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    limit_events: Option<u64>,
    /// The program and its arguments, all that follows; `--` before it ends kilocore's own options
    #[arg(trailing_var_arg = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(crate) fn record(arguments: &Arguments) -> Result<ExitCode, Failure> {
    output::check_folder(&arguments.output)?;
    launch::check(&arguments.command)?;
    let held = Held::begin();
    let options = Options {
        output: arguments.output.clone(),
        delay: arguments.delay,
        duration: arguments.duration,
        events: arguments.limit_events,
    };
    let recorded = kilocore_page_trace::recorder::record(&arguments.command, &options);
    let recording = recorded.map_err(|error| match error {
        RecordError::Start { program, source } => launch::cannot_start(&program, source),
        other => other.into(),
    })?;
    tell(&recording, arguments);
    drop(held);
    launch::check_loaded(&arguments.command, shell_status(recording.status))?;
    Ok(match recording.header.about.ending {
        // It ended because it was told to, as whoever set the limit wanted.
        Ending::TimeWasUp | Ending::EnoughEvents => ExitCode::SUCCESS,
        Ending::ProgramEnded | Ending::TooManyPages => {
            ExitCode::from(u8::try_from(shell_status(recording.status)).unwrap_or(u8::MAX))
        }
    })
}

/// Says on standard error what was recorded, and first what was not.
fn tell(recording: &Recording, arguments: &Arguments) {
    for warning in &recording.warnings {
        say(&warning.to_string());
    }
    match recording.header.about.ending {
        Ending::TimeWasUp => {
            say("the time was up, and the program was asked to end");
        }
        Ending::EnoughEvents => {
            say("there were enough events, and the program was asked to end");
        }
        Ending::ProgramEnded | Ending::TooManyPages => {}
    }
    let (about, contents) = (&recording.header.about, &recording.header.contents);
    say(&format!(
        "recording written to {}: {} events in {}, of {} processes with {} threads; \
         `kilocore show` summarizes it",
        arguments.output.display(),
        number::count(contents.events),
        number::nanoseconds(about.duration.0 as f64),
        about.processes,
        about.threads
    ));
}
