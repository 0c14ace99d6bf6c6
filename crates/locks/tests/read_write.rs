//! The read-write lock under the checkers: writers are alone, readers see whole writes, and
//! nobody sleeps for ever.

mod common;

use std::sync::Arc;

use common::Threads;
use kilocore_locks::CentralRw;
use kilocore_platform::{Loom, Platform, SharedCell, Shuttle};

/// A lock and two numbers that are equal whenever nobody writes.
struct Pair<P: Platform> {
    lock: CentralRw<P>,
    numbers: [P::Cell<u32>; 2],
}

impl<P: Platform> Pair<P> {
    fn write(&self) {
        self.lock.acquire();
        for number in &self.numbers {
            // SAFETY: the writer is alone.
            number.with_mut(|number| unsafe { *number += 1 });
        }
        // SAFETY: acquired above.
        unsafe { self.lock.release() };
    }

    fn read(&self) -> u32 {
        self.lock.acquire_shared();
        // SAFETY: readers share the numbers with readers only.
        let seen = [0, 1].map(|i| self.numbers[i].with(|number| unsafe { *number }));
        // SAFETY: acquired above.
        unsafe { self.lock.release_shared() };
        assert_eq!(seen[0], seen[1], "a reader saw half of a write");
        seen[0]
    }
}

fn program<P: Threads>(writers: u32, readers: u32, rounds: u32) {
    let pair =
        Arc::new(Pair::<P> { lock: CentralRw::new(), numbers: [P::Cell::new(0), P::Cell::new(0)] });
    let start = |write: bool| {
        let pair = Arc::clone(&pair);
        P::spawn(move || {
            for _ in 0..rounds {
                if write {
                    pair.write();
                } else {
                    pair.read();
                }
            }
        })
    };
    let mut threads: Vec<P::Handle> = (1..writers).map(|_| start(true)).collect();
    threads.extend((0..readers).map(|_| start(false)));
    for _ in 0..rounds {
        pair.write();
    }
    threads.into_iter().for_each(P::join);
    assert_eq!(pair.read(), writers * rounds);
}

#[test]
fn loom_explores_a_writer_and_a_reader() {
    loom::model(|| program::<Loom>(1, 1, 1));
}

#[test]
fn loom_explores_two_writers() {
    loom::model(|| program::<Loom>(2, 0, 1));
}

#[test]
fn loom_explores_two_readers_and_a_writer() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(|| program::<Loom>(1, 2, 1));
}

#[test]
fn shuttle_tries_more_of_both() {
    common::explore(|| program::<Shuttle>(2, 2, 3), 3_000, 4);
}
