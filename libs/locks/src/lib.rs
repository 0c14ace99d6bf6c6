//! Lock algorithms for many cores.
//!
//! Each algorithm is one file, generic over [`Platform`](kilocore_platform::Platform), that
//! opens with what it is, where it comes from and where it departs from that. All implement
//! [`RawLock`] or, if they tell readers from writers, [`RawRwLock`]; [`LockId`] is the registry
//! of the former that the command line, the benchmarks, the model checks, the simulator and
//! `kilocore run` go through. How to add one is in `CONTRIBUTING.md`.
//!
//! What such a lock lacks to live inside a program that knows nothing of it is here too, so that it
//! is checked as the locks are: [`Moderated`] makes any of them fit for forks, deadlines,
//! cancellation and more threads than cores; [`Condition`] is a condition variable for any of
//! them; [`FreeBlocks`] keeps their memory.
#![no_std]

extern crate alloc;

mod adaptive;
mod ahmcs;
mod alock;
mod backoff;
mod c_bo_mcs;
mod c_bo_mcs_park;
mod c_ptl_tkt;
mod c_tkt_tkt;
mod central_rw;
mod clh;
mod clh_park;
mod cna;
mod cohort;
mod condition;
mod fork_lock;
mod free_blocks;
mod futex;
mod hmcs;
mod hticket;
mod inflatable;
mod large;
mod malthusian;
mod malthusian_spin;
mod mcs;
mod mcs_park;
mod mcs_tp;
mod moderated;
mod mutexee;
mod node_cache;
mod partitioned;
mod patience;
mod random;
mod raw;
mod raw_rw;
mod registry;
mod requester;
mod rwsem;
mod signal;
mod tas;
mod ticket;
mod ticket_backoff;
mod ttas;
mod waiting_room;

pub use adaptive::Adaptive;
pub use ahmcs::{AdaptiveTree, Ahmcs, AhmcsThread};
pub use alock::Alock;
pub use backoff::{Backoff, BackoffThread};
pub use c_bo_mcs::CBoMcs;
pub use c_bo_mcs_park::CBoMcsPark;
pub use c_ptl_tkt::CPtlTkt;
pub use c_tkt_tkt::CTktTkt;
pub use central_rw::CentralRw;
pub use clh::{Clh, ClhThread};
pub use clh_park::ClhPark;
pub use cna::{Cna, CnaThread};
pub use cohort::{Cohort, LocalLock};
pub use condition::{Condition, Sleeper, sleeper_state};
pub use fork_lock::{ForkLock, PROCESS_BITS};
pub use free_blocks::{BLOCK_ALIGN, FreeBlock, FreeBlocks};
pub use futex::Futex;
pub use hmcs::Hmcs;
pub use hticket::Hticket;
pub use inflatable::{Inflatable, InflatableThread};
pub use large::{Body, LargeLock};
pub use malthusian::{Malthusian, MalthusianThread};
pub use malthusian_spin::MalthusianSpin;
pub use mcs::Mcs;
pub use mcs_park::McsPark;
pub use mcs_tp::McsTp;
pub use moderated::{Moderated, Slept};
pub use mutexee::Mutexee;
pub use partitioned::{Grants, Partitioned};
pub use raw::{LockVisitor, RawLock};
pub use raw_rw::{NoSharing, RawRwLock, ReadersAlone};
pub use registry::{LockId, LockInfo, UnknownLock};
pub use requester::Requester;
pub use rwsem::Rwsem;
pub use signal::{Manner, Parking, Spinning};
pub use tas::Tas;
pub use ticket::Ticket;
pub use ticket_backoff::TicketBackoff;
pub use ttas::Ttas;
pub use waiting_room::{Fences, Guest, Room, SymmetricFences};
