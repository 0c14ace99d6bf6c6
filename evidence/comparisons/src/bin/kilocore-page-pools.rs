//! The page pool beside the pools of Linux, LLFree, mimalloc, jemalloc and the kernel, on this machine.
//!
//! * **Cost**: threads allocate pages and release them, without using them.
//! * **Latency**: a page is initialized on one core and released on another (`latency`).
//!
//! ```text
//! kilocore-page-pools [--quick] [--page FILE]
//! ```
//! Printed, or put into a page, are tables: medians over rounds in which everything is measured once, with
//! quartiles, and medians of the ratios within a round.

use std::process::ExitCode;

use kilocore_comparisons::command::run;
use kilocore_comparisons::page_pools::tables::tables;

fn main() -> ExitCode {
    run("kilocore-page-pools", |effort| Ok(vec![("page-pools", tables(effort.into())?)]))
}
