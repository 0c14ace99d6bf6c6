//! What can be wrong with a machine file.

use crate::names::UnknownName;
use thiserror::Error;

/// Why a machine could not be read, or why a description is not valid.
///
/// Every message says what to do about it. A message about the content of a file also names the
/// file and, where it is known, the line.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MachineError {
    /// The text is not TOML.
    #[error("{origin}{}: not TOML: {message}; write a machine file as docs/formats/machine-files.md describes", at(*line))]
    Syntax {
        /// The file, or the name of the built-in machine.
        origin: String,
        /// The line, counted from 1, if the parser knows it.
        line: Option<usize>,
        /// What the TOML parser reported.
        message: String,
    },
    /// A field is missing, is unknown, is of the wrong kind, contradicts another field, or has a
    /// value that no machine has.
    #[error("{origin}{}: `{key}` {problem}: {mend}", at(*line))]
    Field {
        /// The file, or the name of the built-in machine.
        origin: String,
        /// The line, counted from 1, of the field. If the text lacks the field, this is the line of
        /// the section around it, if there is one. A description that was not read from text has no
        /// lines.
        line: Option<usize>,
        /// The path of the field or section, such as `latency.same_node_ns`.
        key: String,
        /// What is wrong with it, such as "is missing".
        problem: String,
        /// What to write instead.
        mend: String,
    },
    /// No built-in machine has this name, and it does not look like a path.
    #[error("{0}; or give the path of a machine file, ending in .toml")]
    Unknown(#[from] UnknownName),
    /// The file could not be read, is longer than 1 MiB, or is not UTF-8 text.
    #[error(
        "{path}: cannot read the machine file: {reason}; give the path of a readable machine file, or a name that `kilocore list machines` lists"
    )]
    Unreadable {
        /// The path of the file.
        path: String,
        /// Why the file could not be read, such as the message of the operating system.
        reason: String,
    },
}

fn at(line: Option<usize>) -> String {
    line.map(|line| format!(", line {line}")).unwrap_or_default()
}
