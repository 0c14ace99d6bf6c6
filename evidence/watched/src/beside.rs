//! Watching beside the preload recorder, on the same real programs.
//!
//! A program of Debian's does a fixed amount of work, again and again, under each recorder in turn.
//! Locks are matched by where they are taken, as addresses differ from run to run. Beside each ratio
//! of the two recorders stands that of two runs under the same one: the program's own noise.

mod call_sites;
mod compare;
mod forecast;
mod program;
mod recorded;
mod table;

pub use call_sites::{CallSites, LocksAtSite};
pub use compare::{Compared, ComparedSite, Comparison, Round};
pub use forecast::{Agreement, Forecast, Point, UnreadableForecast};
pub use program::RealProgram;
pub use recorded::{RecordError, Recorded, Recorder};
pub use table::tables;
