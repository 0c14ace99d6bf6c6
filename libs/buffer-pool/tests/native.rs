//! The pool on this host.

mod capacity;
mod chooser;
mod faults;
mod faulty_disk;
mod key_value;
mod lives;
mod model;
mod open_file;
mod planted;
mod search;
mod slow_store;
mod threads;
