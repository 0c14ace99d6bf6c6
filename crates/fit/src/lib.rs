//! Which workloads explain measured throughputs, and what they would do under other locks and on
//! more cores.
//!
//! # The way of a fit
//! 1. [`Measurements`] are read from what a user has: throughputs of some locks on some cores.
//! 2. An [`Atlas`] holds what plausible workloads do on the machine: each is simulated with the
//!    lock code that ships, under each lock and on each number of cores that is asked for, once.
//! 3. [`fit`] weighs every workload by how well it explains the measurements, and keeps all that
//!    do: their spread is the uncertainty of what follows.
//! 4. A [`Fit`] forecasts other locks and numbers of cores, each with a band.
//!
//! [`usl`] fits the universal scalability law to the same points, for comparison.

mod measurements;
mod fit;
mod atlas;
pub mod usl;

pub use atlas::Atlas;
pub use fit::{Constraints, Estimate, Fit, Pinned, Plausible, Refusal, fit};
pub use measurements::{LeftOut, Measurement, Measurements, ReadError};
