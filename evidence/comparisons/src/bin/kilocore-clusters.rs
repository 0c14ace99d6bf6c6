//! Writes the tables of `docs/evidence/clusters.md`.
//!
//! ```text
//! kilocore-clusters [--quick] [--page FILE]
//! ```
//! Simulated figures are the same on every host, apart from the time that the coordinator takes.

use std::process::ExitCode;

use kilocore_comparisons::clusters::{measured::measured, simulated::simulated};
use kilocore_comparisons::command::run;

fn main() -> ExitCode {
    run("kilocore-clusters", |effort| {
        let measured = measured(effort).map_err(|error| format!("a temporary folder: {error}"))?;
        Ok(vec![("simulated", simulated(effort)), ("measured", measured)])
    })
}
