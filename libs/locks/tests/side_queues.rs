//! Queues beside locks of one word, under the checkers: a lock made of both passes the programs of every
//! lock, and the waiters of two locks that have to share a slot do not wait for each other.

use std::sync::Arc;

use crate::common;

use common::altered::{Altered, Sound, Thorough};
use common::side_queues::{
    Interrupted, Nodes, Small, Table, Tickets, Whole, interrupted, kept_out, nested,
};
use common::{Threads, explore_part, model, programs};
use kilocore_locks::{Requester, SideQueues, SmallLock};
use kilocore_platform::{Atomic, Loom, Ordering, Platform, SharedCell, Shuttle};

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

/// A lock by another key than its own, with a slot of its own.
struct Alias<P: Platform>(Arc<Small<P>>, u64);

impl<P: Platform> SmallLock<P> for Alias<P> {
    const HELD: u32 = <Small<P> as SmallLock<P>>::HELD;
    const KEEP_OUT: u32 = <Small<P> as SmallLock<P>>::KEEP_OUT;
    fn word(&self) -> &P::U32 {
        self.0.word()
    }
    fn key(&self) -> u64 {
        self.1
    }
}

/// Two wait for a lock that is held, each in a queue of its own.
fn two_queues<P: Threads>() {
    let lock = Arc::new(Small::<P>::new(0));
    assert!(lock.try_acquire());
    let shared = Arc::new((SideQueues::<P, Requester<P, 0>, 2>::new(), P::Cell::new(0)));
    let waiters = [0, 1].map(|key| {
        let (lock, shared) = (Alias(lock.clone(), key), shared.clone());
        P::spawn(move || {
            let (queues, count) = &*shared;
            queues.acquire(&lock, &mut ());
            // SAFETY: this thread has the lock; the checker reports if that is not enough.
            count.with_mut(|count| unsafe { *count += 1 });
            lock.0.release();
        })
    });
    lock.release();
    for waiter in waiters {
        P::join(waiter);
    }
    assert_eq!(lock.word.load(Ordering::Relaxed), 0, "nobody waits");
    // SAFETY: the others have ended.
    assert_eq!(shared.1.with(|count| unsafe { *count }), 2);
}

#[test]
fn a_lock_with_two_keys_is_passed_on() {
    // loom lets the two wait by turns without end if it may take the processor away more often.
    model(Some(1), two_queues::<Checked>);
    explore_part(two_queues::<Explored>, SCHEDULES, DEPTH);
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
