//! How to read a profile, and how much of it at most.

use std::path::PathBuf;

/// How to read a profile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Which event to take if there are several, by its name in the profile, with its modifiers or
    /// without them. `None` takes the event that is most like time: a clock, else cycles, else the
    /// one with the most samples. Formats without events ignore this option.
    pub event: Option<String>,
    /// The part of a perf.data file to take. Samples before the first time, and samples at or after
    /// the second, are left out. Times are nanoseconds of the clock that the recording used. Other
    /// formats ignore this option.
    pub window: Option<(u64, u64)>,
    /// The symbols of the kernel under which a perf.data file was recorded: a copy of its
    /// `/proc/kallsyms`, or its `System.map`. `None` takes those of the running kernel, if it is
    /// the same build.
    pub kallsyms: Option<PathBuf>,
    /// How many nanoseconds of processor time a sample stands for if the profile only counts
    /// samples.
    pub nanoseconds_per_count: Option<u64>,
    /// How much memory a profile may take.
    pub limits: Limits,
}

/// Bounds that no useful profile reaches. They keep untrusted files from taking all memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a line; a longer one is left out.
    pub line_bytes: usize,
    /// Functions of a stack; a deeper one is left out.
    pub depth: usize,
    /// Calling contexts of all events together; with more, the file is refused.
    pub contexts: usize,
    /// Bytes of the names of all functions together; with more, the file is refused.
    pub name_bytes: usize,
    /// Bytes of a pprof profile, unpacked; a larger one is refused.
    pub message_bytes: usize,
    /// Events of a file; samples of further ones are left out.
    pub events: usize,
}

impl Limits {
    /// Names of C++ functions reach some ten thousand bytes.
    pub const LINE_BYTES: usize = 1 << 20;
    /// `perf record` keeps 127 by default.
    pub const DEPTH: usize = 1 << 16;
    /// Some two gigabytes of memory.
    pub const CONTEXTS: usize = 1 << 24;
    /// Names of a million functions; as text they can take some times that.
    pub const NAME_BYTES: usize = 1 << 27;
    /// Profiles of large programs have some ten million. Its tables can take some times that.
    pub const MESSAGE_BYTES: usize = 1 << 27;
    /// More events than a processor counts at once.
    pub const EVENTS: usize = 64;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            line_bytes: Self::LINE_BYTES,
            depth: Self::DEPTH,
            contexts: Self::CONTEXTS,
            name_bytes: Self::NAME_BYTES,
            message_bytes: Self::MESSAGE_BYTES,
            events: Self::EVENTS,
        }
    }
}
