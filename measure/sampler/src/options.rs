//! How to record.

use std::path::PathBuf;

use kilocore_process::{CpuId, Observer, Output};

use crate::Hertz;

/// What takes the samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Backend {
    /// The own sampler if it may watch whole cores; else `perf` if it is there and works; else
    /// the own sampler. Stacks to be unwound are always `perf`'s.
    #[default]
    Auto,
    /// `perf record`.
    Perf,
    /// The own sampler.
    Own,
}

/// What is counted, and sampled each time the count has grown by so much.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Event {
    /// The time that threads run, by a timer of each core; every machine has it. A timer's
    /// interrupt waits while the kernel has them off, and then blames what puts them on.
    #[default]
    CpuClock,
    /// The same by a clock of each thread.
    TaskClock,
    /// Cycles of the processor, whose counter few virtual machines have. They also see where the
    /// kernel has interrupts off.
    Cycles,
}

impl Event {
    /// The name that `perf` has for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::CpuClock => "cpu-clock",
            Self::TaskClock => "task-clock",
            Self::Cycles => "cycles",
        }
    }
}

/// How a sample tells who called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CallGraph {
    /// By the chain of frame pointers, in user space only if the program is compiled with them.
    #[default]
    FramePointers,
    /// By a copy of the stack, which readers unwind with the program's unwind tables: right for
    /// programs that keep no frame pointers, and a hundred times the data.
    Dwarf,
    /// It does not.
    None,
}

impl CallGraph {
    /// A word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::FramePointers => "frame-pointers",
            Self::Dwarf => "dwarf",
            Self::None => "none",
        }
    }
}

/// What is watched for samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// Cores as a whole, if that is allowed (to root, or where `kernel.perf_event_paranoid` is 0
    /// or less), else processes. What other programs do there is left out of the profile. Only
    /// the own sampler does this, and not with [`Event::TaskClock`].
    #[default]
    Cores,
    /// The program's processes. Each begins to wait for its first sample anew, so that those
    /// that live for less than the time between two samples get hardly any, and starting a
    /// process costs something for each core.
    Processes,
}

/// How to record a program.
#[derive(Debug, Clone)]
pub struct Options<'a> {
    /// How often each core is sampled while the program runs there.
    pub frequency: Hertz,
    /// The cores that the program may run on; all those of this process if none are named.
    pub cores: Option<Vec<CpuId>>,
    /// What takes the samples.
    pub backend: Backend,
    /// What is watched.
    pub scope: Scope,
    /// What is counted.
    pub event: Event,
    /// How a sample tells who called.
    pub call_graph: CallGraph,
    /// The `perf.data` file to write.
    pub output: PathBuf,
    /// Whether its standard input is empty, instead of this process's.
    pub empty_input: bool,
    /// Where the program's standard output and standard error go.
    pub program_output: Output<'a>,
    /// Who sees what the program writes, such as a [`Counter`](crate::Counter).
    /// The program then writes to pipes: if it asks, its output is no terminal.
    pub observer: Option<&'a dyn Observer>,
}

impl Options<'_> {
    /// Records into `output`, all else as usual.
    ///
    /// The frequency is not a round one, so that it does not go in step with what a program does
    /// every so many milliseconds.
    #[must_use]
    pub fn new(output: impl Into<PathBuf>) -> Self {
        Self {
            frequency: Hertz(997),
            cores: None,
            backend: Backend::default(),
            scope: Scope::default(),
            event: Event::default(),
            call_graph: CallGraph::default(),
            output: output.into(),
            empty_input: false,
            program_output: Output::default(),
            observer: None,
        }
    }
}
