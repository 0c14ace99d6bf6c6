//! Deferred-update logs: structures that many cores update and few read, without contention.
#![no_std]

extern crate alloc;

pub mod adapters;
mod adaptive;
mod global;
mod ldu;
mod log;
mod node;
mod object;
mod per_core;
mod policy;
mod queue;
mod scheme;
mod schemes;
mod structure;

pub use adaptive::Adaptive;
pub use global::Global;
pub use ldu::{ElsewhereError, In, Ldu, Out};
pub use log::{Counts, Limits};
pub use node::Node;
pub use object::{Attached, Detached, Hook, Object};
pub use per_core::{PerCore, SLOTS, Slots};
pub use policy::{Advice, Always, Kind, Policy};
pub use queue::{Fill, Queue};
pub use scheme::Scheme;
pub use schemes::{Deferred, SchemePolicy, SchemeQueue};
pub use structure::{Search, Structure};

/// A log without a structure, for those who bring their own objects.
pub mod raw {
    pub use crate::log::{Log, Released};
    pub use crate::node::{Node, Update};
}
