//! Descriptions of machines: topology, latencies, caches, operating-system costs and power.
//!
//! A machine is described by a TOML file. Every figure in it has a source or says how it was
//! estimated. The simulator knows nothing else about a machine. A forecast can therefore be traced
//! to the figures that it depends on, and can be repeated with other figures.
//!
//! * [`builtin`] lists the machines that come with Kilocore. [`find`] takes one of their names
//!   or the path of a file.
//! * [`Description::parse`] reads a file and checks every field. Its errors name the file, the line
//!   and the field, and say what to write instead.
//! * [`Description::location`] returns where a hardware thread is, [`Description::distance`] how
//!   far apart two of them are, and [`Description::latency`] how long a cache line takes from one
//!   to the other. Hardware threads are numbered so that the first thread of every core comes
//!   before any sibling, and near cores come before far ones.
//! * The crate `kilocore-hardware` measures the host that it runs on and describes it in this form.
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
//! The format is described in `docs/formats/machine-files.md`.

mod builtin;
mod check;
mod description;
mod error;
pub mod names;
mod parse;
mod schema;
mod topology;

pub use builtin::{Builtin, builtin, find, is_likely, read};
pub use description::{
    Caches, Coherence, Description, Figure, Latencies, Memory, OperatingSystem, Power, Topology,
};
pub use error::MachineError;
pub use schema::{MOST_HOPS, SCHEMA};
pub use topology::{Distance, HardwareThread, Location};
