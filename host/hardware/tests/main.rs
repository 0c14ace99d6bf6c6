//! This host and recorded ones, read and measured.

mod measure_host;
mod sysfs;
