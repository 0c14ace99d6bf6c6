//! Runs programs under the library and compares their profiles with what is known about the
//! programs.

use crate::common;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use common::{library, only_process, profile_of};
use kilocore_lock_profile::{Family, Frame, Lock, Profile};
use kilocore_lock_recorder::{Options, measure};

/// Returns the compiled `tests/c/locks.c`.
fn locks() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| common::program("locks"))
}

/// Returns the profile of a scenario of `locks.c`, which must succeed.
fn scenario(name: &str) -> Profile {
    let profile = profile_of(&[locks().to_str().expect("a plain path"), name], false);
    assert_eq!(profile.runs[0].exit_status, 0, "scenario {name}");
    profile
}

fn only_lock(profile: &Profile) -> &Lock {
    let [lock] = &only_process(profile).locks[..] else {
        panic!("one lock, not {}", only_process(profile).locks.len())
    };
    lock
}

/// Compares an estimate with the expected number. The counts of timed durations are estimated from
/// samples, so they are right only on average.
fn is_about(found: u64, expected: u64) -> bool {
    found.abs_diff(expected) <= expected / 5 + 64
}

#[test]
fn every_acquisition_of_every_thread_is_counted() {
    let profile = scenario("count");
    let lock = only_lock(&profile);
    assert_eq!((lock.family, lock.acquisitions, lock.instances), (Family::Mutex, 40_000, 1));
    assert_eq!(lock.handoffs.same_core + lock.handoffs.other_core, 40_000);
    assert_eq!(lock.failed_tries, 0);
    assert_eq!(lock.wait.count, lock.contended);
    assert_eq!(lock.waiters_met.iter().sum::<u64>(), lock.contended);
    assert!(is_about(lock.hold.count, 40_000), "{} holds", lock.hold.count);
    let threads = &only_process(&profile).threads;
    assert_eq!((threads.started, threads.locking), (5, 4));
}

#[test]
fn locks_of_c11_are_recorded_where_the_program_takes_them() {
    let program = common::program("c11_turns");
    let profile = profile_of(&[program.to_str().expect("a plain path")], false);
    assert_eq!(profile.runs[0].exit_status, 0);
    let process = only_process(&profile);
    let [lock] = &process.locks[..] else { panic!("{:?}", process.locks) };
    // Each wait on the condition gives the mutex back and takes it again.
    assert!(lock.acquisitions >= 40_000, "{}", lock.acquisitions);
    let innermost = |site: &[Frame]| site.first().map(|frame| frame.function.clone());
    let callers: BTreeSet<_> = lock.callers.iter().filter_map(|at| innermost(&at.site)).collect();
    assert!(callers.iter().all(|name| name == "take_turns"), "{callers:?}");
    assert!(!callers.is_empty() && innermost(&lock.site).as_deref() == Some("main"), "{lock:?}");
    let [condition] = &process.conditions[..] else { panic!("{:?}", process.conditions) };
    assert_eq!(condition.signals, 40_000, "{condition:?}");
}

#[test]
fn a_lock_of_one_thread_is_told_from_one_of_several() {
    let profile = scenario("own");
    let (shared, own): (Vec<_>, Vec<_>) =
        only_process(&profile).locks.iter().partition(|lock| lock.acquisitions > 1_000);
    let share = shared[0].mostly_by.map_or(0.0, |most| most.share);
    assert!(share < 0.26, "four threads took it alike, one of them {share} of the times");
    let own: Vec<_> = own.iter().filter_map(|lock| lock.mostly_by).collect();
    let threads: BTreeSet<u32> = own.iter().map(|most| most.thread).collect();
    assert_eq!((own.len(), threads.len()), (4, 4), "{own:?}");
    assert!(own.iter().all(|most| most.share > 0.99), "{own:?}");
}

#[test]
fn the_site_is_named_with_function_and_line() {
    let profile = scenario("count");
    let site = &only_lock(&profile).site;
    assert_eq!(site[0].function, "take");
    assert!(site[0].line.as_ref().is_some_and(|line| line.contains("locks.c:")), "{:?}", site[0]);
    assert_eq!(site[1].function, "take_10000");
}

#[test]
fn locks_made_by_one_statement_are_told_apart_by_the_way_to_it() {
    let profile = scenario("sites");
    let mut sites: BTreeMap<Vec<String>, u64> = BTreeMap::new();
    for lock in &only_process(&profile).locks {
        let names = |frame: &Frame| format!("{} {:x}", frame.function, frame.offset);
        *sites.entry(lock.site.iter().map(names).collect()).or_default() += lock.instances;
        assert!(lock.site[0].function == "make_pair", "{:?}", lock.site);
    }
    assert_eq!(sites.values().collect::<Vec<_>>(), [&100; 4], "{sites:#?}");
    for way in ["one_way", "other_way"] {
        assert_eq!(sites.keys().filter(|site| site[1].starts_with(way)).count(), 2);
    }
}

/// Whoever waits for the recorder's own tables lets a thread of a lower real-time priority go on that has them. Else it
/// would give up after a second, and not record its lock.
#[test]
fn a_thread_of_a_higher_priority_waits_for_one_of_a_lower() {
    let profile = scenario("priorities");
    let process = only_process(&profile);
    assert_eq!(process.locks_not_recorded, 0);
    let taken: u64 = process.locks.iter().map(|lock| lock.acquisitions).sum();
    assert!(taken > 200, "{taken}");
}

#[test]
fn nestings_add_up_however_many_outer_locks_there_are() {
    let profile = scenario("nested_in_many");
    let process = only_process(&profile);
    let inner =
        process.locks.iter().find(|lock| !lock.nested_in.is_empty()).expect("one is inside");
    assert_eq!(inner.acquisitions, 800);
    let outer: u64 = inner.nested_in.iter().map(|nesting| nesting.count).sum();
    assert!((outer as f64 / 800.0 - 1.0).abs() < 0.01, "{:?}", inner.nested_in);
}

#[test]
fn time_in_an_inner_lock_is_not_time_in_the_outer_one() {
    let times = || {
        let profile = scenario("nested");
        let process = only_process(&profile);
        let [outer, inner] = &process.locks[..] else { panic!("two locks") };
        assert_eq!((outer.acquisitions, inner.acquisitions), (500, 500));
        assert!(outer.nested_in.is_empty());
        assert_eq!((inner.nested_in[0].outer, inner.nested_in[0].count), (outer.id, 500));
        // A hold takes longer when the core is taken away, so the fastest ones tell.
        [&outer.hold, &inner.hold, &process.threads.think].map(|times| times.quantile(0.05).0)
    };
    // The busy waits take 40, 20 and 10 µs. With the inner lock's time in it, no hold of the outer lock is below 60 µs.
    let is_right = |[outer, inner, think]: &[f64; 3]| {
        (32_000.0..55_000.0).contains(outer)
            && (16_000.0..28_000.0).contains(inner)
            && (8_000.0..15_000.0).contains(think)
    };
    // A virtual machine that is moved meanwhile may have two rates of its counter in one run, so it is asked again.
    let mut seen = Vec::new();
    let is_once = (0..3).any(|_| {
        seen.push(times());
        seen.last().is_some_and(is_right)
    });
    assert!(is_once, "{seen:?}");
}

#[test]
fn failed_tries_and_expired_deadlines_are_counted() {
    let profile = scenario("tries");
    let lock = only_lock(&profile);
    assert_eq!((lock.acquisitions, lock.failed_tries), (1, 9));
}

#[test]
fn readers_are_told_from_writers() {
    let profile = scenario("readers");
    let lock = only_lock(&profile);
    let read = lock.read.as_ref().expect("a read-write lock has a read side");
    assert_eq!(lock.family, Family::ReadWrite);
    assert_eq!((lock.acquisitions, lock.failed_tries), (1001, 3));
    assert_eq!((read.acquisitions, read.failed_tries), (4000, 5));
}

#[test]
fn more_readers_than_slots_lose_no_count() {
    let profile = scenario("many_readers");
    let read = only_lock(&profile).read.as_ref().expect("a read side");
    assert_eq!(read.acquisitions, 48_000);
    assert!(only_process(&profile).threads.peak >= 48);
}

#[test]
fn waiting_for_a_condition_is_not_waiting_for_a_lock() {
    let profile = scenario("conditions");
    let process = only_process(&profile);
    let condition = &process.conditions[0];
    assert_eq!((condition.signals, condition.broadcasts), (1000, 1000));
    assert_eq!(condition.timed_out, 20);
    assert!(condition.wait.count >= 1020, "{} waits", condition.wait.count);
    let lock = &process.locks[0];
    assert_eq!(condition.lock, Some(lock.id));
    // There is one acquisition in each of 1000 rounds on both sides, one for the twenty time-outs,
    // and one at the end of each wait.
    assert_eq!(lock.acquisitions, 2001 + condition.wait.count);
}

#[test]
fn a_cancelled_wait_passes_through() {
    let profile = scenario("cancelled");
    assert_eq!(only_process(&profile).threads.started, 101);
}

#[test]
fn each_process_image_has_its_own_record_however_it_ends() {
    let profile = profile_of(&[locks().to_str().expect("a plain path"), "ends"], false);
    assert_eq!(profile.runs[0].exit_status, 128 + libc::SIGTERM);
    let mut counts: Vec<u64> =
        profile.runs[0].processes.iter().map(|process| process.locks[0].acquisitions).collect();
    counts.sort_unstable();
    assert_eq!(counts, [10, 20, 30, 40, 50]);
    let first =
        profile.runs[0].processes.iter().find(|process| process.locks[0].acquisitions == 40);
    let next = profile.runs[0].processes.iter().find(|process| process.locks[0].acquisitions == 50);
    assert_eq!(first.map(|process| process.pid), next.map(|process| process.pid));
}

#[test]
fn threads_come_and_go_by_the_hundred_thousand() {
    let profile = scenario("threads");
    let process = only_process(&profile);
    assert_eq!(only_lock(&profile).acquisitions, 100_000);
    assert_eq!((process.threads.started, process.threads.locking), (100_001, 100_000));
    assert!(process.threads.peak <= 21, "{} at once", process.threads.peak);
}

#[test]
fn a_million_short_lived_mutexes_are_one_entry() {
    let profile = scenario("short_lived");
    let lock = only_lock(&profile);
    assert_eq!((lock.instances, lock.acquisitions), (1_000_000, 1_000_000));
    assert_eq!(only_process(&profile).locks_not_recorded, 0);
}

#[test]
fn mutexes_that_are_never_destroyed_do_not_fill_the_record() {
    let profile = scenario("never_destroyed");
    let process = only_process(&profile);
    assert_eq!(process.locks.iter().map(|lock| lock.acquisitions).sum::<u64>(), 500_000);
    assert_eq!(process.locks_not_recorded, 0);
    assert!(process.locks.len() < 5000, "{} entries", process.locks.len());
}

#[test]
fn spin_locks_are_recorded() {
    let profile = scenario("spins");
    let lock = only_lock(&profile);
    assert_eq!((lock.family, lock.acquisitions, lock.failed_tries), (Family::Spin, 200_001, 9));
}

#[test]
fn special_mutexes_keep_their_meaning() {
    let profile = scenario("kinds");
    let with = |attribute: &str| {
        only_process(&profile)
            .locks
            .iter()
            .find(|lock| lock.attributes.iter().any(|name| name == attribute))
            .unwrap_or_else(|| panic!("a lock that is {attribute}"))
    };
    // Of three nested acquisitions, only the outermost one counts.
    assert_eq!(with("recursive").acquisitions, 1000);
    assert_eq!(with("errorcheck").acquisitions, 1);
    assert_eq!(with("robust").acquisitions, 2);
}

#[test]
fn only_locks_under_which_a_waiting_writer_keeps_readers_out_prefer_writers() {
    let profile = scenario("preferences");
    let mut of: Vec<(u64, bool)> = only_process(&profile)
        .locks
        .iter()
        .map(|lock| (lock.acquisitions, lock.attributes == ["prefer-writer"]))
        .collect();
    of.sort_unstable();
    assert_eq!(of, [(10, false), (20, false), (30, true)]);
}

#[test]
fn sleeping_is_neither_thinking_nor_holding() {
    let profile = scenario("waits");
    let lock = only_lock(&profile);
    let threads = &only_process(&profile).threads;
    assert_eq!(lock.acquisitions, 60);
    assert!(lock.contended >= 10, "{} contended", lock.contended);
    assert!(lock.wait.quantile(0.9).0 > 1_000_000.0);
    // There are 60 sleeps of 2 ms. A few of them may look as if the thread had lost its core.
    assert!(lock.hold_asleep.0 > 60e6, "{} ns", lock.hold_asleep.0);
    assert!(lock.hold.quantile(0.5).0 < 500_000.0, "{} ns", lock.hold.quantile(0.5).0);
    // There are at least 57 sleeps of 1 ms.
    assert!(threads.think_asleep.0 > 57e6, "{} ns", threads.think_asleep.0);
    assert!(threads.think.quantile(0.5).0 < 500_000.0, "{} ns", threads.think.quantile(0.5).0);
}

/// Returns whether a program is installed. Programs that are not installed are not tested.
fn is_installed(program: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path).any(|directory| directory.join(program).exists())
    })
}

#[test]
fn a_cache_database_under_two_threads() {
    assert!(is_installed("kccachetest"), "install kyotocabinet-utils");
    let profile = profile_of(&["kccachetest", "order", "-th", "2", "20000"], true);
    assert_eq!(profile.runs.len(), if profile.host.cores > 1 { 2 } else { 1 });
    for run in &profile.runs {
        assert_eq!(run.exit_status, 0);
        let locks = &run.processes[0].locks;
        let database = locks.iter().find(|lock| lock.family == Family::ReadWrite).expect("one");
        let read = database.read.as_ref().expect("a read side");
        // There are three phases of 20,000 operations in two threads, and a few more operations.
        assert!((120_000..121_000).contains(&read.acquisitions), "{}", read.acquisitions);
        // Inside this lock, the program locks the slot of a record.
        let slots = locks.iter().filter(|lock| lock.family == Family::Mutex);
        assert_eq!(slots.clone().filter(|lock| lock.nested_in[0].outer == database.id).count(), 16);
        let site = slots.flat_map(|lock| &lock.site).next().expect("a frame");
        assert!(site.function.contains("kyotocabinet::"), "{site:?}");
    }
}

#[test]
fn a_benchmark_of_mutexes() {
    assert!(is_installed("sysbench"), "install sysbench");
    let profile = profile_of(
        &["sysbench", "mutex", "--threads=2", "--mutex-locks=5000", "--mutex-num=64", "run"],
        false,
    );
    let run = &profile.runs[0];
    assert_eq!(run.exit_status, 0);
    let locks = &run.processes[0].locks;
    let taken: u64 = locks
        .iter()
        .filter(|lock| {
            lock.attributes.is_empty() && lock.site.iter().any(|frame| frame.function == "main")
        })
        .map(|lock| lock.acquisitions)
        .sum();
    assert!((10_000..10_200).contains(&taken), "{taken} acquisitions");
}

#[test]
fn answers_are_unchanged() {
    let plain = |command: &mut Command| command.output().expect("it runs");
    let directory = tempfile::tempdir().expect("there is room");
    let recorded = |command: &mut Command| {
        command.env("LD_PRELOAD", library()).env("KILOCORE_MEASURE_DIR", directory.path());
        command.output().expect("it runs under the library")
    };
    let python = "import threading,queue\n\
        q=queue.Queue()\n\
        def put():\n  for i in range(500): q.put(i)\n\
        ts=[threading.Thread(target=put) for _ in range(4)]\n\
        [t.start() for t in ts]\n\
        print(sum(q.get() for _ in range(2000)))\n\
        [t.join() for t in ts]";
    let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/locks.c");
    for words in [
        vec!["python3", "-c", python],
        vec!["xz", "-T2", "--block-size=4096", "-c", text.to_str().expect("a plain path")],
    ] {
        assert!(is_installed(words[0]), "install {}", words[0]);
        let before = plain(Command::new(words[0]).args(&words[1..]));
        let after = recorded(Command::new(words[0]).args(&words[1..]));
        assert_eq!(before, after, "{}", words[0]);
        assert!(before.status.success());
    }
}

#[test]
fn without_a_directory_the_program_runs_on() {
    let output = Command::new(locks())
        .arg("count")
        .env("LD_PRELOAD", library())
        .env("KILOCORE_MEASURE_DIR", "/nonexistent/directory")
        .output()
        .expect("it runs");
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty());
}

#[test]
fn the_exit_status_is_that_of_the_program() {
    let profile = profile_of(&["sh", "-c", "exit 7"], false);
    assert_eq!(profile.runs[0].exit_status, 7);
    let missing = [OsString::from("/nonexistent/program")];
    let error = measure(
        &missing,
        &Options { library: library(), confined_run: false, output_to_stderr: false, watch: false },
    );
    assert!(error.unwrap_err().to_string().contains("/nonexistent/program"));
}
