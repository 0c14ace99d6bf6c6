//! This host: which hardware threads a thread may run on, and the machine file that describes it.
//!
//! * [`affinity`] says which hardware threads a thread may use, on hosts of any size, and
//!   [`set_affinity`] and [`confine`] change that.
//! * [`shape`] reads sockets, cores and caches from `/sys`.
//! * [`measure_host`] measures latencies, bandwidth and the costs of the operating system with
//!   pinned threads. Each figure is the median of several samples; all of them take a few seconds.
//!   What one host cannot tell is its power, and other sockets where there is only one. Such
//!   figures are taken from a built-in machine of the same maker and marked as estimates.
//!
//! A busy or virtual host is measured as it is: a program there meets the same disturbances.

mod affinity;
mod available_memory;
mod core_clock;
mod core_to_core;
mod cores_first;
mod error;
mod gaps;
mod holding;
mod host;
mod identity;
mod interrupts;
mod memory;
mod migratory;
mod pages;
mod pinned;
mod processor;
mod speed;
mod sysfs;
mod system;
mod waking;

pub use affinity::{CpuSet, affinity, confine, set_affinity};
pub use available_memory::available_memory;
pub use core_clock::core_clock_ghz;
pub use core_to_core::{core_to_core_ns, host_core_to_core};
pub use cores_first::{
    HardwareThread, cores_first, hardware_threads, in_order_of_use, siblings_together,
};
pub use error::MeasureError;
pub use host::measure_host;
pub use interrupts::interrupted_share;
pub use kilocore_platform::CpuId;
pub use sysfs::{Processor, Shape, shape};

/// Where Linux lists processors and nodes.
pub(crate) const SYSTEM: &str = "/sys/devices/system";
