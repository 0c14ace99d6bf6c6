//! `kilocore bench show FILE`: a saved run, again.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::{compare, overview, page};
use crate::failure::Failure;
use crate::output;

/// Which run.
#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    /// A run saved with --save
    #[arg(value_name = "FILE.json")]
    file: PathBuf,
    #[command(flatten)]
    output: output::Options,
}

pub(crate) fn show(arguments: &ShowArguments) -> Result<ExitCode, Failure> {
    output::check(&arguments.output)?;
    let document = compare::read(&arguments.file)?;
    if let Some(path) = &arguments.output.output {
        page::write(path, &document)?;
    }
    if arguments.output.json {
        output::json(&document)?;
    } else {
        output::print(&overview::in_words(&document, output::width()));
    }
    Ok(ExitCode::SUCCESS)
}
