//! Measures the hit ratios of page lists, and writes the tables of a page.
//!
//! ```text
//! kilocore-hit-ratios [--quick] [--page FILE]
//! ```

use std::process::ExitCode;

use kilocore_comparisons::command::{Effort, run};
use kilocore_comparisons::hit_ratios::page::tables;
use kilocore_points::PointSource;

fn main() -> ExitCode {
    run("kilocore-hit-ratios", |effort| {
        let uses = match effort {
            Effort::Full => 10_000_000,
            Effort::Quick => 200_000,
        };
        let source = PointSource::of_user(false).map_err(|error| error.to_string())?;
        let tables = tables(&source, uses).map_err(|error| error.to_string())?;
        Ok(vec![("hit-ratios", tables)])
    })
}
