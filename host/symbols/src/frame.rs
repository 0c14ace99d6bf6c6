//! What debugging information says of an address.

/// A function at an address.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Frame {
    /// Its demangled name, which is empty if nothing is known.
    pub function: String,
    /// Its source file and line, if the debugging information has them.
    pub line: Option<String>,
}
