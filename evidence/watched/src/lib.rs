//! What watching from outside says of planted programs, beside what these say themselves.
//!
//! A trial runs a planted program, has `kilocore measure` watch it, and compares: does the planted
//! lock come first, is it named by its place, are its acquisitions and holds right, and do the
//! printed intervals hold the truth? `make watched` runs many trials of each program.

mod expected;
mod score;
mod table;
mod trial;

pub use expected::Expected;
pub use score::{Count, Score};
pub use table::table;
pub use trial::{How, Trial, TrialError, Work};
