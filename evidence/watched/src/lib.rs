//! What watching from outside says of programs, beside what is known of them otherwise.
//!
//! A trial runs a planted program, has `kilocore record locks` watch it, and compares: does the planted
//! lock come first, is it named by its place, are its acquisitions and holds right, and do the
//! printed intervals hold the truth? Real programs do not tell the truth. They run under the preload
//! recorder and are watched, in turn, and what the two say is compared. `make watched` does both, and
//! writes docs/evidence/watching.md.

mod beside;
mod expected;
pub mod planted;
mod score;
mod table;
mod trial;

pub use beside::{
    Agreement, CallSites, Compared, ComparedSite, Comparison, Forecast, LocksAtSite, Point,
    RealProgram, RecordError, Recorded, Recorder, Round, UnreadableForecast, tables,
};
pub use expected::Expected;
pub use score::{Count, Score};
pub use table::table;
pub use trial::{Attachment, Trial, TrialError, Work};
