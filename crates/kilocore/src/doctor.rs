//! `kilocore doctor --machine M -- CMD…`: measure, forecast, recommend, report.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Args;
use kilocore_predict::without_simulation;

use crate::failure::Failure;
use crate::{measure, output, predict};

/// The whole way from a program to advice.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    target: predict::Target,
    #[command(flatten)]
    output: output::Options,
    /// Run the program once only: for one whose second run would do harm. How much data moves
    /// with each lock is then assumed
    #[arg(long)]
    once: bool,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(crate) fn doctor(arguments: Arguments) -> Result<ExitCode, Failure> {
    // What can fail early fails before the program is run.
    let machine = arguments.target.machine()?;
    output::check(&arguments.output)?;
    let profile = measure::profile(&arguments.command, !arguments.once, arguments.output.json)?;
    // To have seen too little is an answer: the program's end is ours all the same.
    if let Some(answer) = without_simulation(&profile, &machine, arguments.target.seed) {
        predict::show_without_curves(&arguments.output, &answer)?;
    } else {
        let forecast = arguments.target.forecast(&profile, &machine)?;
        let all = arguments.target.all;
        predict::show(&arguments.output, &forecast, &profile, &machine, all)?;
    }
    Ok(measure::exit_code(&profile))
}
