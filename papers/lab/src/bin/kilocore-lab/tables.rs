//! `kilocore-lab tables`: the tables of a page, taken over from experiments.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use kilocore_command_line::{Failure, say};
use kilocore_show::markdown::take_over;

/// Puts the tables of experiments into a page.
#[derive(Debug, Args)]
#[command(
    after_help = "Each experiment writes its tables into a file that ends in .md (--output). In the page, a \
                  table stands between `<!-- FILE TABLE -->` and `<!-- end -->`. A star in FILE stands for \
                  anything; `<!-- nodes-* best by nodes -->` has what it stands for in a column `nodes`."
)]
pub(crate) struct Arguments {
    /// The page, in Markdown
    #[arg(value_name = "PAGE")]
    page: PathBuf,
    /// The folder of the .md files of the experiments
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

pub(crate) fn tables(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let Arguments { page, folder } = arguments;
    for left in take_over(page, folder)? {
        let folder = folder.display();
        say(&format!("{}: `{left}` stays as it is: {folder} has no such file", page.display()));
    }
    Ok(ExitCode::SUCCESS)
}
