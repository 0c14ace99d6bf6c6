//! Simulates the balanced policy with its constants changed: what they were chosen with.
//!
//! Prints a JSON document on standard output. Each point is one program with one set of constants, beside
//! the program's best fixed delay. `make numa` makes the table of docs/numa.md of it.
//!
//! ```text
//! cargo run --release -p kilocore-published --example choose-balanced
//! ```

use std::error::Error;

use kilocore_numa_programs::{Program, Size};
use kilocore_placement::{BalancedOptions, PageSize, Rule};
use kilocore_published::numa::{DELAYS, Load, Setting, jobs, sweep};
use serde::Serialize;

// As in `kilocore`: simulated memory lies the same way every time.
#[global_allocator]
static HEAP: kilocore_sim::SimHeap = kilocore_sim::SimHeap;

/// The inputs: sizes and processors.
const INPUTS: [(Size, &str, u32); 4] = [
    (Size::Published, "published", 32),
    (Size::Small, "small", 32),
    (Size::Small, "small", 16),
    (Size::Small, "small", 8),
];

#[derive(Serialize)]
struct Point {
    constants: &'static str,
    program: &'static str,
    size: &'static str,
    processors: u32,
    namc: f64,
    /// NAMC under the fixed delay that is best for this program.
    best_fixed: f64,
}

/// The constants, the chosen ones first, and how each differs from them.
fn variants() -> Vec<(&'static str, BalancedOptions)> {
    let chosen = BalancedOptions::default();
    vec![
        ("as chosen", chosen),
        ("least share 1/20", BalancedOptions { least_share: 0.05, ..chosen }),
        ("least share 1/5", BalancedOptions { least_share: 0.2, ..chosen }),
        ("least share 1: nothing is learned", BalancedOptions { least_share: 1.0, ..chosen }),
        ("patience 1/2", BalancedOptions { patience: 0.5, ..chosen }),
        ("patience 2", BalancedOptions { patience: 2.0, ..chosen }),
        ("learning 1/16", BalancedOptions { learning: 1.0 / 16.0, ..chosen }),
        ("learning 1/256", BalancedOptions { learning: 1.0 / 256.0, ..chosen }),
        ("all pages count as 1/2", BalancedOptions { all_pages: 0.5, ..chosen }),
        ("all pages count as 8", BalancedOptions { all_pages: 8.0, ..chosen }),
        ("only all pages count", BalancedOptions { all_pages: 1e9, ..chosen }),
        ("fading 1/2", BalancedOptions { fading: 0.5, ..chosen }),
        ("fading 1: never", BalancedOptions { fading: 1.0, ..chosen }),
    ]
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut points = Vec::new();
    for (size, size_name, processors) in INPUTS {
        let loads = Program::ALL.map(|program| Load::Program(program, size));
        let setting = Setting::published(processors, PageSize::of(4096).expect("a power of two"));
        let fixed = sweep(&jobs(&setting, &loads, &[Rule::Fixed], &DELAYS), &|| {})?;
        for (constants, options) in variants() {
            let mut setting = setting.clone();
            setting.told.balanced = options;
            for point in sweep(&jobs(&setting, &loads, &[Rule::Balanced], &[]), &|| {})? {
                let same = fixed.iter().filter(|fixed| fixed.program == point.program);
                let best_fixed = same.map(|fixed| fixed.outcome.namc).fold(f64::INFINITY, f64::min);
                points.push(Point {
                    constants,
                    program: point.program,
                    size: size_name,
                    processors,
                    namc: point.outcome.namc,
                    best_fixed,
                });
            }
        }
    }
    println!("{}", serde_json::to_string_pretty(&points)?);
    Ok(())
}
