//! Shared parts of the model checks of Kilocore's algorithms. Only tests use this crate.
//!
//! * [`Threads`]: platforms that can start threads. A program that is written for them runs on
//!   each.
//! * [`model`] and [`explore`]: such programs under loom and under shuttle.
//! * [`verdict`]: the message of a checker about a program in which it must find an error.
//! * [`Altered`]: a platform with one property changed, for example without any release.
//! * [`planted`]: an error in one call of the shipped source.
//! * [`weakening`]: one ordering of the shipped source, weakened at run time.
//! * [`quarantine`]: memory that was given back is not used again, and every access to it is
//!   detected.
//! * [`stacks`]: the stacks of checked threads, kept for the next execution.

mod altered;
pub mod planted;
pub mod quarantine;
mod roomy;
mod run;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub mod stacks;
mod threads;
mod watched;
pub mod weakening;

pub use altered::{Alteration, Altered, LoadsConflict, Shadow, Word, bury, exhume_all};
pub use altered::{LowPower, NoAcquire, NoRelease, Sequential, Sound, Thorough};
pub use run::{explore, explore_part, is_thorough, model, part_of, verdict};
pub use threads::Threads;
