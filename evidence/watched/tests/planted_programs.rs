//! Each planted program is built and run, and what it tells must be possible.
//!
//! Nothing here depends on how fast the machine is, or on how many others use it: a thread computes
//! until its own clock has moved on by what was asked for.

use std::fs;
use std::path::Path;
use std::time::Duration;

use kilocore_watched::planted::{Built, Language, Program, Reads, Truth};

const THREADS: usize = 2;
const HOLD: Duration = Duration::from_micros(100);
const THINK: Duration = Duration::from_micros(150);
const RUN: Duration = Duration::from_millis(200);
/// For the first program of each language: so long that there is one full second to count.
const LONGER_RUN: Duration = Duration::from_millis(1010);
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

/// The longest that `count` parts of work, of `wanted` each, may take on average. A thread uses more
/// time than it means to: for a look at the clock, for interrupts, and for what an interpreter does
/// besides. A few interruptions are long, and weigh much where little was done.
fn longest(wanted: Duration, count: u64) -> Duration {
    let interruptions = Duration::from_millis(50).div_f64(count as f64);
    wanted.mul_f64(1.5) + Duration::from_micros(20) + interruptions
}

fn check_hold(name: &str, (hold, hold_wall): (Duration, Duration), count: u64) {
    assert!((HOLD..=longest(HOLD, count)).contains(&hold), "{name}: {count} sections of {hold:?}");
    let passed = hold_wall.mul_f64(CLOCKS) + Duration::from_micros(1);
    assert!(hold <= passed, "{name}: sections run for {hold:?} and take {hold_wall:?}");
}

/// Checks what holds of each second that was counted.
fn check_seconds(name: &str, per_second: &[u64], acquisitions: u64, wall: Duration) {
    assert_eq!(per_second.len() as u64, wall.as_secs(), "{name}: {per_second:?} in {wall:?}");
    let counted: u64 = per_second.iter().sum();
    assert!(counted <= acquisitions, "{name}: {counted} of {acquisitions}");
    assert!(per_second.iter().all(|&count| count > 0), "{name} did nothing: {per_second:?}");
}

fn check(program: &Program, run: Duration, truth: &Truth) {
    let name = program.name();
    assert_eq!(truth.language, program.language().name());
    assert!(truth.threads >= THREADS, "{name}: {} threads", truth.threads);
    assert!(truth.acquisitions > 0, "{name} did nothing");
    assert!(truth.wall >= run, "{name} ended after {:?}", truth.wall);
    check_hold(name, (truth.hold, truth.hold_wall), truth.acquisitions);
    check_seconds(name, &truth.per_second, truth.acquisitions, truth.wall);
    // In Python the length is a guess of how fast hashes will be.
    let least = if program.language() == Language::Python { THINK / 20 } else { THINK / 2 };
    let most = longest(THINK, truth.acquisitions);
    assert!((least..=most).contains(&truth.think), "{name} thinks for {:?}", truth.think);
    let at_once = if sections_overlap(name) { truth.threads as f64 } else { 1.0 };
    let passed = truth.wall.mul_f64(CLOCKS * at_once);
    assert!(truth.held() <= passed, "{name} held for {:?} of {:?}", truth.held(), truth.wall);
    check_counts(name, truth);
}

/// Checks the counts that only some programs have.
fn check_counts(name: &str, truth: &Truth) {
    assert_eq!(truth.reads.is_some(), name.contains("rw"), "{name}: {:?}", truth.reads);
    if let Some(Reads { acquisitions, hold, hold_wall, per_second }) = &truth.reads {
        check_hold(name, (*hold, *hold_wall), *acquisitions);
        check_seconds(name, per_second, *acquisitions, truth.wall);
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

/// Checks that the section can be found by its name in what a compiler made.
fn check_symbol(built: &Built) {
    let language = built.program().language();
    if ![Language::Java, Language::Python].contains(&language) {
        let file = fs::read(&built.words()[0]).expect("it is there");
        let name = b"planted_section";
        let known = file.windows(name.len()).any(|bytes| bytes == name);
        assert!(known, "{} has no planted_section", built.program().name());
    }
}

fn says_where_its_lock_is(program: &Program) -> bool {
    let unknown = [Language::Java, Language::Python].contains(&program.language());
    !unknown && !["openmp-barrier", "c-kernel-lock"].contains(&program.name())
}

/// Runs a program until its time is over, and checks what it tells.
fn run_to_the_end(built: &Built, run: Duration) {
    let program = built.program();
    let running = built.start(THREADS, HOLD, THINK, run).unwrap_or_else(|error| panic!("{error}"));
    let ready = running.ready();
    assert_eq!(ready.lock.is_some(), says_where_its_lock_is(program), "{ready:?}");
    assert_eq!(ready.second.is_some(), program.name() == "c-two-processes", "{ready:?}");
    if let (Some(here), Some((_, there))) = (ready.lock, ready.second) {
        assert_ne!(here, there, "the two processes have the lock at different addresses");
    }
    let truth = running.finish().unwrap_or_else(|error| panic!("{error}"));
    check(program, run, &truth);
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
    for (position, built) in programs(language).iter().enumerate() {
        run_to_the_end(built, if position == 0 { LONGER_RUN } else { RUN });
        end_early(built);
        check_symbol(built);
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
