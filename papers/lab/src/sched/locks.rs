//! The lock experiment: lock-heavy loads on many cores, under kernel locks and schedulers.
//!
//! # What is simulated
//! Each core in use has a process that repeats one operation of a [`Load`]: it computes, works in the
//! kernel, and goes through short sections under locks that all processes share. Data under a lock moves
//! from holder to holder. A [`KernelLock`] says what the locks are, and a policy where the processes run.
//!
//! # What it is compared with
//! The thesis shows curves without figures (its slides are all there is): on 32 AMD cores, mmapbench,
//! sockbench, parallel find and parallel postmark stop scaling under Linux's ticket spin lock and
//! collapse, and kernbench scales. So the loads are calibrated to that shape alone, with the spin lock
//! and fair scheduling, and what anything else does then comes out as it comes out.

mod algorithm;
mod choice;
mod load;
mod loads;
mod point;
mod process;
mod run;
mod sweep;

pub use algorithm::{KernelLock, UnknownLock};
pub use choice::{Choice, UnknownChoice};
pub use load::{Load, Section};
pub use loads::{
    KERNBENCH, LOADS, MMAPBENCH, PARALLEL_FIND, PARALLEL_POSTMARK, SOCKBENCH, load_named,
};
pub use point::{Point, jain};
pub use run::{Job, LocksError, RunLength, simulate};
pub use sweep::{Plan, sweep};
