//! The comparison of two recorders, on made-up profiles.

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{
    Caller, Family, Frame, Histogram, Host, Interval, Lock, Precision, Process, Profile, Run,
    Threads,
};
use kilocore_watched::{CallSites, ComparedSite, Comparison, Count, Forecast, Round, tables};

fn frame(function: &str) -> Frame {
    Frame { function: function.to_owned(), module: "/bin/p".to_owned(), offset: 1, line: None }
}

fn times(count: u64, mean: f64) -> Histogram {
    Histogram { count, sum: Nanoseconds(count as f64 * mean), buckets: vec![(mean, count)] }
}

/// A lock that is taken so often, by functions from the innermost outwards, and held so long.
fn lock(by: &[&str], acquisitions: u64, hold: f64) -> Lock {
    let site: Vec<Frame> = by.iter().map(|function| frame(function)).collect();
    let hold = times(acquisitions, hold);
    let callers = vec![Caller { site, acquisitions, ..Caller::default() }];
    Lock { instances: 1, acquisitions, hold, callers, ..Lock::default() }
}

/// The same as seen from outside, with the interval a tenth to either side.
fn watched(by: &[&str], acquisitions: u64, hold: f64) -> Lock {
    let around = |value: f64| Some(Interval { low: 0.9 * value, high: 1.1 * value });
    let precision = Precision {
        acquisitions: around(acquisitions as f64),
        hold: around(hold).map(|hold| hold.map(Nanoseconds)),
        ..Precision::default()
    };
    Lock { precision: Some(precision), ..lock(by, acquisitions, hold) }
}

/// Waits only are known.
fn waited(by: &[&str]) -> Lock {
    Lock { precision: Some(Precision::default()), ..lock(by, 3, 0.0) }
}

/// A profile whose threads compute so long between all sections.
fn profile(locks: Vec<Lock>, think_ns: f64) -> Profile {
    let threads = Threads { think: times(1, think_ns), ..Threads::default() };
    let process = Process { threads, locks, ..Process::default() };
    let host = Host {
        processor: String::new(),
        cores: 2,
        clock_ghz: 1.0,
        core_to_core: None,
        kernel: String::new(),
        offline: None,
        hardware_threads: Vec::new(),
    };
    Profile {
        format: "kilocore-profile".to_owned(),
        version: 1,
        command: Vec::new(),
        host,
        runs: vec![Run { processes: vec![process], ..Run::default() }],
        trace: None,
        scaling: None,
    }
}

/// A forecast with a throughput of 100 on one core, and so much on eight.
fn forecast(eight: [f64; 3], verdict: &str, lock: &str) -> Forecast {
    let [middle, low, high] = eight;
    let text = format!(
        r#"{{"curves": [{{"lock": "mcs", "points": [
            {{"cores": 1, "throughput_per_s": 100, "low": 90, "high": 110}},
            {{"cores": 8, "throughput_per_s": {middle}, "low": {low}, "high": {high}}}]}}],
            "recommendation": {{"verdict": "{verdict}", "lock": "{lock}", "text": []}}}}"#
    );
    Forecast::read(&text).expect("it is one")
}

fn round(preload: Vec<Lock>, watch: Vec<Lock>) -> Round {
    let said = || forecast([400.0, 300.0, 500.0], "scales", "mcs");
    Round {
        preload: (profile(preload, 1_000_000.0), said()),
        watch: (profile(watch, 1_000_000.0), said()),
    }
}

#[test]
fn locks_are_matched_by_where_they_are_taken() {
    const WRAPPED: [&str; 3] = ["Mutex::lock()", "get(int)", "main"];
    let preload = profile(
        vec![
            lock(&WRAPPED, 100, 10.0),
            lock(&["Mutex::lock()", "put(int)", "main"], 200, 10.0),
            Lock { family: Family::ReadWrite, ..lock(&WRAPPED, 300, 10.0) },
        ],
        0.0,
    );
    let sites = CallSites::of(&preload);
    // The wrapper is missing, as stacks that are read from outside may lack it.
    let seen = profile(
        vec![
            watched(&["put(int)", "main"], 20, 1.0),
            watched(&["get(int)", "main"], 7, 1.0),
            watched(&["get(int)", "main"], 3, 1.0),
            waited(&["get(int)", "main"]),
            watched(&["elsewhere"], 1_000, 1.0),
        ],
        0.0,
    );
    let taken: Vec<(String, f64, u64, u64)> = sites
        .taken(&seen)
        .into_iter()
        .map(|(at, taken)| {
            (sites.name(at).to_owned(), taken.acquisitions, taken.known, taken.locks)
        })
        .collect();
    assert_eq!(taken, [("get".to_owned(), 10.0, 2, 3), ("put".to_owned(), 20.0, 1, 1)]);
    let own = sites.taken(&preload);
    assert_eq!(own.values().map(|taken| taken.acquisitions).sum::<f64>(), 600.0);
    assert_eq!(own.len(), 3, "a read-write lock is another one");
}

#[test]
fn figures_are_compared_as_ratios_beside_the_programs_own_noise() {
    let by = ["take()", "main"];
    let rounds = [
        round(vec![lock(&by, 1_000, 500.0)], vec![watched(&by, 1_050, 400.0)]),
        round(vec![lock(&by, 2_000, 500.0)], vec![watched(&by, 1_000, 500.0)]),
        round(vec![lock(&by, 1_000, 500.0)], vec![waited(&by)]),
    ];
    let comparison = Comparison::of(&rounds);
    let [site] = comparison.sites.as_slice() else { panic!("{comparison:?}") };
    assert_eq!((site.name.as_str(), site.locks, site.known), ("take", 1, 1.0));
    assert_eq!(site.seen, Count { so: 3, of: 3 });
    assert_eq!(site.acquisitions.ratios, [1.05, 0.5]);
    assert_eq!(site.acquisitions.noise, [2.0, 0.5]);
    assert_eq!(site.acquisitions.inside, Count { so: 1, of: 2 });
    assert_eq!(site.hold.ratios, [0.8, 1.0]);
    assert_eq!(site.hold.inside, Count { so: 1, of: 2 });
    // A million nanoseconds, divided among the acquisitions.
    assert_eq!(site.think.preload, [1_000.0, 500.0, 1_000.0]);
    assert_eq!(site.think.ratios[1], 2.0);
    // Held for half a million, a million and half a million beside a million each.
    assert!((site.share - (1.0 / 3.0 + 1.0 / 2.0 + 1.0 / 3.0) / 3.0).abs() < 1e-9);
}

#[test]
fn what_hardly_costs_anything_is_left_out() {
    let rounds = [round(vec![lock(&["rare()"], 1, 500.0)], Vec::new())];
    assert_eq!(Comparison::of(&rounds).sites, []);
}

#[test]
fn a_median_is_near_within_15_percent() {
    let near = |ratio: f64| {
        let mut site = ComparedSite::default();
        site.hold.ratios = vec![0.1, ratio, 9.0];
        site.hold.is_near()
    };
    assert!(near(0.86) && near(1.14) && !near(0.84) && !near(1.16));
    assert!(!ComparedSite::default().hold.is_near(), "what was not seen is not near");
}

#[test]
fn what_is_missed_is_said_and_why() {
    let by = ["take()", "main"];
    let rounds = [round(
        vec![lock(&by, 1_000, 500.0), lock(&by, 1_000, 500.0), lock(&["other()"], 900, 500.0)],
        vec![watched(&by, 1_000, 500.0)],
    )];
    let text = tables(&[("program", Comparison::of(&rounds))]);
    assert!(text.contains("program, `take`: missed acquisitions, think."), "{text}");
    assert!(text.contains("Of 2 locks there, watching knows how often 1 are taken"), "{text}");
    assert!(text.contains("`other`: In no run did a thread wait for it"), "{text}");
}

#[test]
fn forecasts_are_compared_as_speedups_with_their_bands() {
    let preload = forecast([400.0, 300.0, 500.0], "scales", "mcs");
    let apart = forecast([200.0, 150.0, 290.0], "scales", "mcs");
    let overlapping = forecast([200.0, 150.0, 310.0], "scales", "cna");
    let inside = forecast([310.0, 150.0, 320.0], "flattens", "mcs");
    let compared = |other: &Forecast| (preload.overlaps(other), preload.holds(other));
    assert_eq!(compared(&apart), (Some(false), Some(false)));
    assert_eq!(compared(&overlapping), (Some(true), Some(false)));
    assert_eq!(compared(&inside), (Some(true), Some(true)));
    assert_eq!(compared(&Forecast::without_locks()), (None, None));
    assert_eq!(overlapping.advice(), "scales: cna");
    // Twice the throughput everywhere is the same speedup.
    let twice = r#"{"curves": [{"lock": "mcs", "points": [
        {"cores": 1, "throughput_per_s": 200, "low": 180, "high": 220},
        {"cores": 8, "throughput_per_s": 800, "low": 790, "high": 810}]}],
        "recommendation": {"verdict": "scales"}}"#;
    assert_eq!(compared(&Forecast::read(twice).unwrap()), (Some(true), Some(true)));
}
