//! Runs the shipped source on a machine that drops one half of every ordering. loom must catch
//! this; otherwise the checks in `loom.rs` would prove nothing about orderings. Histories are not
//! recorded, because their clock would order what the log does not order.
//!
//! A root that is dropped applies its log, even while a panic because of a race unwinds. A second
//! race then aborts the process. So each program runs in a process of its own, and only its first
//! panic counts.

use crate::common;
use crate::common::enters_by_inner;

use std::process::Command;

use common::programs::{self, Step};
use common::{Census, ledger};
use kilocore_checking::{Alteration, Altered, LoadsConflict, Thorough, model};
use kilocore_ldu::{Always, Global, Ldu, PerCore, PromptLdu, Slots};
use kilocore_locks::{CentralRw, NoSharing, Ttas};
use kilocore_platform::{CpuId, Loom, NodeId};

use Step::{Insert, Look, Remove};

type Machine<A> = Altered<Loom, A>;
type One<A> = NoSharing<Machine<A>, Ttas<Machine<A>>>;
type AtTheRoot<A, L = One<A>> = Ldu<Machine<A>, Census, Global<Machine<A>>, L>;
type OnCores<A> = Ldu<Machine<A>, Census, PerCore<Machine<A>>, One<A>>;

type NoRelease = kilocore_checking::NoRelease<LoadsConflict>;
type NoAcquire = kilocore_checking::NoAcquire<LoadsConflict>;

/// The environment variable that names the program which a process runs.
const PROGRAM: &str = "KILOCORE_LDU_WEAKENED_PROGRAM";

/// The exit status of a process whose program has passed. No other process ends with it.
const PASSED: i32 = 42;

const PREEMPTIONS: Option<usize> = Some(3);

fn apart(thread: u32) {
    Loom::place(CpuId(thread), NodeId(0));
}

/// A lock that keeps its orderings. So everything that goes wrong is due to the log.
struct Kept(CentralRw<Machine<Thorough>>);

enters_by_inner!([A: Alteration] Kept, Machine<A>, CentralRw<Machine<Thorough>>);

/// Each program and its name.
fn programs<A: Alteration>() -> [(&'static str, fn()); 7] {
    const STEPS: &[&[Step]] = &[&[Insert, Look, Remove]];
    type Shared<A> = AtTheRoot<A, CentralRw<Machine<A>>>;
    [
        ("a lock of one, a global queue", || {
            programs::updates_and_reads::<_, AtTheRoot<A>>((), STEPS, 1, apart, false);
        }),
        ("readers that share, a global queue", || {
            programs::updates_and_reads::<_, Shared<A>>((), STEPS, 1, apart, false);
        }),
        ("a lock of one, slots on cores", || {
            let slots = Slots::new(2, 1);
            programs::updates_and_reads::<_, OnCores<A>>(slots, STEPS, 1, apart, false);
        }),
        ("a sound lock, a global queue", || {
            ledger::entries::<Machine<A>, Global<Machine<A>>, Kept, Always>(());
        }),
        ("a sound lock, slots on cores", || {
            ledger::entries::<Machine<A>, PerCore<Machine<A>>, Kept, Always>(Slots::new(2, 1));
        }),
        ("a log of insertions", || {
            type Prompt<A> = PromptLdu<Machine<A>, Census, CentralRw<Machine<A>>>;
            programs::updates_and_reads::<_, Prompt<A>>((), STEPS, 1, apart, false);
        }),
        ("a sound lock, a log of insertions", || {
            ledger::entries_of_prompt::<Machine<A>, Kept>();
        }),
    ]
}

/// Returns what the first panic of each program says, if there is one. `test` is the name of the
/// calling test. The processes that this starts run that test, which calls this function again;
/// there it runs the program.
fn verdicts<A: Alteration>(test: &str) -> Vec<(&'static str, Option<String>)> {
    if let Ok(chosen) = std::env::var(PROGRAM) {
        let mut programs = programs::<A>().into_iter();
        let (_, program) = programs.find(|(name, _)| *name == chosen).expect("no such program");
        model(PREEMPTIONS, program);
        std::process::exit(PASSED);
    }
    let run = |(name, _)| {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &format!("weakened::{test}"), "--nocapture"])
            .env(PROGRAM, name)
            .env("RUST_BACKTRACE", "0")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let mut lines = said.lines().skip_while(|line| !line.contains("panicked at"));
        let message = lines.nth(1).map(ToString::to_string);
        assert_eq!(message.is_none(), output.status.code() == Some(PASSED), "{name}: {said}");
        (name, message)
    };
    programs::<A>().into_iter().map(run).collect()
}

/// A missing ordering shows as a race: on the structure, on an item, or on the memory of an object
/// that is freed.
fn assert_all_caught<A: Alteration>(test: &str) {
    for (name, message) in verdicts::<A>(test) {
        let message = message.unwrap_or_else(|| panic!("loom finds nothing wrong with {name}"));
        assert!(message.contains("Causality violation"), "{name}: {message}");
    }
}

#[test]
fn without_release_every_log_is_caught() {
    assert_all_caught::<NoRelease>("without_release_every_log_is_caught");
}

#[test]
fn without_acquire_every_log_is_caught() {
    assert_all_caught::<NoAcquire>("without_acquire_every_log_is_caught");
}

#[test]
fn with_both_every_log_passes_the_same_programs() {
    for (name, message) in verdicts::<Thorough>("with_both_every_log_passes_the_same_programs") {
        assert_eq!(message, None, "{name}");
    }
}
