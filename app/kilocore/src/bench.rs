//! `kilocore bench`: which system interfaces of this kernel scale, or how a page pool does here.

mod locate;
mod measure;
mod measure_arguments;
mod replay;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Args;

pub(crate) use self::measure_arguments::MeasureArguments as Arguments;
use kilocore_command_line::Failure;

/// A process that a measurement makes of this program.
#[derive(Debug, Args)]
pub(crate) struct HelperArguments {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

/// The word that makes one.
pub(crate) const HELPER: &str = "bench-helper";

pub(crate) fn bench(arguments: &Arguments) -> Result<ExitCode, Failure> {
    match &arguments.replay {
        Some(trace) => replay::replay(trace, arguments),
        None => measure::measure(arguments),
    }
}

pub(crate) fn helper(arguments: &HelperArguments) -> ExitCode {
    kilocore_kernel_bench::helper(&arguments.words)
}
