//! Parts of programs' runs.

use std::path::Path;

use kilocore_emulation::{EmulateError, Point};
use kilocore_emulation_orders::{Report, Seen, Window};

use crate::support::{on, program, try_part};

fn part(warm: &str, from: &str, until: &str) -> Window {
    let place = |text: &str| (!text.is_empty()).then(|| text.parse().expect(text));
    Window { warm: place(warm), from: place(from), until: place(until) }
}

#[track_caller]
fn of(window: Window, cores: u32, program: &Path, arguments: &[&str]) -> Point {
    let (point, text) = try_part(window, cores, program, arguments).expect("it is emulated");
    assert!(point.status.success(), "{arguments:?} on {cores}: {} {text}", point.status);
    point
}

fn seen(report: &Report) -> Seen {
    report.seen.expect("a part was asked for")
}

#[track_caller]
fn near(what: &str, one: f64, other: f64, by: f64) {
    assert!((one / other - 1.0).abs() <= by, "{what}: {one} {other}");
}

/// What `parts.c` touches before it solves, in pages: what it builds, and the words.
const BUILT: &str = "200000";
const PAGES: u64 = 200_000 * 8 / 4096 + 64 * 8;

#[test]
fn a_part_takes_as_long_as_a_program_that_does_only_that() {
    for options in [&[][..], &["-no-pie"], &["-static"]] {
        let parts = program("parts", options);
        for threads in ["0", "4"] {
            let only = of(part("start", "solve", "finish"), 4, &parts, &["0", threads, "1"]);
            let of_long = of(part("prepare", "solve", "finish"), 4, &parts, &[BUILT, threads, "1"]);
            let cold = of(part("", "solve", "finish"), 4, &parts, &[BUILT, threads, "1"]);
            let all = on(4, &parts, &[BUILT, threads, "1"]).0;
            let counts = |point: &Point| point.report.counts;
            let instructions = |point: &Point| counts(point).instructions as f64;
            let what = format!("{options:?} {threads}");
            // Where QEMU begins a block depends on what was executed before.
            near(&what, instructions(&of_long), instructions(&only), 0.002);
            near(&what, instructions(&cold), instructions(&only), 0.002);
            assert!(instructions(&all) > 1.2 * instructions(&only), "{what}");
            near(&what, of_long.report.end_ns, only.report.end_ns, 0.02);
            near(&what, cold.report.end_ns, only.report.end_ns, 0.05);
            // What was built before the part lies somewhere already.
            assert!(counts(&all).page_faults > PAGES, "{what}");
            for point in [&only, &of_long, &cold] {
                assert!(counts(point).page_faults < 40, "{what}: {:?}", counts(point));
                assert!(counts(point).misses > 500, "{what}: {:?}", counts(point));
            }
            let [warm, cold] = [&of_long, &cold].map(|point| seen(&point.report));
            assert!(warm.detailed_ns < warm.from_ns, "{warm:?}");
            assert!(cold.detailed_ns > Some(0.0) && cold.detailed_ns == cold.from_ns, "{cold:?}");
        }
    }
}

#[test]
fn nothing_before_a_part_is_in_any_figure() {
    let parts = program("parts", &[]);
    let point = of(part("", "solve", "finish"), 4, &parts, &[BUILT, "4", "1"]);
    let report = &point.report;
    let functions: Vec<&str> =
        point.causes.functions.iter().map(|one| one.function.as_str()).collect();
    assert!(functions.contains(&"work"), "{functions:?}");
    assert!(!functions.contains(&"build") && !functions.contains(&"prepare"), "{functions:?}");
    // The first thread has only made others, which takes some time in the kernel.
    let [first, others @ ..] = &report.threads[..] else { panic!("it has threads") };
    assert_eq!(others.len(), 4);
    assert!(first.working_ns < 0.02 * others[0].working_ns, "{first:?} {others:?}");
    for times in &report.threads {
        let all = times.working_ns + times.stalled_ns + times.spinning_ns + times.system_ns;
        assert!(all <= report.end_ns * 1.001, "{times:?} of {}", report.end_ns);
    }
    let parallel = report.parallel.expect("it has threads");
    assert!(parallel.start_ns >= 0.0 && parallel.end_ns <= report.end_ns, "{parallel:?}");
    assert!(report.counts.system_calls < 100, "{:?}", report.counts);
}

#[test]
fn the_nth_call_of_a_function_is_a_place() {
    let parts = program("parts", &[]);
    for threads in ["0", "3"] {
        let instructions = |from: &str, until: &str| {
            let point = of(part("", from, until), 4, &parts, &["1000", threads, "4"]);
            point.report.counts.instructions as f64
        };
        let first = instructions("solve", "solve");
        near("the second", instructions("solve@2", "solve"), 2.0 * first, 0.01);
        near("the third", instructions("solve@3", "solve@4"), 3.0 * first, 0.01);
        near("all", instructions("solve", "finish"), 10.0 * first, 0.01);
        near("the last", instructions("solve@4", ""), 4.0 * first, 0.05);
    }
}

#[test]
fn a_function_of_a_library_that_is_loaded_later_is_a_place() {
    let library = program("elsewhere", &["-shared", "-fPIC"]);
    let folder = tempfile::tempdir().expect("there is room");
    let versioned = folder.path().join("libelsewhere.so.1.2");
    std::fs::copy(library, &versioned).expect("there is room");
    let versioned = versioned.to_str().expect("text");
    let loads = program("loads", &[]);
    let instructions = |from: &str, until: &str| {
        let point = of(part("", from, until), 2, &loads, &[versioned]);
        point.report.counts.instructions as f64
    };
    let place = |rest: &str| format!("libelsewhere.so:solve_elsewhere{rest}");
    let first = instructions(&place(""), &place("@2"));
    assert!((200_000.0..500_000.0).contains(&first), "{first}");
    near("the second", instructions(&place("@2"), &place("@3")), 2.0 * first, 0.01);
    let by_path = format!("{versioned}:solve_elsewhere@2");
    near("by its path", instructions(&by_path, &place("@3")), 2.0 * first, 0.01);
    let refused = |from: &str| {
        try_part(part("", from, ""), 2, &loads, &[versioned]).expect_err(from).to_string()
    };
    let error = refused("libelsewhere.so:solve_elsewhen");
    assert!(error.contains("did you mean solve_elsewhere?"), "{error}");
    let error = refused("libnowhere.so:solve");
    assert!(error.contains("no file of that name"), "{error}");
}

#[test]
fn what_is_between_the_first_thread_and_the_last_one_is_a_part() {
    let parts = program("parts", &[]);
    let arguments = ["1000", "4", "1"];
    let whole = on(4, &parts, &arguments).0.report.parallel.expect("it has threads");
    let point = of(part("start", "threads", "threads"), 4, &parts, &arguments);
    let parallel = point.report.parallel.expect("it has threads");
    near("of the whole", point.report.end_ns, whole.ns(), 0.03);
    near("of the part", parallel.end_ns, point.report.end_ns, 1e-9);
    let error = try_part(part("", "threads", ""), 4, &parts, &["1000", "0", "1"]);
    let error = error.expect_err("it has no threads").to_string();
    assert!(error.contains("made no threads"), "{error}");
}

#[test]
fn a_signal_that_the_program_sends_itself_is_a_place() {
    let parts = program("parts", &[]);
    let instructions = |from: &str, until: &str| {
        let point = of(part("", from, until), 4, &parts, &["1000", "2", "3"]);
        point.report.counts.instructions as f64
    };
    near("calls", instructions("SIGUSR1@2", "SIGUSR1"), instructions("solve@2", "solve"), 0.01);
    let error = try_part(part("", "SIGUSR1@4", ""), 4, &parts, &["0", "0", "3"]);
    let error = error.expect_err("three are sent").to_string();
    assert!(error.contains("--from SIGUSR1@4") && error.contains("3 times"), "{error}");
}

#[test]
fn simulated_times_are_places() {
    let parts = program("parts", &[]);
    for (threads, from, until) in [("0", "", "2ms"), ("0", "1ms", "2ms"), ("3", "2ms", "3ms")] {
        let point = of(part("", from, until), 4, &parts, &[BUILT, threads, "3"]);
        let expected = if from.is_empty() { 2e6 } else { 1e6 };
        near(from, point.report.end_ns, expected, 0.02);
    }
    let error = try_part(part("", "1000s", ""), 4, &parts, &["0", "0", "1"]);
    let error = error.expect_err("it ends before").to_string();
    assert!(error.contains("--from 1000s") && error.contains("ended before"), "{error}");
}

#[test]
fn a_place_that_is_never_reached_is_told() {
    let parts = program("parts", &[]);
    let refused = |from: &str, until: &str| {
        try_part(part("", from, until), 2, &parts, &["10", "0", "2"]).expect_err("no such part")
    };
    let error = refused("sovle", "");
    let EmulateError::NoFunction { option: "--from", why, .. } = &error else { panic!("{error}") };
    assert!(why.contains("did you mean solve?"), "{error}");
    assert!(why.contains("into its callers") && why.contains("noinline"), "{error}");
    let error = refused("", "zzz_no_such_thing");
    let EmulateError::NoFunction { option: "--until", .. } = &error else { panic!("{error}") };
    for (from, until, option, place, words) in [
        ("never", "", "--from", "never", "did not call it"),
        ("solve@3", "", "--from", "solve@3", "called it 2 times"),
        ("solve", "build", "--until", "build", "did not call it"),
    ] {
        let error = refused(from, until);
        let EmulateError::NotReached { option: of, place: at, why } = &error else {
            panic!("{error}")
        };
        assert_eq!((*of, at.to_string().as_str()), (option, place), "{error}");
        assert!(why.contains(words), "{from} {until}: {error}");
    }
    let error = refused("finish", "solve@1");
    assert!(matches!(error, EmulateError::Backwards { .. }), "{error}");
    assert!(error.to_string().starts_with("--until solve@1 came before --from finish"), "{error}");
}

#[test]
fn a_part_is_the_same_each_time() {
    let parts = program("parts", &[]);
    for window in [
        part("", "solve", "finish"),
        part("prepare", "solve@2", "solve"),
        part("", "threads", "threads"),
        part("", "1ms", "SIGUSR1@2"),
    ] {
        let once = || of(window.clone(), 4, &parts, &[BUILT, "5", "3"]).report;
        let first = once();
        assert!(first.end_ns > 0.0, "{window:?}");
        for _ in 0..2 {
            assert!(once() == first, "{window:?}");
        }
    }
}
