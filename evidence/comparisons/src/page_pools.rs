//! The page pool beside the pools of Linux, LLFree, mimalloc, jemalloc and the kernel, on this machine.
//!
//! * Cost: threads allocate pages and release them, without using them.
//! * Latency: a page is initialized on one core and released on another.

mod cost;
mod latency;
mod subjects;
pub mod tables;
