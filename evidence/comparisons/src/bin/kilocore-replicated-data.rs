//! Writes the tables of `docs/evidence/replicated.md`.
//!
//! ```text
//! kilocore-replicated-data [--quick] [--page FILE]
//! ```
//! Measured are medians over rounds in which everything is measured once, with quartiles, and medians of the
//! ratios within a round. Simulated figures are the same on every host.

use std::process::ExitCode;

use kilocore_comparisons::command::run;
use kilocore_comparisons::replicated_data::tables::{measured, simulated};
use kilocore_sim::SimHeap;

/// Simulated memory lies the same way every time.
#[global_allocator]
static HEAP: SimHeap = SimHeap;

fn main() -> ExitCode {
    run("kilocore-replicated-data", |effort| {
        let effort = effort.into();
        Ok(vec![("simulated", simulated(effort)?), ("measured", measured(effort))])
    })
}
