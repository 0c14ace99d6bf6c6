//! How to read a `perf.data` file.

use std::path::PathBuf;

use kilocore_symbols::DebugFiles;

/// What to take of a file, and where to find names.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The event to take, with or without its modifiers. If none, the event with the most samples.
    pub event: Option<String>,
    /// Samples before the first time, and samples at or after the second, are left out. Times are
    /// nanoseconds of the clock that the recording used.
    pub window: Option<(u64, u64)>,
    /// The symbols of the kernel that was recorded: a copy of its `/proc/kallsyms`, or its
    /// `System.map`. If none, those of the running kernel are used, provided that it is the same
    /// build.
    pub kallsyms: Option<PathBuf>,
    /// Directories in which to look for programs and libraries first, before their original places.
    /// A file may lie there under its full path or directly under its name.
    pub files: Vec<PathBuf>,
    /// Where files of a known build are.
    pub debug_files: DebugFiles,
    /// Whether inlined functions become frames of their own. Names then depend on debugging
    /// information.
    pub inlined: bool,
}
