//! `kilocore record machine`: this host as a machine file.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use kilocore_command_line::Failure;
use kilocore_command_line::output;

/// The file's name if none is given.
const USUAL_NAME: &str = "kilocore.machine.toml";

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Write the recording here [default: kilocore.machine.toml]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print one JSON document and nothing else on standard output. It is the recording, which is only
    /// written to a file if --output names one
    #[arg(long)]
    json: bool,
}

pub(crate) fn record(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let file = match &arguments.output {
        Some(file) => Some(file.as_path()),
        None => (!arguments.json).then_some(Path::new(USUAL_NAME)),
    };
    file.map_or(Ok(()), output::check_folder)?;
    let spinner = output::progress(1, "measuring this host");
    let machine = kilocore_hardware::measure_host()?;
    spinner.finish_and_clear();
    if let Some(file) = file {
        output::write(file, &machine.to_toml())?;
    }
    if arguments.json {
        output::json(&machine)?;
    }
    Ok(ExitCode::SUCCESS)
}
