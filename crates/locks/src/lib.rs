//! Lock algorithms for many cores.
//!
//! Each algorithm is one file, generic over [`Platform`](kilocore_platform::Platform), that
//! opens with what it is, where it comes from and where it departs from that. All implement
//! [`RawLock`]; [`LockId`] is the registry that the command line, the benchmarks, the model
//! checks, the simulator and `kilocore run` go through. How to add one is in `CONTRIBUTING.md`.
#![no_std]

extern crate alloc;

mod adaptive;
mod central_rw;
mod clh;
mod cna;
mod futex;
mod malthusian;
mod mcs;
mod mcs_park;
mod node_cache;
mod patience;
mod random;
mod raw;
mod registry;
mod requester;
mod signal;
mod tas;
mod ticket;
mod ttas;

pub use adaptive::Adaptive;
pub use central_rw::CentralRw;
pub use clh::{Clh, ClhThread};
pub use cna::{Cna, CnaThread};
pub use futex::Futex;
pub use malthusian::{Malthusian, MalthusianThread};
pub use mcs::Mcs;
pub use mcs_park::McsPark;
pub use raw::{LockVisitor, RawLock};
pub use registry::{LockId, LockInfo, UnknownLock};
pub use requester::Requester;
pub use signal::{Manner, Parking, Spinning};
pub use tas::Tas;
pub use ticket::Ticket;
pub use ttas::{Ttas, TtasThread};
