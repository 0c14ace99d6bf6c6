//! Which workloads explain measured throughputs, and what they would do under other locks and on
//! more cores.
//!
//! # The way of a fit
//! 1. [`Measurements`] are read from what a user has: throughputs of some locks on some cores.
//! 2. A program is modelled as a mixture of phases: one in which threads contend for locks, one
//!    that runs in parallel, and one that no lock can mend, such as serial code. What each phase
//!    does on the machine is simulated, the lock phase with the lock code that ships. An [`Atlas`]
//!    keeps what was simulated.
//! 3. [`fit`] weighs every mixture by how well it explains the measurements. What a mixture leaves
//!    unexplained is treated as a smooth error of the model, whose size the measurements show.
//! 4. A [`Fit`] holds all mixtures that explain the measurements. It forecasts other locks and
//!    numbers of cores. The spread of the mixtures and the error of the model make the band.
//!
//! A single best fit would be the wrong answer. A few measurements are compatible with many
//! workloads, and these differ beyond the measured counts of cores.
//!
//! An [`Outlook`] shows the universal scalability law ([`kilocore_figures::usl`]) beside it, fitted to
//! the same points, for comparison.

mod advice;
mod atlas;
mod background;
mod catalogue;
mod discrepancy;
mod estimate;
mod kin;
mod measurements;
mod mixture;
mod outlook;
mod outlook_point;
mod pinned;
mod weigh;
mod weighed;

pub use advice::{Advice, Gain};
pub use atlas::Atlas;
pub use estimate::Estimate;
pub use measurements::{LeftOut, Measurement, Measurements, Place, ReadError};
pub use outlook::{LawPoint, LockLaw, Named, Outlook};
pub use outlook_point::{OutlookCurve, OutlookPoint};
pub use pinned::{Pinned, Plausible};
pub use weighed::{Fit, Refusal, fit};
