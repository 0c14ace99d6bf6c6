//! More threads and nodes than loom can handle, under random schedules and under those of PCT. shuttle assumes
//! sequentially consistent memory; orderings are checked under loom.

use kilocore_checking::{Altered, Sound, explore_part};
use kilocore_numa::ReplicatedOn;
use kilocore_platform::Shuttle;

use crate::common::{Deed, Go, Pair, Read, ReadTwice, Store, Update, program};

type Machine = Altered<Shuttle, Sound>;
type Subject = ReplicatedOn<Machine, Pair<Machine>>;

/// The number of schedules of each kind.
const SCHEDULES: usize = 5_000;
/// The number of preemptions that PCT places in a schedule.
const DEPTH: usize = 4;

const THREADS: &[&[Deed]] = &[
    &[Update, Read, Update, Read],
    &[Read, ReadTwice, Read, Go(0), Read],
    &[Read, Go(3), ReadTwice, Update],
    &[Go(1), ReadTwice, Update, Go(2), Read],
    &[Read, Read, Read, ReadTwice],
];

const ONE_WRITER: &[&[Deed]] =
    &[&[Store, Update, Store], &[Read, ReadTwice, Read], &[Go(1), Read, Go(0), ReadTwice, Read]];

#[test]
fn one_node() {
    explore_part(
        || program::<Machine, Subject>(&[0; 4], Shuttle::place, THREADS),
        SCHEDULES,
        DEPTH,
    );
}

#[test]
fn two_nodes() {
    let program = || program::<Machine, Subject>(&[0, 1, 0, 1], Shuttle::place, THREADS);
    explore_part(program, SCHEDULES, DEPTH);
}

#[test]
fn three_nodes() {
    let program = || program::<Machine, Subject>(&[2, 7, 7, 9], Shuttle::place, THREADS);
    explore_part(program, SCHEDULES, DEPTH);
}

#[test]
fn values_are_stored() {
    let program = || program::<Machine, Subject>(&[0, 1], Shuttle::place, ONE_WRITER);
    explore_part(program, SCHEDULES, DEPTH);
}
