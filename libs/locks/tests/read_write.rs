//! The read-write locks under the checkers and natively: writers are alone, readers see whole
//! writes, a writer that becomes a reader lets no other writer in between, and nobody sleeps for
//! ever.

use crate::common;

use std::sync::Arc;

use common::altered::{Alteration, Altered, NoAcquire, NoRelease, Sequential, Sound, Thorough};
use common::read_write::{Deed, Pair, Read, Write, WriteAndRead};
use common::read_write::{awaits_a_reader, destroyed_by_last, lets_readers_in, program};
use common::read_write::{trying, trying_to_read, two_kinds_of_readers};
use common::verdict;
use kilocore_locks::{
    BravoCentral, BravoPhaseFair, BravoWriterFirst, CentralRw, NoSharing, PerCore, PhaseFair,
    RawRwLock, ReaderFirst, RwLockId, RwLockVisitor, Rwsem, Ticket, WriterFirst,
};
use kilocore_platform::{Loom, Native, Shuttle};

fn model(preemptions: Option<usize>, program: impl Fn() + Send + Sync + 'static) {
    let start = std::time::Instant::now();
    common::model(preemptions, program);
    eprintln!("{:.1?}", start.elapsed());
}

type Thoroughly = Altered<Loom, Thorough>;
type Randomly = Altered<Shuttle, Sound>;

type Plainly = Altered<Loom, Sound>;

/// Writes the tests of a lock in a module of its own. `$bound` is the most preemptions of two threads
/// that loom looks at, and `$longer` the machine for longer programs: a lock with a queue takes loom
/// minutes if all its loads are exchanges, too.
macro_rules! checks {
    ($module:ident, $lock:ident, $bound:expr, $longer:ty) => {
        mod $module {
            use super::*;

            type Explored = $lock<Thoroughly>;
            type Tried = $lock<Randomly>;

            #[test]
            fn loom_explores_a_writer_and_a_reader() {
                model($bound, || program::<Thoroughly, Explored>(&[&[Write], &[Read]]));
            }

            #[test]
            fn loom_explores_two_writers() {
                model($bound, || program::<Thoroughly, Explored>(&[&[Write], &[Write]]));
            }

            #[test]
            fn loom_explores_a_writer_that_reads_and_a_writer() {
                model($bound.or(Some(4)), || {
                    program::<Thoroughly, Explored>(&[&[WriteAndRead], &[Write]]);
                });
            }

            #[test]
            fn loom_explores_a_writer_that_reads_and_a_reader() {
                model(Some(3), || program::<Thoroughly, Explored>(&[&[WriteAndRead], &[Read]]));
            }

            #[test]
            fn loom_explores_a_writer_that_lets_a_reader_in() {
                model($bound, lets_readers_in::<Thoroughly, Explored>);
            }

            #[test]
            fn loom_explores_a_try() {
                model($bound, || trying::<Thoroughly, Explored>(Write));
                model($bound, || trying::<Thoroughly, Explored>(Read));
                model($bound, trying_to_read::<Thoroughly, Explored>);
            }

            #[test]
            fn loom_explores_two_readers_and_a_writer() {
                model(Some(2), || program::<Thoroughly, Explored>(&[&[Write], &[Read], &[Read]]));
            }

            #[test]
            fn loom_explores_writers_that_come_back() {
                model(Some(2), || program::<Thoroughly, Explored>(&[&[Write; 3], &[Write]]));
            }

            #[test]
            fn loom_explores_a_writer_that_others_pass_over() {
                model(Some(1), || {
                    program::<$longer, $lock<$longer>>(&[&[Write; 3], &[Write], &[Read]]);
                });
            }

            #[test]
            fn loom_explores_readers_that_writers_pass_over() {
                model(Some(1), || {
                    program::<$longer, $lock<$longer>>(&[&[Write; 3], &[Write], &[Read; 2]]);
                });
            }

            #[test]
            fn shuttle_tries_more_of_all() {
                let deeds = || {
                    program::<Randomly, Tried>(&[&[Write; 3], &[Write; 3], &[Read; 3], &[Read; 3]])
                };
                common::explore_part(deeds, 3_000, 4);
                let deeds = || {
                    program::<Randomly, Tried>(&[
                        &[Write; 3],
                        &[WriteAndRead; 3],
                        &[Read; 3],
                        &[Write; 3],
                    ]);
                };
                common::explore_part(deeds, 3_000, 4);
            }

            #[test]
            fn shuttle_lets_readers_in_and_tries() {
                common::explore_part(lets_readers_in::<Randomly, Tried>, 2_000, 3);
                common::explore_part(|| trying::<Randomly, Tried>(Write), 2_000, 3);
                common::explore_part(|| trying::<Randomly, Tried>(Read), 2_000, 3);
                common::explore_part(trying_to_read::<Randomly, Tried>, 2_000, 3);
            }

            #[test]
            fn readers_may_forget_how_they_entered() {
                model(Some(1), || two_kinds_of_readers::<Plainly, $lock<Plainly>>(1));
                common::explore_part(|| two_kinds_of_readers::<Randomly, Tried>(3), 2_000, 4);
            }

            #[test]
            fn a_native_crowd_loses_no_write() {
                crowd::<$lock<Native>>();
            }
        }
    };
}

checks!(central, CentralRw, None::<usize>, Thoroughly);
checks!(rwsem, Rwsem, Some(3), Plainly);
checks!(reader_first, ReaderFirst, Some(3), Plainly);
checks!(writer_first, WriterFirst, Some(3), Plainly);
checks!(phase_fair, PhaseFair, Some(3), Plainly);
checks!(bravo_central, BravoCentral, Some(3), Plainly);
checks!(bravo_writer_first, BravoWriterFirst, Some(3), Plainly);
checks!(bravo_phase_fair, BravoPhaseFair, Some(3), Plainly);
checks!(per_core, PerCore, Some(3), Plainly);

/// A reader shows itself, then looks at the bias: by a sequentially consistent load, as it ships. (An
/// exchange stands in its place in the other programs.)
#[test]
fn loom_explores_looks_that_are_sequentially_consistent() {
    type Machine = Altered<Loom, Sequential>;
    model(Some(3), || {
        program::<Machine, BravoWriterFirst<Machine>>(&[&[Read, Read], &[Write]]);
    });
}

/// A lock that does not touch its memory once it has admitted who comes next.
macro_rules! holders_destroy {
    ($($test:ident => $lock:ident;)*) => {
        $(#[test]
        fn $test() {
            for other in [Write, Read] {
                model(Some(3), move || destroyed_by_last::<Plainly, $lock<Plainly>>(other));
                let check = move || destroyed_by_last::<Randomly, $lock<Randomly>>(other);
                common::explore_part(check, 2_000, 3);
            }
        })*
    };
}

holders_destroy! {
    the_last_holder_destroys_a_lock_that_admits_readers_first => ReaderFirst;
    the_last_holder_destroys_a_lock_that_admits_writers_first => WriterFirst;
    the_last_holder_destroys_a_phase_fair_lock => PhaseFair;
    the_last_holder_destroys_a_biased_lock_that_admits_writers_first => BravoWriterFirst;
    the_last_holder_destroys_a_biased_phase_fair_lock => BravoPhaseFair;
    the_last_holder_destroys_a_lock_with_counts_per_core => PerCore;
}

/// The locks above are those that say so.
#[test]
fn locks_say_whether_their_holder_may_destroy_them() {
    let says: Vec<_> = RwLockId::for_programs::<Native>().collect();
    use RwLockId::{
        BravoPhaseFair, BravoWriterFirst, PerCore, PhaseFair, ReaderFirst, WriterFirst,
    };
    let all = [ReaderFirst, WriterFirst, PhaseFair, BravoWriterFirst, BravoPhaseFair, PerCore];
    assert_eq!(says, all);
}

/// A reader that waits for another one does not wait for ever, whatever a writer does.
#[test]
fn readers_await_readers_under_locks_that_admit_them_first() {
    model(Some(2), awaits_a_reader::<Plainly, ReaderFirst<Plainly>>);
    model(Some(2), awaits_a_reader::<Plainly, CentralRw<Plainly>>);
    common::explore_part(awaits_a_reader::<Randomly, ReaderFirst<Randomly>>, 3_000, 3);
    common::explore_part(awaits_a_reader::<Randomly, CentralRw<Randomly>>, 3_000, 3);
}

/// Checks one lock that does not say so, in which the check finds a way to wait for ever.
struct Hangs;

impl RwLockVisitor<Randomly> for Hangs {
    type Output = Option<String>;

    fn visit<L: RawRwLock<Randomly>>(self) -> Option<String> {
        (!L::READERS_PASS_WRITERS).then(|| {
            verdict(|| common::explore(awaits_a_reader::<Randomly, L>, 3_000, 3))
                .expect_err("readers pass writers, and the lock does not say so")
        })
    }
}

#[test]
fn locks_say_whether_readers_pass_writers() {
    let hang = |&lock: &RwLockId| lock.visit::<Randomly, _>(Hangs);
    let messages: Vec<String> = RwLockId::ALL.iter().filter_map(hang).collect();
    assert_eq!(messages.len(), RwLockId::ALL.len() - 2, "all but central-rw and reader-first");
    for message in messages {
        let how = ["deadlock", "exceeded max_steps"];
        assert!(how.iter().any(|how| message.contains(how)), "{message}");
    }
}

/// The check above finds the lock that does touch its memory.
#[test]
fn a_holder_must_not_destroy_the_semaphore() {
    let check = || destroyed_by_last::<Randomly, Rwsem<Randomly>>(Read);
    let message = verdict(|| common::explore(check, 2_000, 3)).expect_err("nothing was found");
    assert!(message.contains("after its last holder destroyed it"), "{message}");
}

/// The form whose waiters spin before they sleep.
#[test]
fn loom_explores_a_semaphore_whose_waiters_spin() {
    type Spinning = Rwsem<Thoroughly, 1>;
    model(Some(3), || program::<Thoroughly, Spinning>(&[&[Write], &[Read]]));
    model(Some(3), || program::<Thoroughly, Spinning>(&[&[WriteAndRead], &[Write]]));
    model(Some(2), || program::<Thoroughly, Spinning>(&[&[Write], &[Read], &[Read]]));
}

/// More threads than a small host has cores, all deeds mixed.
fn crowd<L: RawRwLock<Native>>() {
    const ROUNDS: u32 = 20_000;
    let pair = Pair::<Native, L>::new();
    let push = |pair: &Pair<Native, L>, number: u32| -> u32 {
        let mut written = 0;
        for round in 0..ROUNDS {
            match (round * 7 + number) % 10 {
                0 => pair.write(),
                1 => pair.write_and_read(),
                2 => written += u32::from(pair.try_write()),
                3 => _ = pair.try_read(),
                _ => _ = pair.read(),
            }
        }
        written + ROUNDS / 5
    };
    let threads = [0, 1, 2, 3].map(|number| {
        let pair = Arc::clone(&pair);
        std::thread::spawn(move || push(&pair, number))
    });
    let written: u32 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert_eq!(pair.read(), written, "a write was lost");
}

/// A mutual-exclusion lock in the part of a read-write lock.
#[test]
fn shuttle_tries_a_lock_without_sharing() {
    type Lock = NoSharing<Shuttle, Ticket<Shuttle>>;
    common::explore_part(
        || program::<Shuttle, Lock>(&[&[Write; 2], &[WriteAndRead; 2], &[Read; 2]]),
        1_000,
        3,
    );
}

const TWO_WRITERS: &[&[Deed]] = &[&[Write], &[Write]];
const WRITER_AND_READER: &[&[Deed]] = &[&[Write], &[Read]];

/// A race on the data is what a missing ordering amounts to.
fn assert_races<A: Alteration, L: RawRwLock<Altered<Loom, A>>>(threads: &'static [&[Deed]]) {
    let check = || model(Some(2), move || program::<Altered<Loom, A>, L>(threads));
    let message = verdict(check).expect_err("loom finds nothing wrong");
    assert!(message.contains("Causality violation"), "{threads:?}: {message}");
}

#[test]
fn without_release_every_lock_races() {
    for threads in [TWO_WRITERS, WRITER_AND_READER] {
        assert_races::<NoRelease, CentralRw<_>>(threads);
        assert_races::<NoRelease, Rwsem<_>>(threads);
        assert_races::<NoRelease, ReaderFirst<_>>(threads);
        assert_races::<NoRelease, WriterFirst<_>>(threads);
        assert_races::<NoRelease, PhaseFair<_>>(threads);
        assert_races::<NoRelease, BravoWriterFirst<_>>(threads);
        assert_races::<NoRelease, PerCore<_>>(threads);
    }
}

#[test]
fn without_acquire_every_lock_races() {
    for threads in [TWO_WRITERS, WRITER_AND_READER] {
        assert_races::<NoAcquire, CentralRw<_>>(threads);
        assert_races::<NoAcquire, Rwsem<_>>(threads);
        assert_races::<NoAcquire, ReaderFirst<_>>(threads);
        assert_races::<NoAcquire, WriterFirst<_>>(threads);
        assert_races::<NoAcquire, PhaseFair<_>>(threads);
        assert_races::<NoAcquire, BravoWriterFirst<_>>(threads);
        assert_races::<NoAcquire, PerCore<_>>(threads);
    }
}
