//! What one simulation says.

use kilocore_points::{Name, read_name};
use serde::{Deserialize, Deserializer, Serialize};

use crate::sched::locks::algorithm::KernelLock;
use crate::sched::locks::loads::LOADS;

/// A point: a load under a lock and a policy on some cores. All figures are of the windows that count,
/// after the warm-up, unless they say otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The name of the load.
    #[serde(deserialize_with = "read_load_name")]
    pub load: Name,
    /// The locks of the kernel.
    pub lock: KernelLock,
    /// The policy, by its name on the command line.
    pub policy: String,
    /// Cores in use, each with a process.
    pub cores: u32,
    /// Operations per second of all processes together.
    pub throughput: f64,
    /// The same from the beginning, with warm-up and search.
    pub throughput_with_search: f64,
    /// Throughput over that on one core with the spin lock and fair scheduling; not there if that was
    /// not simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speedup: Option<f64>,
    /// Which part of the time that processes ran or waited for locks they waited: from 0 to 1.
    pub waiting: f64,
    /// Energy in joules per second: of the cores in use and their sockets.
    pub watts: f64,
    /// Energy in joules of the windows that count.
    pub joules: f64,
    /// Energy in joules for an operation.
    pub joules_per_operation: f64,
    /// Jain's index over the processes' operations: 1 if all did as many, and one over their number if
    /// one of them did all.
    pub fairness: f64,
    /// On how many cores the processes were confined in the end, if they were.
    pub k: Option<u32>,
    /// After how many windows of contention that number was first known, if the policy looks for one.
    pub found_after: Option<u32>,
    /// How many windows counted.
    pub windows: u32,
}

fn read_load_name<'de, D: Deserializer<'de>>(from: D) -> Result<Name, D::Error> {
    read_name(from, LOADS.map(|load| load.name))
}

/// Jain's index of fairness over shares: the square of their sum over their number times the sum of their
/// squares. For no shares, or none above 0, it is 1.
#[must_use]
pub fn jain(shares: &[u64]) -> f64 {
    let sum: f64 = shares.iter().map(|&share| share as f64).sum();
    let squares: f64 = shares.iter().map(|&share| share as f64 * share as f64).sum();
    if squares == 0.0 { 1.0 } else { sum * sum / (shares.len() as f64 * squares) }
}
