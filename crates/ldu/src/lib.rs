//! Deferred-update logs: structures that many cores update and few read, without contention.
#![no_std]

extern crate alloc;

pub mod adapters;
mod object;
mod scheme;
mod structure;

pub use object::{Attached, Detached, Hook, Object};
pub use scheme::Scheme;
pub use structure::{Search, Structure};
