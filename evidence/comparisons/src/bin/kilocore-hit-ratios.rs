//! Measures the hit ratios of page lists, and writes the tables of a page.
//!
//! ```text
//! kilocore-hit-ratios [--quick] [--page FILE]
//! ```

use std::process::ExitCode;
use std::thread;

use kilocore_comparisons::command::{Effort, run};
use kilocore_comparisons::hit_ratios::page::tables;

fn main() -> ExitCode {
    run("kilocore-hit-ratios", |effort| {
        let uses = match effort {
            Effort::Full => 10_000_000,
            Effort::Quick => 200_000,
        };
        let threads = thread::available_parallelism().map_or(1, usize::from);
        Ok(vec![("hit-ratios", tables(uses, threads))])
    })
}
