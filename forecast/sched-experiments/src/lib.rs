//! Schedulers that see contention, simulated beside those that do not.
//!
//! The policies are those of `kilocore-sched-policy`, unchanged, and the machine and its operating system
//! those of `kilocore-sim`.
#![warn(missing_docs)]

pub mod cache;
