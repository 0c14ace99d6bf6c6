//! Data with a copy on each node, beside what else there is for data that is mostly read.
//!
//! * [`simulated`]: on simulated machines with several nodes, beside read-write locks.
//! * [`measured`]: on this machine, beside other libraries.

pub mod locked;
pub mod measured;
pub mod simulated;
pub mod tables;
