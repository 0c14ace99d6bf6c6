//! What is simulated of a program besides its locks, beside closed forms and planted truths.

mod barrier;
mod closed_forms;
mod crowd;
mod effort;
mod extent;
mod fit;
mod kernel;
mod lock_use;
mod memory;
mod phases;
mod placement;
