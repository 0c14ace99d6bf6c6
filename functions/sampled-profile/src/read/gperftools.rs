//! Reads the profiles of gperftools, and those of servers that print the same.
//!
//! They are stacks of addresses ([`stacks`]), followed by the process's memory map ([`mappings`]).
//! The files in the map name the addresses ([`naming`]). There are two kinds: of processor time
//! ([`cpu`]) and of waiting for locks ([`contention`]). Neither says which build of a file was
//! mapped, so a file that was replaced since cannot be told from the one that ran.

pub(crate) mod contention;
pub(crate) mod cpu;
mod mappings;
mod naming;
mod stacks;

pub(crate) use cpu::Words;
