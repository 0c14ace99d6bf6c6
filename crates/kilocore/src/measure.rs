//! `kilocore measure -- CMD…`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use kilocore_launch::Options;
use kilocore_profile::Profile;

use crate::failure::Failure;
use crate::{launch, output};

/// Profiles the locks of a program.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Write the profile here
    #[arg(long, short, value_name = "FILE", default_value = "kilocore-profile.json")]
    output: PathBuf,
    /// Print the profile on standard output instead; what the program prints there goes to
    /// standard error
    #[arg(long)]
    json: bool,
    /// Run the program a second time, confined to one core, to see how much of its data moves with
    /// each lock; only for programs that may be run twice
    #[arg(long)]
    twice: bool,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(crate) fn measure(arguments: Arguments) -> Result<ExitCode, Failure> {
    if !arguments.json {
        output::check_folder(&arguments.output)?;
    }
    let profile = profile(&arguments.command, arguments.twice, arguments.json)?;
    if arguments.json {
        output::json(&profile)?;
    } else {
        profile.write(&arguments.output)?;
        eprintln!("kilocore: profile written to {}", arguments.output.display());
        output::print(&kilocore_report::terminal::profile_table(&profile, output::width()));
    }
    Ok(exit_code(&profile))
}

/// Runs a program and makes its profile; `aside` sends what it prints to standard error.
pub(crate) fn profile(
    command: &[OsString],
    confined_run: bool,
    aside: bool,
) -> Result<Profile, Failure> {
    launch::check(command)?;
    let library = launch::library("libkilocore_measure.so")?;
    let options = Options { library, confined_run, output_to_stderr: aside };
    let mut profile = kilocore_launch::measure_telling(command, &options, || {
        eprintln!(
            "kilocore: running the program again on one core, without input or output, to see \
             how much of its data moves with each lock"
        );
    })?;
    profile.host.core_to_core_ns = kilocore_machine::measure::host_core_to_core();
    Ok(profile)
}

/// How the program ended, for our own end.
pub(crate) fn exit_code(profile: &Profile) -> ExitCode {
    let status = profile.runs.first().map_or(0, |run| run.exit_status);
    ExitCode::from(u8::try_from(status).unwrap_or(u8::MAX))
}
