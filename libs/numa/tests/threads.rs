//! Real threads on this host, more than it has cores.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use kilocore_numa::{Nodes, ReadGuard, Replicated, ReplicatedOn};
use kilocore_platform::{Native, NodeId};

/// A value whose parts agree.
#[derive(Clone)]
struct Parts(Vec<u64>);

impl Parts {
    fn look(&self) -> u64 {
        assert!(self.0.iter().all(|part| *part == self.0[0]), "half of a change");
        self.0[0]
    }
}

fn storm(nodes: &Nodes) {
    const UPDATES: u64 = 5_000;
    let data = ReplicatedOn::<Native, _>::on(nodes, Parts(vec![0; 100]));
    let told = AtomicU64::new(0);
    let read = |keep: bool| {
        // A guard that outlives the next read, but does not keep writers waiting for ever.
        let mut kept = None;
        for turn in 0_u32.. {
            let before = told.load(Ordering::Acquire);
            let guard = data.read();
            let seen = guard.look();
            assert!(seen >= before, "an old value");
            told.fetch_max(seen, Ordering::Release);
            if seen == 2 * UPDATES {
                return;
            }
            drop(kept.take());
            kept = keep.then_some(guard);
            if turn % 32 == 0 {
                // A reader that loses its core with a guard keeps writers waiting until it has one again.
                drop(kept.take());
                thread::yield_now();
            }
        }
    };
    thread::scope(|scope| {
        for writer in 0..2 {
            let data = &data;
            scope.spawn(move || {
                for _ in 0..UPDATES {
                    data.update(|copy| copy.0.iter_mut().for_each(|part| *part += 1));
                    if writer == 0 {
                        thread::yield_now();
                    }
                }
            });
        }
        for reader in 0..4 {
            scope.spawn(move || read(reader % 2 == 0));
        }
    });
    assert_eq!(data.read().look(), 2 * UPDATES);
}

#[test]
fn readers_see_whole_updates_in_order() {
    storm(&Nodes::of_this_machine());
    storm(&Nodes::new([0, 1].map(NodeId)));
    storm(&Nodes::new([0, 1, 2].map(NodeId)));
    storm(&Nodes::new([NodeId(4)]));
}

#[test]
fn a_thread_reads_within_an_update() {
    let data = ReplicatedOn::<Native, _>::on(&Nodes::new([0, 1].map(NodeId)), 1);
    let mut seen = Vec::new();
    data.update(|copy| {
        seen.push(*data.read());
        *copy = 2;
        seen.push(*data.read());
    });
    assert_eq!(seen, [1, 1, 2, 2], "it sees what everybody sees");
}

#[test]
fn a_guard_may_be_dropped_by_another_thread() {
    let data = Replicated::new(String::from("old"));
    let guard = data.read();
    let crowd: Vec<ReadGuard<'_, Native, String>> = (0..10).map(|_| data.read()).collect();
    thread::scope(|scope| {
        scope.spawn(|| data.store(String::from("new")));
        scope.spawn(move || {
            assert_eq!((guard.as_str(), crowd.len()), ("old", 10));
            drop(crowd);
            drop(guard);
        });
    });
    assert_eq!(data.read().as_str(), "new");
}

/// What may be shared, and what not.
#[test]
fn only_what_may_be_shared_is() {
    fn shared<T: Send + Sync>() {}
    shared::<Replicated<Vec<u8>>>();
    shared::<ReadGuard<'_, Native, Vec<u8>>>();
}
