//! All executions of few threads, with few preemptions. A copy that is read while it is changed is a race
//! that loom finds.

use kilocore_checking::{Altered, Sequential, Thorough, model};
use kilocore_numa::ReplicatedOn;
use kilocore_platform::Loom;

use crate::common::{Deed, Go, Pair, Read, ReadTwice, Stay, Store, Update, program};

type Machine = Altered<Loom, Thorough>;
type Subject = ReplicatedOn<Machine, Pair<Machine>>;

fn check(preemptions: usize, nodes: &'static [u32], threads: &'static [&'static [Deed]]) {
    model(Some(preemptions), move || program::<Machine, Subject>(nodes, Loom::place, threads));
}

#[test]
fn a_reader_beside_a_writer() {
    check(3, &[0, 1], &[&[Update], &[Read, Read]]);
}

/// As it ships: a reader looks by a sequentially consistent load. (An exchange stands in its place in the
/// other programs.)
#[test]
fn looks_that_are_sequentially_consistent() {
    type Machine = Altered<Loom, Sequential>;
    model(Some(3), || {
        program::<Machine, ReplicatedOn<Machine, Pair<Machine>>>(
            &[0, 1],
            Loom::place,
            &[&[Update], &[Read, Read]],
        );
    });
}

/// With more it takes minutes.
#[test]
fn a_writer_does_not_wait_for_readers_that_see_its_update() {
    check(3, &[0, 1], &[&[Update], &[Go(0), Stay]]);
    check(3, &[0, 1], &[&[Update], &[Go(1), Stay]]);
}

#[test]
fn a_reader_beside_two_updates() {
    check(3, &[0, 1], &[&[Update, Update], &[Read]]);
}

#[test]
fn readers_of_two_nodes_tell_each_other() {
    check(2, &[0, 1, 1], &[&[Update], &[Read], &[Read]]);
}

#[test]
fn two_readers_of_one_core() {
    check(2, &[0, 1], &[&[Update], &[Read], &[Go(1), Read]]);
}

#[test]
fn a_reader_that_reads_twice() {
    check(2, &[0, 1], &[&[Update], &[ReadTwice]]);
}

#[test]
fn two_writers() {
    check(2, &[0, 1], &[&[Update], &[Update]]);
}

#[test]
fn two_writers_and_a_reader() {
    check(1, &[0, 1], &[&[Update], &[Update], &[Read]]);
}

#[test]
fn one_node() {
    check(3, &[0, 0], &[&[Update], &[Read, Read]]);
    check(3, &[0, 0], &[&[Update, Update], &[Read]]);
}

#[test]
fn three_nodes() {
    check(2, &[0, 1, 2], &[&[Update], &[Go(2), Read, Go(1), Read]]);
}

#[test]
fn a_value_is_stored() {
    check(2, &[0, 1], &[&[Store, Store], &[Read, Read]]);
}
