//! Schedulers that see contention, simulated beside those that do not.
//!
//! The policies are those of `kilocore-sched-policy`, unchanged, and the machine and its operating system
//! those of `kilocore-sim`. A [`Driver`] makes a scheduler of the simulated system out of a policy: it
//! turns what the system counts in a window into what the policy wants to know, and the policy's orders
//! into sets of cores.
//!
//! [`locks`] are the lock-heavy loads of the thesis on the scalability of operating systems, under four
//! algorithms of kernel locks. [`cache`] are its mixes of programs that share caches.
#![warn(missing_docs)]

pub mod cache;
mod driver;
pub mod locks;
mod record;

pub use driver::{Driver, Noise, machine_for_policies};
pub use record::{Record, Span};
