//! Nodes and their memory under Linux.

mod memory;
mod sysfs;

pub(crate) use memory::System;
pub(crate) use sysfs::nodes_of_cores;
