//! The pool on this host.

mod capacity;
mod chooser;
mod direct;
mod faults;
mod faulty_disk;
mod key_value;
mod lives;
mod locked_files;
mod model;
mod resources;
mod slow_store;
mod threads;

// What the searches share.
mod disk_events;
mod planted;
mod search;
