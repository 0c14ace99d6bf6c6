//! Deferred updates of the reverse mapping: figures 2.8 to 2.11 and table 2.1 of the LDU paper.
//!
//! Processes are created and end on all cores of a machine, while other work goes on. They update
//! the reverse mapping of the files and anonymous areas that they share ([`kilocore_rivals::rmap`]). The
//! experiment compares the ways to share the reverse mapping between cores, each of which is a
//! [`SchemeId`]. All the rest is a [`Setting`], which is the same for every scheme.

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
