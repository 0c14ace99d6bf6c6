//! Programs that share caches and memory bandwidth, under policies that see it and others that do not.
//!
//! # The experiment
//! A [`Mix`] of sixteen serial programs runs on eight cores, each program again and again, under a
//! [`Contender`]. What each did is compared with the same program alone on the machine: [`Point`]. Fair
//! sharing starts from several orders of the tasks, as nobody chooses one, and so do the others.
//!
//! # Beside the thesis
//! The figures of the thesis are lost; it says that eight workloads were made of the nine serial NAS
//! programs on eight cores, that tasks took up to 21 % less time, that the mean over all was +11.39 %,
//! and that this was close to the optimum. The mixes here were chosen before any policy was run on
//! them, and nothing was changed afterwards.

mod contender;
mod experiment;
mod job;
mod metrics;
mod mix;
mod optimum;
mod point;
mod run;
mod setting;

pub use contender::Contender;
pub use experiment::{points, results};
pub use metrics::{Judgement, Judgements, judge};
pub use mix::{Mix, UnknownMix, mixes};
pub use point::{Point, TaskPoint};
pub use run::{Ran, RunError, run};
pub use setting::Setting;
