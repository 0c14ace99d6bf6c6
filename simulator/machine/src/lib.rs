//! Machines, described: topology, latencies, caches, operating-system costs and power.
//!
//! A machine is a TOML file in which every figure says where it comes from: a source, or how it
//! was estimated. The simulator reads nothing else of a machine, so a forecast can be traced to
//! the figures it hangs on, and repeated with other ones.
//!
//! * [`builtin`] lists the machines that come with Kilocore; [`find`] takes one of their names
//!   or the path of a file.
//! * [`Description::parse`] checks every field; its errors name the file, the line, the field and
//!   the mend.
//! * [`Description::location`], [`Description::distance`] and [`Description::latency`] place
//!   hardware threads, in an order that fills cores before siblings and near before far.
//! * The crate `kilocore-host` measures this host and describes it so.
//!
//! ```
//! use kilocore_machine::{Distance, HardwareThread, find};
//!
//! let machine = find("opteron-6344-4s")?;
//! assert_eq!(machine.hardware_threads(), 48);
//! // The dies of a package are near; a die of another package is one or two hops away.
//! let far = machine.distance(HardwareThread(0), HardwareThread(18));
//! assert_eq!(far, Distance::Sockets { hops: 2 });
//! # Ok::<(), kilocore_machine::MachineError>(())
//! ```
//!
//! The format is described in `docs/machines.md`.

mod builtin;
mod check;
mod description;
mod error;
mod parse;
mod schema;
mod topology;

pub use builtin::{Builtin, builtin, find};
pub use description::{
    Caches, Coherence, Description, Figure, Latencies, Memory, OperatingSystem, Power, Topology,
};
pub use error::MachineError;
pub use schema::{MOST_HOPS, SCHEMA};
pub use topology::{Distance, HardwareThread, Location};
