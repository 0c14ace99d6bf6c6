//! The balanced policy with its constants changed: what they were chosen with. The table has a row for each set of constants,
//! and by how much NAMC is above that of each program's best fixed delay.

use kilocore_command_line::Failure;
use kilocore_lab::numa::{DELAYS, Load, jobs, sweep};
use kilocore_lab::numa_programs::{Program, Size};
use kilocore_placement::Setting;
use kilocore_placement::{BalancedOptions, PageSize, Rule, Weights};
use kilocore_points::PointSource;
use kilocore_show::{Table, number};

use super::Named;

/// The inputs: sizes, processors and nodes.
const INPUTS: [(Size, u32, u32); 7] = [
    (Size::Published, 32, 32),
    (Size::Published, 32, 16),
    (Size::Published, 32, 8),
    (Size::Published, 32, 4),
    (Size::Small, 32, 32),
    (Size::Small, 16, 16),
    (Size::Small, 8, 8),
];

/// A program of some size under one set of constants.
struct Point {
    constants: &'static str,
    size: Size,
    nodes: u32,
    /// NAMC over that of the fixed delay that is best for this program.
    over_best_fixed: f64,
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

pub(super) fn varied(source: &PointSource) -> Result<Named, Failure> {
    // All are asked for before any is needed, so that other processes can be given them all at once.
    let asked: Vec<_> = INPUTS
        .into_iter()
        .map(|(size, processors, nodes)| {
            let loads = Program::ALL.map(|program| Load::Program(program, size));
            let page = PageSize::of(4096).expect("a power of two");
            let mut setting = Setting::published(processors, page);
            let options = &mut setting.options;
            (options.nodes, options.processors_per_node) = (nodes, processors / nodes);
            let fixed = sweep(source, &jobs(&setting, &loads, &[Rule::Fixed], &DELAYS), &|| {});
            let balanced = variants().into_iter().map(|(constants, options)| {
                let mut setting = setting.clone();
                setting.policies.balanced = options;
                let jobs = jobs(&setting, &loads, &[Rule::Balanced], &[]);
                (constants, sweep(source, &jobs, &|| {}))
            });
            (size, nodes, fixed, balanced.collect::<Vec<_>>())
        })
        .collect();
    let mut points = Vec::new();
    for (size, nodes, fixed, balanced) in asked {
        let fixed = fixed?;
        for (constants, swept) in balanced {
            for point in swept? {
                let same = fixed.iter().filter(|fixed| fixed.program == point.program);
                let best_fixed = same.map(|fixed| fixed.outcome.namc).fold(f64::INFINITY, f64::min);
                points.push(Point {
                    constants,
                    size,
                    nodes,
                    over_best_fixed: point.outcome.namc / best_fixed,
                });
            }
        }
    }
    Ok(("constants", table(&points)))
}

/// Of published size on 32 nodes each program; of fewer nodes and of small sizes the worst and the mean.
fn table(points: &[Point]) -> Table {
    let row = |(constants, _): (&'static str, BalancedOptions)| {
        let own = || points.iter().filter(move |point| point.constants == constants);
        let of = |group: &dyn Fn(&Point) -> bool| -> Vec<f64> {
            own().filter(|point| group(point)).map(|point| point.over_best_fixed).collect()
        };
        let worst_and_mean = |group: Vec<f64>| {
            let worst = group.iter().copied().fold(f64::NAN, f64::max);
            let mean = group.iter().sum::<f64>() / group.len() as f64;
            format!("{}, {}", number::change(worst), number::change(mean))
        };
        let published = of(&|point| point.size == Size::Published && point.nodes == 32);
        let groups = [
            of(&|point| point.size == Size::Published && point.nodes < 32),
            of(&|point| point.size == Size::Small),
        ];
        let cells = published.into_iter().map(number::change).chain(groups.map(worst_and_mean));
        (constants.to_owned(), cells.collect())
    };
    let programs = Program::ALL.map(|program| program.name());
    Table {
        front: "constants",
        headings: programs.into_iter().chain(["fewer nodes", "small sizes"]).collect(),
        rows: variants().into_iter().map(row).collect(),
        ..Table::default()
    }
}
