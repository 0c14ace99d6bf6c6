//! How to read a `perf.data` file.

use std::path::PathBuf;

use kilocore_symbols::DebugFiles;

/// What to take of a file, and where to find names.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The event to take, with or without its modifiers; else that with the most samples.
    pub event: Option<String>,
    /// Samples before the first time and from the second one on are left out, in nanoseconds of
    /// the clock that was recorded by.
    pub window: Option<(u64, u64)>,
    /// The symbols of the kernel that was recorded: a copy of its `/proc/kallsyms`, or its
    /// `System.map`. Else the running kernel's are taken, if it is the same.
    pub kallsyms: Option<PathBuf>,
    /// Directories to look for programs and libraries in, by their paths below it or by their
    /// names, before the places where they were.
    pub files: Vec<PathBuf>,
    /// Where files of a known build are.
    pub debug_files: DebugFiles,
    /// Whether functions that were inlined become frames of their own. Then names depend on
    /// debugging information.
    pub inlined: bool,
}
