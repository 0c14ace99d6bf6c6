//! Why a figure cannot be made.

use std::path::PathBuf;

use kilocore_linux::foreign_files::ForeignFileError;
use kilocore_sweep_plan::NotComparable;
use thiserror::Error;

/// Why a figure cannot be made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FigureError {
    /// A table cannot be read, or is too long.
    #[error("{0}; remove the file, and run the sweep again")]
    Unreadable(#[from] ForeignFileError),
    /// A file is no table.
    #[error("{}: {source}; remove the file, and run the sweep again", file.display())]
    Table {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        source: csv::Error,
    },
    /// A table does not say where its figures come from.
    #[error(
        "{}: {}; a figure is made of tables as Kilocore writes them, with 'measured' or the like in a column 'provenance'",
        file.display(),
        place.as_ref().map_or_else(
            || "no column 'provenance'".to_owned(),
            |(line, word)| format!("the provenance in line {line} is '{word}'"),
        )
    )]
    Provenance {
        /// The file.
        file: PathBuf,
        /// The line and what is written there, if there is such a column.
        place: Option<(u64, String)>,
    },
    /// No table has a column of that name, and nothing of the plan has it.
    #[error(
        "no table has a column '{name}', and no value of the plan is named so; mend the name: {} has {}",
        file.display(),
        columns.join(", ")
    )]
    Column {
        /// The name.
        name: String,
        /// The first table.
        file: PathBuf,
        /// What it has.
        columns: Vec<String>,
    },
    /// No table has all of the columns.
    #[error("no table has all of the columns {}; name columns of one command's tables", .0.join(", "))]
    Together(Vec<String>),
    /// Something is no number that has to be one.
    #[error(
        "{}, line {line}: '{column}' is '{text}', which is no number; name a column of numbers, or leave such rows out, as in \
         skip = [{{ {column} = \"{text}\" }}]",
        file.display()
    )]
    Number {
        /// The file.
        file: PathBuf,
        /// The line.
        line: u64,
        /// The column.
        column: String,
        /// What is written there.
        text: String,
    },
    /// A condition cannot be tried on a row.
    #[error("{}, line {line}: {source}; mend 'only' or 'skip'", file.display())]
    Condition {
        /// The file.
        file: PathBuf,
        /// The line.
        line: u64,
        /// What is wrong.
        source: NotComparable,
    },
    /// There is nothing to show.
    #[error(
        "none of {rows} rows in {tables} tables is in it; mend 'only' and 'skip', or name a column that has figures"
    )]
    Empty {
        /// How many rows there are.
        rows: usize,
        /// In how many tables.
        tables: usize,
    },
    /// It would be too large.
    #[error(
        "it has more than {most} {what}; say which are wanted, as in only = [{{ {column} = [\"…\"] }}]"
    )]
    Large {
        /// Of what there is too much.
        what: &'static str,
        /// How much there may be.
        most: usize,
        /// A column that has many values.
        column: String,
    },
    /// A value is no name of a line or a chart.
    #[error(
        "{}, line {line}: '{column}' is longer than {} bytes; name another column under 'line' or 'chart'",
        file.display(),
        crate::MOST_NAME
    )]
    Name {
        /// The file.
        file: PathBuf,
        /// The line.
        line: u64,
        /// The column.
        column: String,
    },
}
