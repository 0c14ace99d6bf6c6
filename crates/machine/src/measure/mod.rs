//! This host, measured, as a machine file.
//!
//! Topology and caches are read from `/sys`; latencies, bandwidth and the costs of the operating
//! system are measured with pinned threads, each as the median of several samples, in a few
//! seconds in all. What one host cannot tell (power; other sockets where there is but one) is
//! taken from a built-in machine of the same maker and marked as an estimate.
//!
//! A busy or virtual host measures what it is: a program there meets the same disturbances.

mod affinity;
mod core_to_core;
mod error;
mod host;
mod identity;
mod median;
mod memory;
mod processor;
mod sysfs;
mod system;

pub use core_to_core::{core_to_core_ns, host_core_to_core};
pub use error::MeasureError;
pub use host::measure_host;
pub use sysfs::{Processor, Shape, shape};

/// Where Linux lists processors and nodes.
pub(crate) const SYSTEM: &str = "/sys/devices/system";
