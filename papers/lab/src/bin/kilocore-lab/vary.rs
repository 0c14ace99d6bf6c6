//! `kilocore-lab vary`: what becomes of results if what nobody has published is changed.

mod balanced;
mod lock_aware;
mod sections;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use kilocore_command_line::reports::answered;
use kilocore_command_line::{Failure, output};
use kilocore_points::PointSource;
use kilocore_show::{Format, Table, markdown};

/// Change what nobody has published, and see what becomes of the results.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// What is changed
    #[arg(value_name = "WHAT")]
    what: Varied,
    /// Also write the table into a file that ends in .md, from which `kilocore-lab tables` takes it
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Varied {
    /// The constants of the lock-aware scheduler
    LockAware,
    /// How long everything takes in the loads of the schedulers
    Sections,
    /// The constants of the balanced policy, by which pages are copied to nodes
    Balanced,
}

/// A table, and its name in a file.
type Named = (&'static str, Table);

pub(crate) fn vary(arguments: &Arguments, source: &PointSource) -> Result<ExitCode, Failure> {
    let file = arguments.output.as_deref();
    if let Some(file) = file
        && output::format_of(file)? != Format::Markdown
    {
        let file = file.display();
        return Err(Failure::new(format!(
            "{file}: this is a table alone; name a file that ends in .md"
        )));
    }
    let (name, table) = match arguments.what {
        Varied::LockAware => lock_aware::varied(source)?,
        Varied::Sections => sections::varied(source)?,
        Varied::Balanced => balanced::varied(source)?,
    };
    if let Some(file) = file {
        output::write(file, &markdown::marked(name, &table.markdown()))?;
    }
    output::print(&answered(&[], &[table]));
    Ok(ExitCode::SUCCESS)
}
