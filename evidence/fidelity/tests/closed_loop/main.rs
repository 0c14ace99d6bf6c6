//! The closed loop: programs whose parameters are known are measured here and forecast from their
//! profiles; beside each stands the simulation of its true parameters. What differs is lost between
//! measuring and translating.
//!
//! With `KILOCORE_CLOSED_LOOP` set to a file, the page is written there: `make closed-loop`.

#[path = "../page_file.rs"]
mod page_file;
#[path = "../planted.rs"]
mod planted;

mod case;
mod compared;
mod feature;
mod page;
mod queue;

use std::path::Path;
use std::process::Command;

use kilocore_figures::median;
use kilocore_forecast::{Profiled, from_profile};
use kilocore_lock_profile::Profile;
use kilocore_machine::Description;

use case::Case;
use compared::Compared;
use feature::Feature;
use planted::{Bench, before_others, first, this_host};
use queue::Queue;

/// Threads of a measured program, each with a core, unless it is one with more threads than cores.
const THREADS: u32 = 2;
/// Sections of all threads together. All runs take less than a second, even on one core: real-time
/// programs lose their cores to others after that.
const SECTIONS: u32 = 32_000;
/// Mean thinking, in nanoseconds.
const THINK_NS: f64 = 20_000.0;
/// The median error that is allowed, of the programs with one mutex and of those with a feature.
const ALLOWED: f64 = 0.1;

/// A program with what was found.
struct Row<P> {
    program: P,
    profiled: Profiled,
    compared: Compared,
}

impl<P> Row<P> {
    fn new(
        program: P,
        profile: &Profile,
        truth: impl Fn(&P) -> kilocore_forecast::Workload,
        machine: &Description,
    ) -> Self {
        let profiled = from_profile(profile).expect("it takes locks");
        let compared = Compared::new(&truth(&program), &profiled.workload, machine);
        Self { program, profiled, compared }
    }
}

/// The same as [`first`] for a program whose threads have to take turns on their cores.
fn in_turns(program: &Path) -> Command {
    before_others("-r", program)
}

fn of_cases(machine: &Description, host: &mut String) -> Vec<Row<Case>> {
    let bench = Bench::new("closed_loop/program.c");
    let row = |case: Case| {
        let profile = bench.measure(first, &case.arguments());
        *host = format!("{} cores of {}", profile.host.cores, profile.host.processor);
        let ghz = profile.host.clock_ghz;
        Row::new(case, &profile, |case| case.truth(ghz), machine)
    };
    Case::all().into_iter().map(row).collect()
}

fn of_features(bench: &Bench, machine: &Description) -> Vec<Row<Feature>> {
    let row = |feature: Feature| {
        let how = if feature.takes_turns() { in_turns } else { first };
        let profile = bench.measure(how, &feature.arguments());
        let ghz = profile.host.clock_ghz;
        Row::new(feature, &profile, |feature| feature.truth(ghz), machine)
    };
    Feature::all().into_iter().map(row).collect()
}

#[test]
#[ignore = "measures for minutes, with the release build; run by make soak and make closed-loop"]
fn forecasts_from_profiles_are_near_those_from_true_parameters() {
    let machine = kilocore_machine::find("opteron-6344-4s").expect("it is built in");
    let folder = tempfile::tempdir().expect("there is room");
    let here = this_host(folder.path());
    let bench = Bench::new("closed_loop/features.c");
    let features = of_features(&bench, &machine);
    println!("{}", page::features(&features));
    let queues: Vec<Queue> =
        Feature::queues().into_iter().map(|queue| Queue::timed(queue, &bench, &here)).collect();
    println!("{}", page::queues(&queues));
    let mut host = String::new();
    let cases = of_cases(&machine, &mut host);
    let page = page::page(&cases, &features, &queues, &machine, &host);
    println!("{page}");
    if let Some(file) = std::env::var_os("KILOCORE_CLOSED_LOOP") {
        page_file::write(file.as_ref(), &page);
    }
    let errors = |all: &mut dyn Iterator<Item = &Compared>| {
        median(all.flat_map(Compared::errors)).expect("points are compared")
    };
    let of_cases = errors(&mut cases.iter().map(|row| &row.compared));
    let of_features = errors(&mut features.iter().map(|row| &row.compared));
    for (which, error) in [("one mutex", of_cases), ("features", of_features)] {
        assert!(error <= ALLOWED, "{which}: the median error is {:.1} %", error * 100.0);
    }
}
