//! Recording a program: samples of where it spends its time, and its units of work.
//!
//! [`record`] runs a program and leaves a `perf.data` file. `perf record` writes it or, if there is
//! no `perf`, a sampler of its own; readers need not know which. The program keeps its input,
//! output, signals and exit status. A [`Counter`] counts units of work in what the program writes.
//!
//! # Decisions
//! The crates that compare profiles put a JSON document beside the `perf.data` file, with what that
//! has no room for: the cores, the units of work, and the elapsed time.
//!
//! * **Kilocore starts the program, and perf does not.** `kilocore-process` holds the program's
//!   process between fork and exec until a recorder is attached to it. perf is attached by `--pid`
//!   and its control pipes, Kilocore's own sampler by one event per core. Signals, exit status,
//!   cores and the clock are then the same for both recorders, and nothing of the program is
//!   missed. If a recorder is refused, the program has not run.
//! * **Kilocore has a sampler of its own**, because perf is often missing: containers do not have
//!   it, or it does not fit the kernel that runs. The sampler samples by a software clock, which
//!   every machine has, and copies the stack or walks frame pointers. It writes perf's format. So
//!   there is one kind of profile and one reader, and those who do not believe Kilocore's analysis
//!   can use `perf report` and everything else that reads the format.
//! * **Whole cores are watched where that is allowed.** perf can watch processes or everything on
//!   the machine. Events of processes begin anew with each process, and related processes exchange
//!   them when one goes on after the other. Take a program that forks 3,000 children of 0.2 ms
//!   each. At a thousand samples a second, 590 samples should fall into them. `perf record` saw 2
//!   of them when it watched processes, and 586 when it watched whole cores. So the own sampler
//!   watches cores, sorts the records by time, and keeps those of the program and of its
//!   descendants (`family.rs`). This also saves each fork a cost for each core. Where only
//!   processes may be watched, perf watches processes as well, and a profile that is short of
//!   samples says so.
//! * **Some things are left to perf**: counters other than cycles, eBPF programs, and build ids of
//!   what the program maps.
//! * **Times are those of the monotonic clock**, which programs can read too. `bench --locate` uses
//!   only the part of a recording between the beginning and the end of the counting.
//! * **The sampler gives way step by step.** It first asks for everything, and gives up what the
//!   kernel refuses: whole cores, samples of the kernel, counts of losses, large buffers. It
//!   reports what it gave up, and what would make it possible.
//! * **One sleeping thread empties the sampler's buffers**, on a core that the program is not
//!   allowed to use, if there is one. It parses nothing but lengths; finding names is left to
//!   readers.
//! * **Output passes through a pipe only if units of work are counted in it.** Each stream has a
//!   thread, so that neither holds up the other. Children may still write after the program's end.
//!   For them a small process stays behind and passes their output on: if the pipe were closed,
//!   they would lose their output or die of the attempt to write.
//! * **Counts of work are decimal numbers**, kept exactly as the program prints them. A number that
//!   cannot be kept exactly is refused.

mod error;
mod kernel_samples;
mod options;
mod own;
mod perf;
mod recording;
mod scan;
mod units;

pub use error::SampleError;
pub use kernel_samples::KernelSamples;
pub use kilocore_figures::Nanoseconds;
pub use kilocore_process::work::{Counter, Decimal, DecimalError, Rule, Work, WorkError};
pub use kilocore_process::{CpuId, Observer, Output, Stream, allowed_cores};
pub use options::{Backend, CallGraph, Event, Options, Scope};
pub use recording::{CpuTime, Recording, Taker, record};
pub use units::Hertz;
