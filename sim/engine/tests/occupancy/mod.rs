//! Shared caches and memory bandwidth, in one program.

mod by_hand;
mod made;
mod programs;
mod properties;
