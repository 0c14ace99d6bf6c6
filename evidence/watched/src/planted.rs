//! Planted programs: programs in many languages that share a lock in a known place, hold it and think
//! for known times, and print the truth about that at the end.
//!
//! They are the test subjects of whatever looks at a program's locks from outside. A program is one
//! short file in `programs/`. The system's own compilers build it when somebody asks for it:
//!
//! ```no_run
//! use std::time::Duration;
//!
//! let program = kilocore_watched::planted::Program::named("c-mutex").expect("there is one");
//! let built = program.build().expect("its packages are installed");
//! let hold = Duration::from_micros(5);
//! let running = built.start(4, hold, 10 * hold, Duration::from_secs(2)).expect("it starts");
//! println!("the lock of process {} lies at {:x?}", running.ready().pid, running.ready().lock);
//! let truth = running.finish().expect("it tells the truth");
//! println!("{} acquisitions", truth.acquisitions);
//! ```

mod building;
mod program;
mod running;
mod truth;

pub use building::{BuildError, Built};
pub use program::{Language, Program};
pub use running::{RunError, Running};
pub use truth::{Reads, Ready, Truth, UnreadableTruth};
