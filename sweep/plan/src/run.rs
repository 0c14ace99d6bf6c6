//! A run of a plan.

use std::path::{Path, PathBuf};

use crate::Value;

/// One run: a command with values put in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedRun {
    /// The line of its command in the plan, counted from 1.
    pub line: usize,
    /// The names and values of its combination, in the plan's order.
    pub values: Vec<(String, Value)>,
    /// The command's words, the program's name first, without the reports that it is to write.
    pub words: Vec<String>,
    /// Where its answer goes.
    pub answer: Answer,
}

/// A command that is run when all runs are answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AfterCommand {
    /// Its line in the plan, counted from 1.
    pub line: usize,
    /// Its words, the program's name first.
    pub words: Vec<String>,
}

/// Files into which a run's answer goes, below the plan's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// What the command prints on its standard output.
    Printed(PathBuf),
    /// Reports that the command writes, by their endings. At least one.
    Reports(Vec<PathBuf>),
}

impl Answer {
    /// The files.
    #[must_use]
    pub fn files(&self) -> &[PathBuf] {
        match self {
            Self::Printed(file) => std::slice::from_ref(file),
            Self::Reports(files) => files,
        }
    }

    /// The file with its points as a table, if there is one. Of several, which are alike, it is the first.
    #[must_use]
    pub fn table(&self) -> Option<&Path> {
        let is_table = |file: &&PathBuf| {
            file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"))
        };
        match self {
            Self::Printed(_) => None,
            Self::Reports(files) => files.iter().find(is_table).map(PathBuf::as_path),
        }
    }
}

/// Where a command's words end and those of a program that it starts begin.
const PROGRAM: &str = "--";

impl PlannedRun {
    /// The command's words, with its reports below a folder.
    ///
    /// They stand before the first option: after it might come a program's own words.
    #[must_use]
    pub fn words_with_reports(&self, folder: &Path) -> Vec<std::ffi::OsString> {
        let mut words: Vec<std::ffi::OsString> = self.words.iter().map(Into::into).collect();
        if let Answer::Reports(files) = &self.answer {
            let at = self.words.iter().position(|word| word.starts_with('-'));
            let options =
                files.iter().flat_map(|file| ["--output".into(), folder.join(file).into()]);
            let at = at.unwrap_or(words.len());
            words.splice(at..at, options);
        }
        words
    }

    /// Its values, as a person reads them: `machine=epyc-9554-2s seed=3`.
    #[must_use]
    pub fn named(&self) -> String {
        let values: Vec<String> =
            self.values.iter().map(|(name, value)| format!("{name}={value}")).collect();
        values.join(" ")
    }
}

/// The option of a command that is the plan's to give, if its words have it.
pub(crate) fn own_output<'a>(words: &[&'a str]) -> Option<&'a str> {
    let own = words.iter().take_while(|&&word| word != PROGRAM);
    own.copied().find(|word| *word == "--output" || word.starts_with("--output="))
}
