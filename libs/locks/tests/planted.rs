//! The shipped source of locks with one error each, planted at run time: a call that changes nothing,
//! or an exchange in two steps. The programs that every lock passes must catch each of them. Locks
//! whose errors take more than a call to make have twins in `broken*.rs`.

use crate::common;

use common::altered::planted::{Error, Source, plant};
use common::altered::{Altered, Sound};
use common::read_write::{self, Read, Write, WriteAndRead};
use common::twins::{LOST_WAKE_UP, RACE};
use common::{explore, programs, verdict};
use kilocore_locks::{
    Adaptive, Ahmcs, CentralRw, Clh, Cna, Malthusian, PerCore, PhaseFair, RawLock, ReaderFirst,
};
use kilocore_platform::Shuttle;

use Error::{InTwoSteps, Lost};

type Checked = Altered<Shuttle, Sound>;

/// What a lost waiter looks like: all sleep, or somebody spins for ever.
const LOST_WAITER: &[&str] = &[LOST_WAKE_UP[0], "exceeded max_steps"];
/// Two inside, or what they do to the lock when they leave.
const RACE_OR_LOST: &[&str] = &[RACE[0], RACE[1], LOST_WAKE_UP[0], "exceeded max_steps"];

macro_rules! source {
    ($name:literal) => {
        Source {
            file: concat!("libs/locks/src/", $name),
            text: include_str!(concat!("../src/", $name)),
        }
    };
}

fn alternating(index: u32) {
    let (cpu, node) = programs::alternating(index);
    Shuttle::place(cpu, node);
}

#[track_caller]
fn assert_caught(
    source: Source,
    call: &str,
    error: Error,
    program: impl Fn() + Copy + Send + Sync + 'static,
    how: &[&str],
) {
    let found = plant(source, call, error, || verdict(|| explore(program, 5_000, 3)));
    let Err(message) = found else { panic!("nothing wrong is found with {error:?}: {call}") };
    assert!(how.iter().any(|how| message.contains(how)), "{call} is caught by: {message}");
}

/// Four threads on two nodes.
fn exclusion<L: RawLock<Checked>>() {
    programs::exclusion::<Checked, L>(4, 3, alternating);
}

#[test]
fn clh() {
    let source = source!("clh.rs");
    let check =
        |call, error, how| assert_caught(source, call, error, exclusion::<Clh<Checked>>, how);
    check("swap(node, Ordering::AcqRel)", InTwoSteps, RACE_OR_LOST);
    check(
        "compare_exchange(node, ptr::null_mut(), Ordering::Release, Ordering::Relaxed)",
        InTwoSteps,
        RACE_OR_LOST,
    );
}

#[test]
fn cna() {
    let source = source!("cna.rs");
    let check =
        |call, error, how| assert_caught(source, call, error, exclusion::<Cna<Checked>>, how);
    check(
        "compare_exchange(me, last, Ordering::Release, Ordering::Relaxed)",
        InTwoSteps,
        RACE_OR_LOST,
    );
    // Those who were passed over before are forgotten, or those passed over now.
    check("store(first, Ordering::Relaxed)", Lost, LOST_WAITER);
    check("store(next, Ordering::Relaxed)", Lost, LOST_WAITER);
}

#[test]
fn malthusian() {
    let source = source!("malthusian.rs");
    let check = |call, error, how| {
        assert_caught(source, call, error, exclusion::<Malthusian<Checked>>, how)
    };
    check(
        "compare_exchange(me, substitute, Ordering::Release, Ordering::Relaxed)",
        InTwoSteps,
        RACE_OR_LOST,
    );
    // The passive list is not handed on; the eldest leaves the queue behind.
    check(
        "store(self.youngest, Ordering::Relaxed);
            (*waiter).eldest",
        Lost,
        LOST_WAITER,
    );
    check("store(next, Ordering::Relaxed)", Lost, LOST_WAITER);
}

#[test]
fn adaptive() {
    let source = source!("futex.rs");
    let check =
        |call, error, how| assert_caught(source, call, error, exclusion::<Adaptive<Checked>>, how);
    check(
        "compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed)",
        InTwoSteps,
        RACE_OR_LOST,
    );
    check("swap(FREE, Ordering::Release)", InTwoSteps, LOST_WAKE_UP);
}

#[test]
fn ahmcs() {
    let source = source!("cohort.rs");
    let check =
        |call, error, how| assert_caught(source, call, error, exclusion::<Ahmcs<Checked>>, how);
    // A holder that came by the root takes itself for one that came by its leaf.
    check("store(place | ALONE, Ordering::Relaxed)", Lost, RACE_OR_LOST);
    // A node keeps what it has let go.
    check("store(if stays { in_a_row + 1 } else { 0 }, Ordering::Relaxed)", Lost, RACE_OR_LOST);
}

/// A writer that was not alone.
const HALF: &[&str] =
    &["race", "a reader saw half of a write", "a write was lost", "too many readers"];

/// The same, or what it does to the count.
const RACE_OR_HALF: &[&str] =
    &[HALF[0], HALF[1], HALF[2], HALF[3], LOST_WAITER[0], LOST_WAITER[1], "overflow"];

#[test]
fn central_rw() {
    let source = source!("central_rw.rs");
    let deeds = || {
        read_write::program::<Checked, CentralRw<Checked>>(&[
            &[Write; 2],
            &[WriteAndRead; 2],
            &[Read; 2],
        ]);
    };
    let check = |call, error, how| assert_caught(source, call, error, deeds, how);
    let entering = "compare_exchange(seen, change(seen), Ordering::Acquire, Ordering::Relaxed)";
    assert_caught(source!("word.rs"), entering, InTwoSteps, deeds, HALF);
    check("fetch_or(PARKED, Ordering::Acquire)", Lost, LOST_WAKE_UP);
    check("fetch_add(1, Ordering::Release)", Lost, LOST_WAKE_UP);
}

#[test]
fn reader_first() {
    let deeds = || {
        read_write::program::<Checked, ReaderFirst<Checked>>(&[
            &[Write; 2],
            &[WriteAndRead; 2],
            &[Read; 3],
        ]);
    };
    let check = |call, error, how| {
        assert_caught(source!("reader_first.rs"), call, error, deeds, how);
    };
    let entering = "compare_exchange(seen, change(seen), Ordering::Acquire, Ordering::Relaxed)";
    assert_caught(source!("word.rs"), entering, InTwoSteps, deeds, RACE_OR_HALF);
    check("fetch_or(PARKED, Ordering::Acquire)", Lost, LOST_WAITER);
    check("fetch_and(!(WRITER | PARKED), Ordering::Release)", Lost, LOST_WAITER);
    // Nobody who leaves sees that a writer waits.
    check("fetch_add(WAITING_ONE, Ordering::Relaxed)", Lost, RACE_OR_HALF);
}

/// Writers in line and past the line, and readers.
#[test]
fn phase_fair() {
    let deeds = || {
        read_write::program::<Checked, PhaseFair<Checked>>(&[
            &[Write; 3],
            &[Write; 3],
            &[Write; 2],
            &[Read; 2],
        ]);
    };
    const BESIDE: &[&str] =
        &[HALF[0], HALF[1], HALF[2], HALF[3], LOST_WAITER[0], LOST_WAITER[1], "overflow"];
    let check = |call, error| assert_caught(source!("phase_fair.rs"), call, error, deeds, BESIDE);
    // A writer past the line does not see that another one has come, or is about to come from the line.
    check(
        "compare_exchange(arrivals, announced, Ordering::Acquire, Ordering::Relaxed)",
        InTwoSteps,
    );
    check("fetch_or(NEXT, Ordering::Relaxed)", Lost);
    check("fetch_or(DRAINING, Ordering::Relaxed)", Lost);
    // A reader that looks how many there are does not leave as often as it has arrived.
    check("fetch_add(toll, Ordering::Release)", Lost);
}

/// Readers that share a count, and writers.
#[test]
fn per_core() {
    let deeds = || {
        read_write::program::<Checked, PerCore<Checked>>(&[
            &[Write; 3],
            &[Read; 4],
            &[Read; 4],
            &[Read; 2],
        ]);
    };
    let source = source!("per_core.rs");
    // A reader that is not counted, or is counted for ever.
    const MISCOUNTED: &[&str] = &[
        HALF[0],
        HALF[1],
        HALF[2],
        HALF[3],
        LOST_WAITER[0],
        LOST_WAITER[1],
        "subtract with overflow",
    ];
    let entering = "compare_exchange(content, next, Ordering::SeqCst, Ordering::Relaxed)";
    assert_caught(source, entering, InTwoSteps, deeds, MISCOUNTED);
    let leaving = "fetch_sub(ONE, Ordering::Release)";
    assert_caught(source, leaving, Lost, deeds, MISCOUNTED);
    // The bias stays, and readers enter by it beside the writer.
    let revoking = "swap(NEVER, Ordering::SeqCst)";
    assert_caught(source!("bravo.rs"), revoking, Lost, deeds, HALF);
}
