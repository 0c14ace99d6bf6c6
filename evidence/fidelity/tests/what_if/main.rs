//! What is said of changed programs, beside the programs changed: a planted program whose parameters are
//! known is profiled as it is. What the forecast says of its changes is held against the simulation of the
//! true parameters, and against the program really changed and timed here.
//!
//! With `KILOCORE_WHAT_IF` set to a file, the page is written there: `make what-if`.

#[path = "../page_file.rs"]
mod page_file;
#[path = "../planted.rs"]
mod planted;

mod clock;
mod page;
mod program;

use kilocore_figures::median;
use kilocore_forecast::{
    Change, Extent, ForecastGain, Profiled, Question, RunSize, TODAY, Verdict, WhatIf, Workload,
    forecast_profiled, from_profile, simulate, what_if,
};
use kilocore_lock_profile::Profile;
use kilocore_machine::Description;
use kilocore_points::PointSource;

use clock::{Clock, Timed};
use planted::{Bench, first, this_host};
use program::{Planted, programs};

/// The changes that are tried.
const CHANGES: [Change; 9] = [
    Change::HalfAsLong,
    Change::HalfBefore,
    Change::Split(2),
    Change::Split(8),
    Change::Split(64),
    Change::ReadersShare,
    Change::PerThread,
    Change::HalfTheBarriers,
    Change::HalfTheSerialPart,
];
/// Numbers of cores of the forecast. What is said of changes is said of the last.
const CORES: [u32; 6] = [1, 2, 6, 12, 24, 48];
/// Numbers of cores of the forecast for this host.
const CORES_HERE: [u32; 2] = [1, 2];
/// The error that is allowed: as a share of the true gain, at the median.
const ALLOWED: f64 = 0.15;

/// A change of a program, with what is said and what is true.
struct Row {
    change: Change,
    /// By the simulation of the true parameters on the most cores.
    true_gain: f64,
    /// By the forecast from the profile; none where the forecast does not speak of the change.
    said: Option<ForecastGain>,
    /// By the simulation of the true parameters on as many cores as are here.
    true_here: f64,
    /// By the forecast for as many cores as are here.
    said_here: Option<ForecastGain>,
    /// By the clock, or none if too many rounds were disturbed.
    timed: Option<Timed>,
}

/// A program with all that was found.
struct Studied {
    program: Planted,
    /// The serial part that the forecast finds, as a share of all computing.
    serial_found: f64,
    /// Lines of data that it finds to move with the lock.
    lines_found: f64,
    /// The forecast's verdict on the program as it is.
    verdict: Verdict,
    /// Whether the doctor would show a table of changes.
    shown: bool,
    rows: Vec<Row>,
}

fn question<'a>(machine: &'a Description, cores: &[u32]) -> Question<'a> {
    Question {
        machine,
        cores: cores.to_vec(),
        locks: Vec::new(),
        rw_locks: Vec::new(),
        size: RunSize::default(),
        extent: Extent::Needed,
        source: PointSource::unkept(),
    }
}

/// What the forecast says of all changes of a profiled program.
fn said(profile: &Profile, question: &Question<'_>) -> Vec<WhatIf> {
    what_if(profiled(profile), profile, question, &|| {}).expect("the machine has the cores")
}

fn profiled(profile: &Profile) -> Profiled {
    from_profile(profile).expect("it takes locks")
}

/// What is said of a change of a lock, or of a part of the program that is no lock.
fn of(said: &[WhatIf], change: Change, lock: usize) -> Option<ForecastGain> {
    let of_it = |row: &&WhatIf| row.change == change && row.lock.is_none_or(|of| of == lock);
    said.iter().find(of_it).map(|row| row.gain)
}

/// Which lock of a profile is the one that the program changes: its hold is the most similar.
fn changed_lock(program: &Planted, found: &Profiled) -> usize {
    let off = |lock: usize| {
        let hold = found.locks[lock].exclusive_hold.0.max(1.0);
        (hold / program.changed_hold_ns()).ln().abs()
    };
    let locks = 0..found.locks.len();
    locks.min_by(|&a, &b| off(a).total_cmp(&off(b))).expect("it takes locks")
}

/// Throughput by the true parameters.
fn rate(workload: &Workload, machine: &Description, cores: u32) -> f64 {
    let point = simulate(workload, TODAY, machine, cores, RunSize::default());
    point.expect("the machine has the cores").throughput_per_s
}

fn study(program: Planted, bench: &Bench, machine: &Description, here: &Description) -> Studied {
    let profile = bench.measure(first, &program.arguments());
    let there = question(machine, &CORES);
    let found = profiled(&profile);
    let lines_found = found.workload.sections.iter().map(|(share, s)| share * s.lines).sum();
    let lock = changed_lock(&program, &found);
    let serial_found = found.conduct.time.serial_share();
    let forecast =
        forecast_profiled(found, &profile, &there, &|| {}).expect("the machine has the cores");
    let (of_most, of_here) = (said(&profile, &there), said(&profile, &question(here, &CORES_HERE)));
    let changed: Vec<(Change, Planted)> =
        CHANGES.into_iter().filter_map(|c| Some((c, program.after(c)?))).collect();
    let programs: Vec<Planted> = changed.iter().map(|(_, changed)| *changed).collect();
    let timed = Clock::new(bench).gains(program, &programs);
    let ghz = profile.host.clock_ghz;
    let gain = |changed: &Planted, machine, cores: &[u32]| {
        let most = cores[cores.len() - 1];
        rate(&changed.truth(ghz), machine, most) / rate(&program.truth(ghz), machine, most)
    };
    let rows = changed.iter().zip(timed).map(|((change, changed), timed)| Row {
        change: *change,
        true_gain: gain(changed, machine, &CORES),
        said: of(&of_most, *change, lock),
        true_here: gain(changed, here, &CORES_HERE),
        said_here: of(&of_here, *change, lock),
        timed,
    });
    let studied = Studied {
        program,
        serial_found,
        lines_found,
        verdict: forecast.recommendation.verdict,
        shown: !forecast.what_if.is_empty(),
        rows: rows.collect(),
    };
    println!("{}", page::rows(std::slice::from_ref(&studied)));
    studied
}

#[test]
#[ignore = "measures for minutes, with the release build; run by make soak and make what-if"]
fn what_is_said_of_changes_is_near_what_they_bring() {
    let machine = kilocore_machine::find("opteron-6344-4s").expect("it is built in");
    let folder = tempfile::tempdir().expect("there is room");
    let here = this_host(folder.path());
    let bench = Bench::new("what_if/program.c");
    let studied: Vec<Studied> =
        programs().map(|program| study(program, &bench, &machine, &here)).into();
    let host = format!("{} hardware threads: {}", here.hardware_threads(), here.title);
    let page = page::page(&studied, &machine, &host);
    println!("{page}");
    if let Some(file) = std::env::var_os("KILOCORE_WHAT_IF") {
        page_file::write(file.as_ref(), &page);
    }
    let error = median(page::errors(&studied)).expect("changes are compared");
    assert!(error <= ALLOWED, "the median error is {:.1} %", error * 100.0);
}
