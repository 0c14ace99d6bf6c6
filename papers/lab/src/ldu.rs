//! Deferred updates of the reverse mapping: figures 2.8 to 2.11 and table 2.1 of the LDU paper.
//!
//! Processes are created and end on all cores of a machine, while other work goes on. They update
//! the reverse mapping of the files and anonymous areas that they share ([`kilocore_rivals::rmap`]). The
//! experiment compares the ways to share the reverse mapping between cores, each of which is a
//! [`SchemeId`]. All the rest is a [`Setting`], which is the same for every scheme.
//!
//! # When the model of the kernel changes
//! `make ldu` simulates the figures of deferred updates anew and writes the tables of `docs/evidence/ldu.md`;
//! the text around the tables is written by hand. What is not known of a workload is calibrated on the
//! levels of the stock kernel (`levels.rs`) and on no other scheme. The
//! command is `cargo run --release -p kilocore-lab --example calibrate -- aim7 stock 15,30,60,120
//! forks=3`.

mod break_even;
mod flusher;
mod levels;
mod progress;
mod published;
mod run;
mod schemes;
mod steps;
mod sweep;
mod task;
mod workload;
mod world;

pub use break_even::{BreakEven, break_even};
pub use levels::{LEVEL_CORES, Level, Origin, levels};
pub use published::{Published, RATIOS, Ratio, TIMES, Times, lmbench_gain_by_times, published};
pub use run::{LduError, Point, RunLength, simulate};
pub use schemes::SchemeId;
pub use sweep::{Job, sweep};
pub use workload::{Setting, Workload};
