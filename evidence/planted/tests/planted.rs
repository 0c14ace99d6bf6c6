//! Each planted program is built and run, and what it tells must be possible.
//!
//! Nothing here depends on how fast the machine is, or on how many others use it: a thread computes
//! until its own clock has moved on by what was asked for.

use std::fs;
use std::path::Path;
use std::time::Duration;

use kilocore_planted::{Built, Language, Program, Reads, Truth};

const THREADS: usize = 2;
const HOLD: Duration = Duration::from_micros(100);
const THINK: Duration = Duration::from_micros(150);
/// A bit more than one second, so that there is one full second.
const RUN: Duration = Duration::from_millis(1010);
/// Longer than anybody waits.
const NO_END: Duration = Duration::from_secs(1000);

/// Clocks differ in speed by far less than this.
const CLOCKS: f64 = 1.001;

fn programs(language: Language) -> Vec<Built> {
    let of_language = Program::all().iter().filter(|program| program.language() == language);
    of_language.map(|program| program.build().unwrap_or_else(|error| panic!("{error}"))).collect()
}

/// Whether sections of this program run at the same time.
fn sections_overlap(name: &str) -> bool {
    name == "c-uncontended"
}

fn check_hold(name: &str, hold: Duration, hold_wall: Duration) {
    assert!(hold >= HOLD, "{name}: sections of {hold:?}");
    // Time on the processor that the thread did not mean to use: a look at the clock, interrupts,
    // and what an interpreter does besides.
    let most = HOLD.mul_f64(1.5) + Duration::from_micros(20);
    assert!(hold <= most, "{name}: sections of {hold:?}");
    let passed = hold_wall.mul_f64(CLOCKS) + Duration::from_micros(1);
    assert!(hold <= passed, "{name}: sections run for {hold:?} and take {hold_wall:?}");
}

/// Checks what holds of each second that was counted.
fn check_seconds(name: &str, per_second: &[u64], acquisitions: u64, wall: Duration) {
    assert_eq!(per_second.len() as u64, wall.as_secs(), "{name}: {per_second:?} in {wall:?}");
    let counted: u64 = per_second.iter().sum();
    assert!(counted <= acquisitions, "{name}: {counted} of {acquisitions}");
}

fn check(program: &Program, truth: &Truth) {
    let name = program.name();
    assert_eq!(truth.language, program.language().name());
    assert!(truth.threads >= THREADS, "{name}: {} threads", truth.threads);
    assert!(truth.acquisitions > 0, "{name} did nothing");
    assert!(truth.wall >= RUN, "{name} ended after {:?}", truth.wall);
    check_hold(name, truth.hold, truth.hold_wall);
    check_seconds(name, &truth.per_second, truth.acquisitions, truth.wall);
    assert!(truth.per_second[0] > 0, "{name} did nothing for a second");
    // A short think is hardly longer than a look at the clock; these are from a half to one and a
    // half times what was asked for. In Python their length is a guess of how fast hashes are.
    if program.language() != Language::Python {
        let (least, most) = (THINK / 2, THINK.mul_f64(1.5) + Duration::from_micros(40));
        assert!((least..=most).contains(&truth.think), "{name} thinks for {:?}", truth.think);
    }
    assert!(truth.think > Duration::ZERO, "{name} does not think");
    let at_once = if sections_overlap(name) { truth.threads as f64 } else { 1.0 };
    let passed = truth.wall.mul_f64(CLOCKS * at_once);
    assert!(truth.held() <= passed, "{name} held for {:?} of {:?}", truth.held(), truth.wall);
    check_counts(name, truth);
}

/// Checks the counts that only some programs have.
fn check_counts(name: &str, truth: &Truth) {
    assert_eq!(truth.reads.is_some(), name.contains("rw"), "{name}: {:?}", truth.reads);
    if let Some(Reads { acquisitions, hold, hold_wall, per_second }) = &truth.reads {
        check_hold(name, *hold, *hold_wall);
        check_seconds(name, per_second, *acquisitions, truth.wall);
        assert!(*acquisitions > truth.acquisitions, "{name} writes more than it reads");
    }
    let has_rounds = name.contains("barrier") || name == "c-one-busy";
    assert_eq!(truth.rounds, has_rounds.then_some(truth.acquisitions), "{name}");
    match name {
        // Each item is put in and, unless it is left over, taken out.
        "c-queue" => {
            let items = truth.items.expect("it counts them");
            assert!((items..=2 * items).contains(&truth.acquisitions), "{name}: {truth:?}");
        }
        // All that went through the slow stage comes to the end.
        "c-pipeline" => assert_eq!(truth.items, Some(truth.acquisitions)),
        _ => assert_eq!(truth.items, None, "{name}"),
    }
}

fn says_where_its_lock_is(program: &Program) -> bool {
    let unknown = [Language::Java, Language::Python].contains(&program.language());
    !unknown && program.name() != "openmp-barrier"
}

/// Runs a program until its time is over, and checks what it tells.
fn run_to_the_end(built: &Built) {
    let program = built.program();
    let running = built.start(THREADS, HOLD, THINK, RUN).unwrap_or_else(|error| panic!("{error}"));
    let ready = running.ready();
    assert_eq!(ready.lock.is_some(), says_where_its_lock_is(program), "{ready:?}");
    assert_eq!(ready.second.is_some(), program.name() == "c-two-processes", "{ready:?}");
    if let (Some(here), Some((_, there))) = (ready.lock, ready.second) {
        assert_ne!(here, there, "the two processes have the lock at different addresses");
    }
    let truth = running.finish().unwrap_or_else(|error| panic!("{error}"));
    check(program, &truth);
}

/// Starts a program idle, lets it begin and ends it before its time.
fn end_early(built: &Built) {
    let name = built.program().name();
    let mut running =
        built.start_idle(THREADS, HOLD, THINK, NO_END).unwrap_or_else(|error| panic!("{error}"));
    running.begin().unwrap_or_else(|error| panic!("{error}"));
    running.terminate().unwrap_or_else(|error| panic!("{error}"));
    let truth = running.finish().unwrap_or_else(|error| panic!("{error}"));
    assert!(truth.wall < NO_END, "{name} ran to the end");
}

fn check_all(language: Language) {
    for built in programs(language) {
        run_to_the_end(&built);
        end_early(&built);
    }
}

#[test]
fn programs_in_c_tell_the_truth() {
    check_all(Language::C);
}

#[test]
fn programs_in_cpp_tell_the_truth() {
    check_all(Language::Cpp);
}

#[test]
fn programs_in_go_tell_the_truth() {
    check_all(Language::Go);
}

#[test]
fn programs_in_java_tell_the_truth() {
    check_all(Language::Java);
}

#[test]
fn programs_with_openmp_tell_the_truth() {
    check_all(Language::OpenMp);
}

#[test]
fn programs_in_python_tell_the_truth() {
    check_all(Language::Python);
}

#[test]
fn programs_in_rust_tell_the_truth() {
    check_all(Language::Rust);
}

#[test]
fn an_odd_command_line_is_refused() {
    let mut built = programs(Language::C);
    built.extend(programs(Language::Python));
    for built in built {
        for words in [vec![], vec!["2", "1", "1", "x"], vec!["2", "1", "1", "1", "--idle"]] {
            let start = built.words();
            let output = std::process::Command::new(&start[0])
                .args(&start[1..])
                .args(&words)
                .output()
                .expect("it starts");
            let name = built.program().name();
            assert!(!output.status.success() && output.stdout.is_empty(), "{name} takes {words:?}");
        }
    }
}

#[test]
fn the_tests_packages_have_what_programs_need() {
    let makefile = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Makefile");
    let makefile = fs::read_to_string(makefile).expect("it is there").replace("\\\n", " ");
    let listed = |name: &str| -> Vec<String> {
        let line = makefile.lines().find_map(|line| line.strip_prefix(name)?.split_once(":="));
        line.expect("there is such a list").1.split_whitespace().map(str::to_owned).collect()
    };
    let installed = [listed("BUILD_PACKAGES"), listed("TEST_PACKAGES")].concat();
    for program in Program::all() {
        for package in program.packages() {
            let known = installed.iter().any(|one| one == package);
            assert!(
                known,
                "{} needs {package}, which the Makefile does not install",
                program.name()
            );
        }
    }
}
