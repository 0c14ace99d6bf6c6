//! What the paper on cache-hot pages says, as far as it holds on the simulated machine.

use std::path::Path;

use kilocore_machine::Description;
use kilocore_page_trace::Trace;
use kilocore_page_trace::simulated::{
    Job, Load, Pattern, Point, Policy, RunLength, Setting, simulate, sweep,
};
use kilocore_points::PointSource;

// As in `kilocore`: simulated memory lies the same way every time.
#[global_allocator]
static HEAP: kilocore_sim::SimHeap = kilocore_sim::SimHeap;

fn machine(name: &str) -> Description {
    kilocore_machine::find(name).expect("the machine is built in")
}

/// A point for each policy.
fn points(load: Load<'_>, machine: &Description, cores: u32, policies: &[Policy]) -> Vec<Point> {
    let setting = Setting::of(machine);
    let job = |&policy: &Policy| Job {
        setting: &setting,
        policy,
        load,
        cores,
        length: RunLength { warm_pages: 700, pages: 500, seed: 1 },
    };
    let jobs: Vec<_> = policies.iter().map(job).collect();
    sweep(PointSource::unkept(), &jobs, machine, &|| {})
        .expect("the machine has the hardware threads")
}

fn path_cycles(point: &Point) -> f64 {
    point.allocation_cycles + point.release_cycles
}

#[test]
fn a_browsers_pages_are_initialized_faster_as_published() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/page-traces");
    let trace = Trace::read(&data.join("browser.pages")).expect("the trace is checked in");
    let policies = [Policy::Linux4_18, Policy::Paper, Policy::Tiered];
    let found = points(Load::Trace(&trace), &machine("core-i7-6700"), 8, &policies);
    let [baseline, paper, tiered] = &found[..] else { panic!("three points") };
    // Published, of initialization as a whole: at most 1,400 cycles of a page fault.
    assert!(baseline.initialization.mean < 1_400.0, "{baseline:?}");
    let gain = |point: &Point| 1.0 - point.initialization.mean / baseline.initialization.mean;
    // Published: 7 %.
    assert!((0.05..0.10).contains(&gain(paper)), "{paper:?}");
    assert!(gain(tiered) >= 0.07, "{tiered:?}");
    // They find more in the shared cache, and not in the private ones.
    assert!(tiered.found.shared > baseline.found.shared + 0.05, "{tiered:?}");
    assert!((tiered.found.private - baseline.found.private).abs() < 0.02, "{tiered:?}");
    // Published: 1 % more time to allocate and release.
    assert!(path_cycles(tiered) <= 1.01 * path_cycles(baseline), "{tiered:?}");
}

#[test]
fn the_shared_tier_scales_to_the_cores_of_one_cache() {
    let xeon = machine("xeon-gold-6338-1s");
    let cost = |policy, cores| {
        path_cycles(&points(Load::Pattern(Pattern::Pass), &xeon, cores, &[policy])[0])
    };
    let [few, many] = [2, 64].map(|cores| cost(Policy::Tiered, cores));
    // Two hardware threads share each core, and with that its pipeline.
    assert!(many < 1.6 * few, "{few} cycles with 2 threads, {many} with 64");
    assert!(cost(Policy::Paper, 64) > 5.0 * cost(Policy::Tiered, 64), "one list does not");
}

#[test]
fn a_core_that_only_allocates_gets_warm_pages_from_the_shared_tier() {
    let xeon = machine("xeon-gold-6338-1s");
    let policies = [Policy::Linux6_12, Policy::Tiered];
    let found = points(Load::Pattern(Pattern::Pass), &xeon, 8, &policies);
    let [linux, tiered] = &found[..] else { panic!("two points") };
    assert!(tiered.found.memory < 0.1 && linux.found.memory > 0.5, "{found:?}");
    assert!(tiered.initialization.mean < 0.8 * linux.initialization.mean, "{found:?}");
}

#[test]
fn a_machine_without_the_cores_is_an_error() {
    let desktop = machine("core-i7-6700");
    let setting = Setting::of(&desktop);
    let job = Job {
        setting: &setting,
        policy: Policy::Tiered,
        load: Load::Pattern(Pattern::Own),
        cores: 9,
        length: RunLength::default(),
    };
    let error = simulate(&job, &desktop).expect_err("it has eight hardware threads");
    assert!(error.to_string().contains('8'), "{error}");
}
