//! The locks of any program, seen from outside.
mod calls;
mod cores;
mod cost;
mod document;
mod error;
mod estimate;
mod family;
mod figures;
mod history;
mod ids;
mod instruction;
mod memory;
mod off_core;
mod pairing;
mod registers;
mod samples;
mod session;
mod spins;
mod watch;
mod watched;
mod watchpoints;
mod window;

pub use error::WatchError;
pub use estimate::Estimate;
pub use family::Kin;
pub use ids::{Moment, Nanoseconds, Pid, Tid, Word};
pub use watch::{Options, check, possible, watch};
