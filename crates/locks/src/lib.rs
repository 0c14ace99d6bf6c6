//! Lock algorithms for many cores.
//!
//! Each algorithm is one file, generic over [`Platform`](kilocore_platform::Platform), that
//! opens with what it is, where it comes from and where it departs from that. All implement
//! [`RawLock`]; [`LockId`] is the registry that the command line, the benchmarks, the model
//! checks, the simulator and `kilocore run` go through. How to add one is in `CONTRIBUTING.md`.
#![no_std]

extern crate alloc;

mod adaptive;
mod backoff;
mod central_rw;
mod clh;
mod clh_park;
mod cna;
mod futex;
mod malthusian;
mod malthusian_spin;
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
mod ticket_backoff;
mod ttas;

pub use adaptive::Adaptive;
pub use backoff::{Backoff, BackoffThread};
pub use central_rw::CentralRw;
pub use clh::{Clh, ClhThread};
pub use clh_park::ClhPark;
pub use cna::{Cna, CnaThread};
pub use futex::Futex;
pub use malthusian::{Malthusian, MalthusianThread};
pub use malthusian_spin::MalthusianSpin;
pub use mcs::Mcs;
pub use mcs_park::McsPark;
pub use raw::{LockVisitor, RawLock};
pub use registry::{LockId, LockInfo, UnknownLock};
pub use requester::Requester;
pub use signal::{Manner, Parking, Spinning};
pub use tas::Tas;
pub use ticket::Ticket;
pub use ticket_backoff::TicketBackoff;
pub use ttas::Ttas;
