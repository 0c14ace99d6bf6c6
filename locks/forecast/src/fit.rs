//! Which workloads explain measured throughputs, and what they would do under other locks and on
//! more cores.
//!
//! # The way of a fit
//! 1. A [`MeasuredTable`] is read from what a user has: throughputs of variants on some cores. A
//!    [`Comparison`] shows them as they are. [`Measurements`] are those of its variants that are locks.
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
//!
//! # Decisions
//! * **A program is a mixture of phases**: one in which threads contend for locks, one that runs in
//!   parallel, and one that no lock mends (serial code, memory, the kernel). In a mixture the times
//!   of the phases add up, so a few hundred simulated lock phases make some ten thousand mixtures.
//!   `catalogue.rs` lists the phases: sections under one or several locks, and crowds of more
//!   threads than cores. The program's own barriers belong to what no lock mends. All threads
//!   arrive at them one after another, so a barrier's time grows with the cores. Barriers whose
//!   arrivals poll the program's locks can be simulated (`predict::BarrierRounds`), but they are
//!   not among the phases, because some take minutes.
//! * **The model is wrong, and says by how much** (`discrepancy.rs`). What a mixture leaves
//!   unexplained is a Gaussian process over the logarithm of cores. One part of it is common to all
//!   locks, one is common to locks whose waiters wait alike, and one belongs to each lock alone.
//!   The size of the process is weighed together with the mixtures, so badly explained measurements
//!   lead to wide bands. The process also corrects the forecast: a lock that was measured lower
//!   than simulated is forecast lower on more cores too. Its few constants are the same for all
//!   programs, locks and machines.
//! * **Related locks do alike** (`waiting_style.rs`). The simulation errs more on either of two queue locks
//!   than programs differ between the two. So each workload holds two opinions of a lock that was
//!   not measured: that it does as simulated, and that it does as its measured relative. The worse
//!   the workload explains the measurements, the more the second opinion weighs.
//! * **All workloads that explain the measurements take part.** The weight of a mixture is its
//!   likelihood under that process times a prior that knows nothing of the program. The forecast is
//!   the geometric mean of the mixtures, and the band has the quantiles of all of them together.
//!   With few points the prior matters, and the band shows it.
//! * **Where curves run straight, they are not simulated** (`straight.rs`), unless that is asked for. What is
//!   read off lies within a tenth of half the band of what was simulated, where that was looked at.
//! * **What was simulated is kept** in an `Atlas`, which fits of many programs share.
//!
//! Some figures of a machine are not published. [`Fit::log_evidence`] can estimate them: summed
//! over many programs, it says how likely all their measurements are on a machine that is described
//! in one way or another, whatever the programs do. The deeper idle state of `xeon-e7-4830v3-4s`
//! was estimated in this way; the machine files say what else it was checked against.
//!
//! Locks are simulated here as libraries other than Kilocore's have them, with waiters that never
//! offer their core to others, because those locks are what people have measured.

mod advice;
mod atlas;
mod background;
mod catalogue;
mod comparison;
mod discrepancy;
mod estimate;
mod measurements;
mod mixture;
mod outlook;
mod outlook_point;
mod pinned;
mod straight;
mod waiting_style;
mod weigh;
mod weighed;

pub use advice::{Advice, Gain};
pub use atlas::Atlas;
pub use comparison::{
    Best, ComparedPoint, ComparedVariant, Comparison, FittedLaw, LawPoint, NothingToCompare,
};
pub use estimate::Estimate;
pub use measurements::{
    InputPlace, LeftOut, MeasuredTable, Measurement, Measurements, ReadError, Variant, VariantPoint,
};
pub use outlook::{LockLaw, Named, Outlook, Wanted};
pub use outlook_point::{OutlookCurve, OutlookPoint};
pub use pinned::{Pinned, Plausible};
pub use weighed::{Fit, Refusal, fit};
