//! The locks of any program, seen from outside: in any language, linked statically or not, also of
//! one that runs already.
//!
//! # How
//! 1. In a short window, all switches of threads are recorded (`cores`, or `threads` and `looks`
//!    where the kernel shows an ordinary user only his own; `off_core`). They tell which words
//!    threads wait for (`calls`); a timer tells which they spin on (`spins`), and calls of some
//!    functions which goroutines wait for (`slow_paths`).
//! 2. In most windows the worst words are watched by the processor (`watchpoints`). The instruction
//!    before each hit tells what was written (`instruction`, `history`), and all of them together
//!    what it means (`pairing`, `model`).
//!    Where the kernel may be traced (`traces`), it says who woke whom, and who waited for one of its
//!    own locks (`contention`).
//! 3. Times are taken less what the hits cost (`cost`, `figures`), and the rest becomes a profile
//!    (`document`).
//!
//! [`watch`] does all that until it is told to stop. `ARCHITECTURE.md` has the reasons.

mod allowance;
mod budget;
mod calls;
mod constants;
mod contention;
mod cores;
mod cost;
mod covered;
mod document;
mod error;
mod estimate;
mod events;
mod family;
mod figures;
mod functions;
mod history;
mod ids;
mod instruction;
mod java;
mod java_locks;
pub mod java_threads;
mod kernel_lock_names;
mod ledger;
mod looks;
mod memory;
mod model;
mod off_core;
mod pairing;
mod progress;
mod queue;
mod registers;
mod samples;
mod session;
mod slow_paths;
mod source;
mod span;
mod spins;
mod spun;
mod stored;
mod threads;
mod times;
mod traces;
mod unnamed;
mod wakers;
mod watch;
mod watched;
mod watchpoints;
mod window;
pub mod word_names;

pub use error::WatchError;
pub use family::Kin;
pub use ids::Pid;
pub use watch::{Options, check, check_file, possible, watch};
