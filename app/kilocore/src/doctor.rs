//! `kilocore doctor --machine M -- CMD…`: measure, forecast, recommend, report.

use std::process::ExitCode;

use clap::Args;
use kilocore_command_line::{Failure, output};
use kilocore_predict::without_simulation;

use crate::subject::Subject;
use crate::when::When;
use crate::{examples, measure, predict};

/// The whole way from a program to advice.
#[derive(Debug, Args)]
#[command(after_help = examples::DOCTOR)]
pub(crate) struct Arguments {
    #[command(flatten)]
    target: predict::Target,
    #[command(flatten)]
    output: output::Options,
    /// Run the program once only: for one whose second run would do harm. How much data moves
    /// with each lock is then assumed
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    when: When,
    #[command(flatten)]
    subject: Subject,
}

pub(crate) fn doctor(arguments: Arguments) -> Result<ExitCode, Failure> {
    // What can fail early fails before the program is run.
    let machine = arguments.target.machine()?;
    arguments.output.check()?;
    let how = measure::How {
        confined_run: !arguments.once,
        trace: false,
        aside: arguments.output.json,
        when: &arguments.when,
    };
    let (measured, held) = measure::run(&arguments.subject, &how)?;
    drop(held);
    let profile = &measured.profile;
    // To have seen too little is an answer: the program's end is ours all the same.
    if let Some(answer) = without_simulation(profile, &machine, arguments.target.seed) {
        predict::show_without_curves(&arguments.output, &answer, profile)?;
    } else {
        let forecast = arguments.target.forecast(profile, &machine)?;
        let all = arguments.target.all;
        predict::show(&arguments.output, &forecast, profile, &machine, all)?;
    }
    if !arguments.output.json {
        measure::print_times(profile);
    }
    Ok(measure::exit_code(&measured))
}
