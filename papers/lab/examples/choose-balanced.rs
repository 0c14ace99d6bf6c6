//! Simulates the balanced policy with its constants changed: what they were chosen with.
//!
//! Prints a JSON document on standard output. Each point is one program with one set of constants, beside
//! the program's best fixed delay. `make numa` makes the table of docs/evidence/numa.md of it.
//!
//! ```text
//! cargo run --release -p kilocore-lab --example choose-balanced
//! ```

use std::error::Error;

use kilocore_lab::numa::{DELAYS, Load, jobs, sweep};
use kilocore_lab::numa_programs::{Program, Size};
use kilocore_placement::Setting;
use kilocore_placement::{BalancedOptions, PageSize, Rule, Weights};
use serde::Serialize;

// As in `kilocore`: simulated memory lies the same way every time.
#[global_allocator]
static HEAP: kilocore_sim::SimHeap = kilocore_sim::SimHeap;

/// The inputs: sizes, processors and nodes.
const INPUTS: [(Size, &str, u32, u32); 7] = [
    (Size::Published, "published", 32, 32),
    (Size::Published, "published", 32, 16),
    (Size::Published, "published", 32, 8),
    (Size::Published, "published", 32, 4),
    (Size::Small, "small", 32, 32),
    (Size::Small, "small", 16, 16),
    (Size::Small, "small", 8, 8),
];

#[derive(Serialize)]
struct Point {
    constants: &'static str,
    program: &'static str,
    size: &'static str,
    processors: u32,
    nodes: u32,
    namc: f64,
    /// NAMC under the fixed delay that is best for this program.
    best_fixed: f64,
}

/// The constants, the chosen ones first, and how each differs from them.
fn variants() -> Vec<(&'static str, BalancedOptions)> {
    let chosen = BalancedOptions::default();
    let weigh = |weights| BalancedOptions { weights, ..chosen };
    let weights = chosen.weights;
    vec![
        ("as chosen", chosen),
        ("least share 1/20", BalancedOptions { least_share: 0.05, ..chosen }),
        ("least share 1/5", BalancedOptions { least_share: 0.2, ..chosen }),
        ("least share 1: not learned", BalancedOptions { least_share: 1.0, ..chosen }),
        ("patience 1/2", BalancedOptions { patience: 0.5, ..chosen }),
        ("patience 2", BalancedOptions { patience: 2.0, ..chosen }),
        ("stretch 1: not learned", BalancedOptions { stretch: 1.0, ..chosen }),
        ("stretch 16", BalancedOptions { stretch: 16.0, ..chosen }),
        ("learning 1/16", weigh(Weights { learning: 1.0 / 16.0, ..weights })),
        ("learning 1/256", weigh(Weights { learning: 1.0 / 256.0, ..weights })),
        ("all pages count as 1/2", weigh(Weights { all_pages: 0.5, ..weights })),
        ("all pages count as 8", weigh(Weights { all_pages: 8.0, ..weights })),
        ("only all pages count", weigh(Weights { all_pages: 1e9, ..weights })),
        ("fading 1/2", weigh(Weights { fading: 0.5, ..weights })),
        ("fading 1: never", weigh(Weights { fading: 1.0, ..weights })),
    ]
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut points = Vec::new();
    for (size, size_name, processors, nodes) in INPUTS {
        let loads = Program::ALL.map(|program| Load::Program(program, size));
        let page = PageSize::of(4096).expect("a power of two");
        let mut setting = Setting::published(processors, page);
        (setting.options.nodes, setting.options.processors_per_node) = (nodes, processors / nodes);
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
                    nodes,
                    namc: point.outcome.namc,
                    best_fixed,
                });
            }
        }
    }
    println!("{}", serde_json::to_string_pretty(&points)?);
    Ok(())
}
