//! A sampled profile and what is known about how it came to be.

use std::collections::BTreeSet;
use std::fmt;

use kilocore_figures::Nanoseconds;

use crate::{Contexts, Functions, Tally};

/// What the weights of a profile count.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Nanoseconds of processor time.
    Nanoseconds,
    /// Of threads that sleep: how long, or how often they began to. The profile does not say which.
    Asleep,
    /// Nanoseconds that threads waited, mostly for locks.
    Waiting,
    /// Samples. What each stands for is unknown.
    Samples,
    /// Events of this kind: `cycles`, for instance.
    Events(String),
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nanoseconds => f.write_str("ns"),
            Self::Asleep => f.write_str("counts"),
            Self::Waiting => f.write_str("ns of waiting"),
            Self::Samples => f.write_str("samples"),
            Self::Events(name) => f.write_str(name),
        }
    }
}

/// The format that a profile was in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// What `perf record` writes.
    PerfData,
    /// What `perf script` prints.
    PerfScript,
    /// Folded stacks: one line for each stack, such as `main;work;memcpy 12`.
    Folded,
    /// A protocol buffer, with gzip around it or without.
    Pprof,
    /// What the CPU profiler of gperftools writes.
    GperftoolsCpu,
    /// How long threads waited for locks, as gperftools and servers that follow it print it.
    Contention,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PerfData => "perf.data",
            Self::PerfScript => "perf script",
            Self::Folded => "folded stacks",
            Self::Pprof => "pprof",
            Self::GperftoolsCpu => "a CPU profile of gperftools",
            Self::Contention => "a contention profile",
        })
    }
}

/// How often a sampler looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// This many times a second; the sampler adjusts the period.
    Hertz(f64),
    /// Once for this many of the profile's units.
    Period(u64),
}

/// What a profile tells about its own recording. A fact is absent if the format cannot express it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    /// The event that was sampled, as the profile names it.
    pub event: Option<String>,
    /// How often a sample was taken.
    pub rate: Option<Rate>,
    /// From the first sample's time to the last one's.
    pub span: Option<Nanoseconds>,
    /// How long the profile says it was recorded.
    pub duration: Option<Nanoseconds>,
    /// The processors that samples came from.
    pub processors: BTreeSet<u32>,
    /// How many threads samples came from; 0 if the format does not say.
    pub threads: usize,
    /// Samples that the sampler says it lost.
    pub lost: u64,
    /// How often the kernel stopped sampling for a while because sampling took too long.
    pub throttled: u64,
    /// The release of the kernel that it was recorded under.
    pub kernel: Option<String>,
    /// The nominal clock of the processor in GHz, as its name states it. Absent if it does not, or if
    /// the processor has cores of several kinds.
    pub clock_ghz: Option<f64>,
    /// The command that was recorded.
    pub command: Option<String>,
    /// Whether the profile has samples of the kernel. Without them it tells nothing about the time
    /// in system calls.
    pub has_kernel: bool,
}

/// A remark about a profile that its user should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remark {
    /// The file ends in the middle of something; what comes before was read.
    Truncated {
        /// Where reading ended, in bytes.
        at: u64,
        /// What could not be read.
        what: String,
    },
    /// Lines or records that could not be read were left out.
    Skipped {
        /// How many lines or records were left out.
        count: u64,
        /// The number of the first one in the file, from 1.
        first: u64,
        /// What was wrong with the first one.
        what: String,
    },
    /// The file has other events, which were left out.
    OtherEvents {
        /// The names of the events that were left out.
        left_out: Vec<String>,
    },
    /// Samples of processors that had nothing to do were left out.
    Idle {
        /// How many of them there were.
        samples: u64,
    },
    /// Some functions have the names of functions that were inlined into them.
    Inlined,
    /// No address in this file has a name.
    NoSymbols {
        /// The file that contains the code.
        object: String,
        /// The reason, as a sentence.
        why: String,
    },
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { at, what } => {
                write!(f, "the file breaks off at byte {at}: {what}; what comes before was read")
            }
            Self::Skipped { count: 1, first, what } => {
                write!(f, "one entry was left out, number {first}: {what}")
            }
            Self::Skipped { count, first, what } => {
                write!(f, "{count} entries were left out, the first is number {first}: {what}")
            }
            Self::OtherEvents { left_out } => {
                write!(f, "other events were left out: {}", left_out.join(", "))
            }
            Self::Idle { samples } => write!(
                f,
                "{samples} samples of idle processors were left out: nobody worked in them"
            ),
            Self::Inlined => f.write_str(
                "some functions are named by what was compiled into them, which perf does not \
                 always find out, so that the same code may have several names; print with `perf \
                 script --no-inline`",
            ),
            Self::NoSymbols { object, why } => write!(f, "no names for {object}: {why}"),
        }
    }
}

/// A profile: calling contexts and the samples that fell on them.
#[derive(Debug, Clone)]
pub struct SampledProfile {
    /// The functions that its stacks consist of.
    pub functions: Functions,
    /// The stacks, each with its samples.
    pub contexts: Contexts,
    /// What the weights count.
    pub unit: Unit,
    /// The format it was read from.
    pub format: Format,
    /// What it says of itself.
    pub facts: Facts,
    /// What its user should know.
    pub remarks: Vec<Remark>,
}

impl SampledProfile {
    /// A profile without samples.
    #[must_use]
    pub fn new(format: Format, unit: Unit) -> Self {
        Self {
            functions: Functions::default(),
            contexts: Contexts::default(),
            unit,
            format,
            facts: Facts::default(),
            remarks: Vec::new(),
        }
    }

    /// Returns the sum of all samples.
    #[must_use]
    pub fn total(&self) -> Tally {
        self.contexts.total()
    }
}
