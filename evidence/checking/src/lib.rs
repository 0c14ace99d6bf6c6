//! What the model checks of Kilocore's algorithms share: only tests use it.
//!
//! * [`Threads`]: programs that run on every platform that can start threads.
//! * [`model`] and [`explore`]: those programs under loom and under shuttle.
//! * [`verdict`]: what a checker says of a program that it must find fault with.
//! * [`Altered`]: a platform with one property changed, such as every release taken away.
//! * [`planted`]: an error in one call of the shipped source.
//! * [`weakening`]: one ordering of the shipped source, weakened at run time.
//! * [`quarantine`]: memory that was given back stays where it is, and every access to it is caught.
//! * [`stacks`]: the stacks of checked threads, kept for the next execution.

mod altered;
pub mod planted;
pub mod quarantine;
mod run;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub mod stacks;
mod threads;
mod watched;
pub mod weakening;

pub use altered::{Alteration, Altered, LoadsConflict, Shadow, Word, bury, exhume_all};
pub use altered::{LowPower, NoAcquire, NoRelease, Sound, Thorough};
pub use run::{explore, model, verdict};
pub use threads::Threads;
