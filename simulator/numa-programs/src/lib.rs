//! Four parallel programs of the SPLASH kind, whose every reference to memory the simulator sees.
#![warn(missing_docs)]

pub mod barnes;
mod barrier;
pub mod cholesky;
mod error;
mod lock;
pub mod mp3d;
mod pages;
mod program;
pub mod radix;
mod random;
mod run;
mod shares;
mod word;

pub use error::{MOST_THREADS, OutOfRange, WrongResult};
pub use program::{Program, Size, Workload};
pub use run::{Run, Summary};
