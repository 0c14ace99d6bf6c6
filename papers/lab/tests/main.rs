//! The command line of the experiments, as its users meet it.

mod bad_input;
mod common;
mod found_again;
mod ldu;
mod lock;
mod lru;
mod numa;
mod numa_trace;
mod pages;
mod sched;
