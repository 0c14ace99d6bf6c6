//! Recording a program: samples of where it spends its time, and its units of work.
//!
//! [`record`] runs a program and leaves a `perf.data` file. `perf record` writes it or, if there is
//! no `perf`, a sampler of this crate; readers need not know which. The program keeps its input,
//! output, signals and exit status. A [`Counter`] counts units of work in what the program writes.

mod error;
mod kernel_samples;
mod options;
mod own;
mod perf;
mod recording;
mod scan;
mod units;
mod work;

pub use error::SampleError;
pub use kernel_samples::KernelSamples;
pub use kilocore_figures::Nanoseconds;
pub use kilocore_process::{CpuId, Observer, Output, Stream, allowed_cores};
pub use options::{Backend, CallGraph, Event, Options, Scope};
pub use recording::{CpuTime, Recording, Taker, record};
pub use units::Hertz;
pub use work::{Counter, Decimal, DecimalError, Rule, Work, WorkError};
