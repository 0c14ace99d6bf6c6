//! The shipped source with one error each, planted at run time: a call that changes nothing, an exchange in two
//! steps, or a weaker ordering. The programs must catch each of them. Steps that are more than a call are
//! left out in a twin (`twin.rs`).

use kilocore_checking::planted::{Error, Source, plant};
use kilocore_checking::{Altered, Sequential, Sound, Thorough, explore, model, verdict};
use kilocore_numa::ReplicatedOn;
use kilocore_platform::{Loom, Ordering, Shuttle};

use Error::{InTwoSteps, Lost, Weakened};

use crate::common::{Deed, Go, Pair, Read, ReadTwice, Stay, Update, program};

type Random = Altered<Shuttle, Sound>;
type Machine = Altered<Loom, Thorough>;

const SEAT: Source = Source { file: "libs/numa/src/seat.rs", text: include_str!("../src/seat.rs") };
const REPLICATED: Source =
    Source { file: "libs/numa/src/replicated.rs", text: include_str!("../src/replicated.rs") };

const NODES: &[u32] = &[0, 1];
const THREADS: &[&[Deed]] = &[
    &[Update, Update, Read],
    &[Read, ReadTwice, Read],
    &[Read, Go(0), Read, Go(1), Read],
    &[Go(0), Update, ReadTwice],
];

/// A reader beside a writer.
const BESIDE: &[&[Deed]] = &[&[Update], &[Read]];

const RACE: &str = "race: data";
const OLD: &str = "saw an old value";
/// Somebody waits for ever.
const STUCK: &str = "exceeded max_steps";
const HALF: &str = "saw half of a change";
const CAUSALITY: &str = "Causality violation";
/// The same under loom.
const DEADLOCK: &str = "Model exceeded maximum number of branches";

/// Random schedules find it.
#[track_caller]
fn assert_caught(source: Source, call: &str, error: Error, how: &[&str]) {
    let check = || {
        let program = || {
            program::<Random, ReplicatedOn<Random, Pair<Random>>>(NODES, Shuttle::place, THREADS)
        };
        explore(program, 5_000, 3);
    };
    let found = plant(source, call, error, || verdict(check));
    let Err(message) = found else { panic!("nothing wrong is found with {error:?}: {call}") };
    assert!(how.iter().any(|how| message.contains(how)), "{call} is caught by: {message}");
}

/// loom finds it with these threads.
#[track_caller]
fn assert_loom_catches(
    source: Source,
    call: &str,
    error: Error,
    threads: &'static [&'static [Deed]],
) {
    let check = || {
        model(Some(3), move || {
            program::<Machine, ReplicatedOn<Machine, Pair<Machine>>>(NODES, Loom::place, threads);
        });
    };
    let found = plant(source, call, error, || verdict(check));
    let Err(message) = found else { panic!("nothing wrong is found with {error:?}: {call}") };
    let how = [CAUSALITY, OLD, DEADLOCK];
    assert!(how.iter().any(|how| message.contains(how)), "{call} is caught by: {message}");
}

#[test]
fn a_reader_has_its_seat_for_itself() {
    let call = "compare_exchange(none, wanted.0, Ordering::SeqCst, Ordering::Relaxed)";
    assert_caught(SEAT, call, InTwoSteps, &[RACE, STUCK]);
}

#[test]
fn a_reader_announces_both_sides_before_it_looks_again() {
    assert_loom_catches(SEAT, "swap(Sides::BOTH.0, Ordering::SeqCst)", Lost, BESIDE);
}

#[test]
fn a_reader_takes_the_other_side_back() {
    let call = "store(Sides::only(side).0, Ordering::Release)";
    assert_loom_catches(SEAT, call, Lost, &[&[Update], &[Go(0), Stay]]);
    assert_caught(SEAT, "fetch_sub(one(side.other()), Ordering::Relaxed)", Lost, &[STUCK]);
}

#[test]
fn a_reader_that_shares_a_seat_is_counted() {
    assert_caught(SEAT, "fetch_add(one(side), Ordering::SeqCst)", Lost, &[RACE, STUCK, "overflow"]);
}

#[test]
fn a_reader_leaves() {
    assert_caught(SEAT, "store(Sides::NONE.0, Ordering::Release)", Lost, &[STUCK]);
    assert_caught(SEAT, "fetch_sub(one(presence.side), Ordering::Release)", Lost, &[STUCK]);
}

#[test]
fn a_writer_hides_what_it_changes() {
    assert_caught(REPLICATED, "swap(sides.0, Ordering::SeqCst)", Lost, &[RACE, HALF]);
}

#[test]
fn a_reader_acquires_what_a_writer_has_written() {
    assert_loom_catches(
        REPLICATED,
        "fetch_add(0, Ordering::AcqRel)",
        Weakened(Ordering::Release),
        BESIDE,
    );
}

/// The same as it ships: the look may come too early if it is not sequentially consistent.
#[test]
fn a_readers_look_is_sequentially_consistent() {
    type Machine = Altered<Loom, Sequential>;
    let check = || {
        model(Some(3), || {
            program::<Machine, ReplicatedOn<Machine, Pair<Machine>>>(NODES, Loom::place, BESIDE);
        });
    };
    check();
    let weaker = Weakened(Ordering::Acquire);
    let found = plant(REPLICATED, "load(Ordering::SeqCst)", weaker, || verdict(check));
    let message = found.expect_err("nothing wrong is found with a weaker look");
    assert!([CAUSALITY, OLD, DEADLOCK].iter().any(|how| message.contains(how)), "{message}");
}

#[test]
fn a_reader_says_that_it_is_there_before_it_looks() {
    assert_loom_catches(
        REPLICATED,
        "fetch_add(0, Ordering::AcqRel)",
        Weakened(Ordering::Acquire),
        BESIDE,
    );
}

#[test]
fn a_writer_acquires_what_a_reader_did() {
    let call = "load(Ordering::SeqCst)).has(side)";
    assert_loom_catches(SEAT, call, Weakened(Ordering::Relaxed), BESIDE);
}

#[test]
fn a_reader_releases_what_it_did() {
    let call = "store(Sides::NONE.0, Ordering::Release)";
    assert_loom_catches(SEAT, call, Weakened(Ordering::Relaxed), BESIDE);
}
