//! `kilocore bench`: which system interfaces of this kernel scale.

mod compare;
mod list;
mod locate;
mod measure;
mod measure_arguments;
mod overview;
mod page;
mod show;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use kilocore_command_line::Failure;

/// Measures system interfaces over core counts.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    measure: measure_arguments::MeasureArguments,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the benchmarks
    List(list::Arguments),
    /// Show a saved run again, or write a report of it
    Show(show::ShowArguments),
    /// Hold a saved run against another
    Compare(compare::CompareArguments),
}

/// A process that a measurement makes of this program.
#[derive(Debug, Args)]
pub(crate) struct HelperArguments {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

/// The word that makes one.
pub(crate) const HELPER: &str = "bench-helper";

pub(crate) fn bench(arguments: Arguments) -> Result<ExitCode, Failure> {
    match arguments.action {
        Some(Action::List(arguments)) => list::list(&arguments),
        Some(Action::Compare(arguments)) => compare::run(&arguments),
        Some(Action::Show(arguments)) => show::show(&arguments),
        None => measure::measure(&arguments.measure),
    }
}

pub(crate) fn helper(arguments: &HelperArguments) -> ExitCode {
    kilocore_kernel_bench::helper(&arguments.words)
}
