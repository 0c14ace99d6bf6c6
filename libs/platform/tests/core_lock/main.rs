//! Locks of cores: acquired at home without an atomic exchange, and from afar with the kernel's help.
#![cfg(feature = "native")]

mod contenders;
mod model;
mod processes;
