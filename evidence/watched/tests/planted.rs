//! Planted locks are found, named and counted, in each language, in programs that run already.
//!
//! How right the figures are depends on what else the machine does, so `make watched` finds that
//! out. A lock of which nobody waits is not seen, and a machine may be too busy for that: so each
//! program is watched anew, for longer, before it counts as not found.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kilocore_watched::planted::Program;
use kilocore_watched::{Attachment, Expected, Score, Trial, TrialError, Work};

/// How long a program is watched, at first and at last.
const WATCHED: [Duration; 4] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(5),
    Duration::from_secs(15),
];

/// The trials follow one another: a machine of two cores that runs many planted programs at once leaves
/// each of them too little to fight for its lock.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    // A trial that failed leaves nothing behind that could disturb the next one.
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_found(name: &str) {
    let _alone = alone();
    let program = Program::named(name).expect("there is one");
    let kilocore = kilocore_shipped::folder().join("kilocore");
    let mut instead = Vec::new();
    for watched in WATCHED {
        let hold = Duration::from_micros(50);
        let work = Work { threads: 4, hold, think: hold / 5, watched };
        let mut score = Score::default();
        match Trial::run(&kilocore, program, Attachment::Attached, &work) {
            Ok(trial) => score.add(&trial),
            // Where watching is not allowed, the message says so; another test reads it.
            Err(TrialError::Watcher(text)) if text.contains("perf") => return,
            Err(error) => panic!("{name}: {error}"),
        }
        // Of a lock, it has to be known how often it is taken, whatever else the machine does.
        let is_lock = Expected::of(name) == Expected::Lock;
        let is_counted = score.acquisitions.iter().any(|of_truth| *of_truth > 0.0);
        if score.first.so == 1 && score.named.so == 1 && (is_counted || !is_lock) {
            return;
        }
        instead.push(format!("{score:?}"));
    }
    panic!("{name}: {}", instead.join("\n"));
}

#[test]
fn a_mutex_of_glibc() {
    is_found("c-mutex");
}

#[test]
fn a_mutex_of_musl_in_a_static_program() {
    is_found("c-mutex-musl");
}

#[test]
fn a_read_write_lock() {
    is_found("c-rwlock");
}

#[test]
fn a_mutex_in_memory_of_two_processes() {
    is_found("c-two-processes");
}

#[test]
fn a_mutex_of_absl() {
    is_found("cpp-absl-mutex");
}

#[test]
fn a_mutex_of_go() {
    is_found("go-mutex");
}

#[test]
fn a_channel_of_go() {
    is_found("go-channel");
}

#[test]
fn a_monitor_of_java() {
    is_found("java-synchronized");
}

#[test]
fn a_lock_of_java() {
    is_found("java-reentrant");
}

#[test]
fn a_critical_section_of_openmp() {
    is_found("openmp-critical");
}

#[test]
fn a_mutex_of_rust() {
    is_found("rust-std-mutex");
}

#[test]
fn a_mutex_of_parking_lot() {
    is_found("rust-parking-lot");
}

/// The kernel shows its own locks to few users. Where it does not, it is said that it does not.
#[test]
fn a_lock_of_the_kernel() {
    let _alone = alone();
    let program = Program::named("c-kernel-lock").expect("there is one");
    let kilocore = kilocore_shipped::folder().join("kilocore");
    let mut said = Vec::new();
    for watched in WATCHED {
        let (hold, think) = (Duration::from_micros(50), Duration::from_micros(5));
        let work = Work { threads: 4, hold, think, watched };
        let trial = match Trial::run(&kilocore, program, Attachment::Attached, &work) {
            Ok(trial) => trial,
            Err(TrialError::Watcher(text)) if text.contains("perf") => return,
            Err(error) => panic!("{error}"),
        };
        let times = trial.profile.runs[0].times.as_ref().expect("it was watched");
        if !times.coverage.kernel_locks_seen {
            assert!(times.kernel_locks.is_empty(), "{:?}", times.kernel_locks);
            return;
        }
        // How long threads wait depends on the cores that they get. Where they wait does not.
        let first = times.kernel_locks.first();
        if first.is_some_and(|lock| lock.name == "mmap_lock" && lock.threads > 1) {
            return;
        }
        said.push(format!("{first:?}"));
    }
    panic!("{}", said.join("\n"));
}
