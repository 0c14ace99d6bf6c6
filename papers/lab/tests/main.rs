//! The command line of the experiments, as its users meet it.

mod bad_input;
mod cache;
#[path = "readme/commands.rs"]
mod commands;
mod common;
mod found_again;
mod kernel;
mod ldu;
mod lock;
mod lru;
mod numa;
mod numa_trace;
mod pages;
mod printed_simulations;
mod sched;
