//! Published figures, simulated anew.
//!
//! Each experiment is a module. The module says which figure it simulates and where each of its
//! parameters comes from. It runs the code that ships on a simulated machine, and has the published
//! figures for comparison. `kilocore-lab` is its command line.

pub mod kernel;
pub mod ldu;
pub mod lru;
pub mod numa;
pub mod numa_programs;
pub mod sched;
