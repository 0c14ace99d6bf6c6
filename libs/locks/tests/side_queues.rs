//! Queues beside locks of one word, under the checkers: a lock made of both passes the programs of every
//! lock, and the waiters of two locks that have to share a slot do not wait for each other.

use crate::common;

use common::altered::{Altered, Sound, Thorough};
use common::side_queues::{
    Interrupted, Nodes, Table, Tickets, Whole, interrupted, kept_out, nested,
};
use common::{explore_part, model, programs};
use kilocore_locks::{Requester, SideQueues};
use kilocore_platform::{Loom, Shuttle};

type Explored = Altered<Shuttle, Sound>;
type Checked = Altered<Loom, Thorough>;

#[test]
fn two_exclude_each_other() {
    model(None, || programs::exclusion::<Checked, Whole<Checked, Tickets<Checked>>>(2, 1, |_| ()));
    model(None, || programs::exclusion::<Checked, Whole<Checked, Nodes<Checked>>>(2, 1, |_| ()));
}

#[test]
fn two_exclude_each_other_twice() {
    model(Some(2), || {
        programs::exclusion::<Checked, Whole<Checked, Tickets<Checked>>>(2, 2, |_| ());
    });
}

#[test]
fn three_exclude_each_other() {
    model(Some(2), || {
        programs::exclusion::<Checked, Whole<Checked, Tickets<Checked>>>(3, 1, |_| ());
    });
}

#[test]
fn tries_under_loom() {
    model(None, programs::trying::<Checked, Whole<Checked, Tickets<Checked>>>);
}

#[test]
fn last_holder_destroys_under_loom() {
    type Lock = Whole<Checked, Tickets<Checked>>;
    model(Some(3), programs::destroyed_by_last_holder::<Checked, Lock>);
}

#[test]
fn nested_locks_that_share_a_slot_under_loom() {
    model(Some(3), || nested::<Checked, Tickets<Checked>>(1, 1));
    model(Some(2), || nested::<Checked, Tickets<Checked>>(2, 0));
}

#[test]
fn interrupts_under_loom() {
    type Table = SideQueues<Checked, Interrupted<Requester<Checked, 0>>, 1>;
    model(Some(2), || interrupted::<Checked, Table>(1));
}

#[test]
fn arrivals_are_kept_out_under_loom() {
    model(Some(3), kept_out::<Checked, Tickets<Checked>>);
}

/// Schedules for each program, and the preemptions in one.
const SCHEDULES: usize = 2_000;
const DEPTH: usize = 4;

#[test]
fn many_under_shuttle() {
    fn all<T: Table<Explored>>()
    where
        T::Thread: 'static,
    {
        let exclusion = || programs::exclusion::<Explored, Whole<Explored, T>>(4, 3, |_| ());
        explore_part(exclusion, SCHEDULES, DEPTH);
        let queue = || programs::queue_up::<Explored, Whole<Explored, T>>(5);
        explore_part(queue, SCHEDULES, DEPTH);
        let another = || programs::released_by_another::<Explored, Whole<Explored, T>>();
        explore_part(another, SCHEDULES, DEPTH);
        explore_part(|| nested::<Explored, T>(3, 1), SCHEDULES, DEPTH);
        explore_part(|| kept_out::<Explored, T>(), SCHEDULES, DEPTH);
    }
    all::<Tickets<Explored>>();
    all::<Nodes<Explored>>();
    type Meddled = SideQueues<Explored, Interrupted<Requester<Explored, 0>>, 1>;
    explore_part(|| interrupted::<Explored, Meddled>(3), SCHEDULES, DEPTH);
}
