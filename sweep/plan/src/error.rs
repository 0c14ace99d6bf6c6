//! What can be wrong with a plan.

use thiserror::Error;

/// Why a text is no plan. Each message names the file and, where it is known, the line, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// It is not TOML, or has a field that plans do not have, or lacks one, or one of another kind.
    #[error("{origin}{}: {message}; docs/formats/plans.md says how plans are written", at(*line))]
    Syntax {
        /// The file.
        origin: String,
        /// The line, if the parser knows it.
        line: Option<usize>,
        /// What the parser reported.
        message: String,
    },
    /// Something in it means nothing.
    #[error("{origin}, line {line}: {problem}")]
    Meaning {
        /// The file.
        origin: String,
        /// The line.
        line: usize,
        /// What is wrong, and what to write instead.
        problem: String,
    },
    /// It is too long.
    #[error(
        "{origin}: longer than {} bytes; no plan is; give a file with [[run]] in it",
        crate::MOST_BYTES
    )]
    Long {
        /// The file.
        origin: String,
    },
    /// There is nothing to run.
    #[error(
        "{origin}: nothing is to be run; write at least one [[run]] with a combination that it does not skip"
    )]
    Empty {
        /// The file.
        origin: String,
    },
}

fn at(line: Option<usize>) -> String {
    line.map(|line| format!(", line {line}")).unwrap_or_default()
}
