//! Shared caches and memory bandwidth: what tasks that run side by side leave each other of both,
//! and how fast that lets them be.
//!
//! # The idea
//! * **A task is a [`Phase`]**: cycles per instruction while its references hit the last-level cache,
//!   how often it refers to that cache, and a [`MissCurve`], which says how many of these references
//!   miss while it has so many bytes of the cache.
//! * **A cache is shared by inserting.** Each miss brings a line in. When the cache is full, another
//!   line goes, whoever's it is. How much of a cache a task has is therefore nobody's decision, and a
//!   task that does not run keeps its lines until the others have evicted them ([`Model`]).
//! * **Misses queue for the memory.** The latency rises with the use of the channel, so far that
//!   the traffic never exceeds what the channel carries.
//! * **What follows** are the cycles that some instructions take, and counts of references, misses
//!   and bytes, as hardware counters have them.
//!
//! Nothing here knows of an engine or of a scheduler. [`Model`] advances tasks in any order that its
//! user likes; [`settled`] and [`Matrix`] are functions of phases alone.
//!
//! # An example
//! ```
//! use kilocore_sim::occupancy::{Bytes, Hardware, MissCurve, Phase, settled};
//!
//! let machine = kilocore_machine::find("xeon-e5345-2s").unwrap();
//! let hardware = Hardware::new(&machine, 8);
//! let two_megabytes = Phase {
//!     cpi: 0.8,
//!     references: 0.02,
//!     curve: MissCurve::new(&[(0.0, 1.0), (2e6, 0.05)]).unwrap(),
//!     overlap: 2.0,
//!     written_back: 0.3,
//!     private: Bytes(32e3),
//! };
//! let alone = settled(&hardware, &[(0, &two_megabytes)])[0];
//! let beside = settled(&hardware, &[(0, &two_megabytes), (1, &two_megabytes)])[0];
//! // Each has 2 MB of the 4 MB that cores 0 and 1 share, so that only the bus is left to fight for.
//! assert!(beside < alone && beside > 0.9 * alone);
//! ```
//!
//! # Where it departs from hardware
//! * A cache has no sets, and which line goes is a matter of proportion and not of order.
//! * A task's memory is on the node where the task first ran, and stays there.
//! * All arithmetic is `+ - * /`, so that results are the same on every host.

mod cache;
mod channels;
mod curve;
mod demand;
mod hardware;
mod matrix;
mod model;
mod nas;
mod phase;
mod program;
mod settled;
pub mod synthetic;
mod units;

pub use cache::Cache;
pub use channels::queueing;
pub use curve::{CurveError, MissCurve};
pub use hardware::Hardware;
pub use matrix::{Matrix, correlation};
pub use model::{Executed, Model};
pub use nas::nas;
pub use phase::Phase;
pub use program::{Part, Program};
pub use settled::{settled, settled_counts};
pub use units::Bytes;
