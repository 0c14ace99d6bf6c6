//! A place in a program, as the profile names it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A place in the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// The demangled name of the function, or nothing if it is not known.
    pub function: String,
    /// The program or library it is in, or nothing if it is in none.
    pub module: String,
    /// The address of the call in that file's own numbering, which `addr2line -e` takes. If there
    /// is no file, it is the address in memory. Functions that were inlined there have the same
    /// address.
    pub offset: u64,
    /// Source file and line, if the debugging information has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
}

/// The place in a line: `function (file.c:12)`, or what is known of it.
impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.module.rsplit('/').next().unwrap_or(&self.module);
        match (self.function.as_str(), &self.line) {
            ("", _) => write!(f, "{file}+{:#x}", self.offset),
            (function, Some(line)) => write!(f, "{function} ({line})"),
            (function, None) => write!(f, "{function} in {file}"),
        }
    }
}
