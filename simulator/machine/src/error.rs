//! What can be wrong with a machine file.

use kilocore_names::UnknownName;
use thiserror::Error;

/// Why a machine could not be read. Every message names the file, the place and the mend.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MachineError {
    /// The text is not TOML.
    #[error("{origin}{}: not TOML: {message}; write a machine file as docs/machines.md describes", at(*line))]
    Syntax {
        /// The file, or the name of the built-in machine.
        origin: String,
        /// The line, counted from 1, where the parser knows it.
        line: Option<usize>,
        /// What the parser met.
        message: String,
    },
    /// A field is missing, unknown, of the wrong kind, or has a value that no machine has.
    #[error("{origin}{}: `{key}` {problem}: {mend}", at(*line))]
    Field {
        /// The file, or the name of the built-in machine.
        origin: String,
        /// The line, counted from 1, where the field was found in the text.
        line: Option<usize>,
        /// The path of the field, such as `latency.same_node_ns`.
        key: String,
        /// What is wrong with it.
        problem: String,
        /// What to write instead.
        mend: String,
    },
    /// No built-in machine has this name, and it does not look like a path.
    #[error("{0}; or give the path of a machine file, ending in .toml")]
    Unknown(#[from] UnknownName),
    /// The file could not be read.
    #[error(
        "{path}: cannot read the machine file: {reason}; give the path of a readable machine file, or a name that `kilocore machines` lists"
    )]
    Unreadable {
        /// Its path.
        path: String,
        /// What the system said.
        reason: String,
    },
}

fn at(line: Option<usize>) -> String {
    line.map(|line| format!(", line {line}")).unwrap_or_default()
}
