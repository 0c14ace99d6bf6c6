//! How to record.

use std::path::PathBuf;

use kilocore_process::{CpuId, Observer, Output};

use crate::sampler::Hertz;

/// What takes the samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Backend {
    /// The own sampler if it may watch whole cores. Otherwise `perf`, if there is one and it works,
    /// and the own sampler if not. Copies of stacks are always recorded by `perf`.
    #[default]
    Auto,
    /// The program `perf record`.
    Perf,
    /// The sampler of this crate, which needs no other program.
    Own,
}

/// What is counted. A sample is taken each time the count has grown by a certain amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Event {
    /// The time that threads run, by a timer of each core. Every machine has that. While the kernel
    /// has interrupts off, the timer's interrupt waits, and the sample then falls on the code that
    /// puts them on again.
    #[default]
    CpuClock,
    /// The same, by a clock of each thread.
    TaskClock,
    /// Cycles of the processor. Few virtual machines have a counter of them. Its samples also fall
    /// on code that runs while the kernel has interrupts off.
    Cycles,
}

impl Event {
    /// Returns `perf`'s name of it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::CpuClock => "cpu-clock",
            Self::TaskClock => "task-clock",
            Self::Cycles => "cycles",
        }
    }
}

/// How a sample tells its callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CallGraph {
    /// By the chain of frame pointers. In user space this works only if the program is compiled
    /// with them.
    #[default]
    FramePointers,
    /// By a copy of the stack, which readers unwind with the program's unwind tables. This is right
    /// for programs without frame pointers, but takes a hundred times the data.
    Dwarf,
    /// It does not tell them.
    None,
}

impl CallGraph {
    /// Returns a word for it.
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
    /// Whole cores if that is allowed, and otherwise processes. It is allowed to root, and to all
    /// if `kernel.perf_event_paranoid` is 0 or less. The profile leaves out what other programs do
    /// on these cores. Only the own sampler watches cores, and not with [`Event::TaskClock`].
    #[default]
    Cores,
    /// The program's processes. Each of them has to wait for its first sample, so a process that
    /// lives for less than the time between two samples gets hardly any. Besides, the start of a
    /// process takes some time for each core.
    Processes,
}

/// How to record a program.
#[derive(Debug, Clone)]
pub struct Options<'a> {
    /// How often each core is sampled while the program runs there.
    pub frequency: Hertz,
    /// The cores that the program may run on. If the list is empty, it may use all cores of this
    /// process.
    pub cores: Option<Vec<CpuId>>,
    /// What takes the samples.
    pub backend: Backend,
    /// Which processes or cores are sampled.
    pub scope: Scope,
    /// The event at every so many of which a sample is taken.
    pub event: Event,
    /// How a sample tells its callers.
    pub call_graph: CallGraph,
    /// The `perf.data` file to write.
    pub output: PathBuf,
    /// Whether its standard input is empty, instead of this process's.
    pub empty_input: bool,
    /// Where the program's standard output and standard error go.
    pub program_output: Output<'a>,
    /// An observer of what the program writes, such as a [`Counter`](crate::sampler::Counter). The program
    /// then writes to pipes, so it does not find a terminal at its output.
    pub observer: Option<&'a dyn Observer>,
}

impl Options<'_> {
    /// Returns the usual options, with which a program is recorded into `output`.
    ///
    /// The frequency is not a round number, so that it does not keep step with what a program does
    /// every few milliseconds.
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
