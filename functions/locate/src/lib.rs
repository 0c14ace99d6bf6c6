//! Which functions stop a program from scaling: two sampled profiles, compared per unit of work.
//!
//! # The idea
//! A program that scales takes the same processor time for a unit of work on any number of cores.
//! So if a function takes more time per unit of work on many cores than on few, the difference is
//! its part of the loss: its *function scalability value* (Cui and others, 'Scaling OLTP
//! applications on commodity multicore systems', ISPASS 2010). The function with the largest value
//! is the bottleneck.
//!
//! # Beyond the paper
//! - Losses are known for calling contexts as well, exclusive and inclusive, and *charged*: each
//!   sample to the innermost function of the program on its stack ([`Owner`]).
//! - Differences are whole numbers over a common denominator: they add up to the total exactly
//!   ([`Loss`]).
//! - Each has an interval and a mark whether it stands out from sampling noise, from the noise
//!   between runs, and from the number of functions that were looked at ([`Uncertainty`]).
//! - Where the wall clock and the cores are known, so is the time in which the program did not use
//!   them, and busy and idle loss together explain the speedup.
//! - A loss in the code of locks is summed up apart ([`LockLoss`]).
//!
//! # What people see of it
//! [`locate_table`] is the answer for the terminal; [`LocateReport`] has the page with flame graphs, a
//! flame graph alone, CSV and JSON; [`folded()`] has folded stacks of both sides.
//!
//! # Decisions
//! * **There are charged losses beside exclusive and inclusive ones.** The paper charges a loss to
//!   the function on which the sample fell. But users can change only the program's own code. So
//!   each sample is also charged to the innermost function of the program on its stack, and the
//!   list of these functions comes first.
//! * **Noise has two parts** (`noise.rs`). One part is sampling, which is known from the counts.
//!   The other part is the difference between runs. Repeated runs show that difference; as they are
//!   few, their figure is moderated by what is assumed of any machine. A mark of significance takes
//!   the number of functions into account. Two single profiles of the same program never look
//!   significant just because one was recorded on a busier day.

mod amounts;
mod checks;
mod compare;
mod document;
mod error;
mod flame;
mod folded;
mod lock_functions;
mod noise;
mod ownership;
mod page;
mod run;
mod sidecar;
mod table;
mod totals;
mod tree;
mod warning;
mod words;
mod work;

pub use amounts::{Amounts, Loss, Times, Works};
pub use compare::{
    CodeRow, Comparison, ContextUncertainty, FunctionRow, LockLoss, Options, compare,
};
pub use document::{ComparisonDocument, SCHEMA};
pub use error::CompareError;
pub use folded::folded;
pub use kilocore_sampled_profile::{Function, Origin};
pub use lock_functions::{LockRole, lock_role};
pub use noise::{ASSUMED_RUN_NOISE, NoiseSource, RunNoise, Uncertainty};
pub use ownership::Owner;
pub use page::LocateReport;
pub use run::{Measure, Run};
pub use sidecar::{Sidecar, SidecarError};
pub use table::locate_table;
pub use totals::SideTotals;
pub use tree::{FunctionIndex, Node, NodeIndex, Side, Tree};
pub use warning::Warning;
pub use work::{Work, WorkError};
