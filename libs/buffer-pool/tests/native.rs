//! The pool on this host.

mod capacity;
mod chooser;
mod direct;
mod faults;
mod key_value;
mod model;
mod resources;
mod slow_store;
mod threads;
