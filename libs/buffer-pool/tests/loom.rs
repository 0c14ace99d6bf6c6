//! All executions of two threads that use a pool at the same time, with few preemptions. Its lists are
//! checked elsewhere.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use kilocore_buffer_pool::{BufferPool, Options, PageId, PoolError, WhenPinned};
use kilocore_checking::{Altered, Thorough, Threads, model};
use kilocore_locks::Ttas;
use kilocore_lru::{Layout, Options as ListOptions, Striped};
use kilocore_platform::{CpuId, Loom, NodeId};

use crate::memory::Memory;

type Machine = Altered<Loom, Thorough>;
type Pool = BufferPool<Memory, Machine, Striped<Machine, Ttas<Machine>>>;

const PREEMPTIONS: usize = 2;

/// Two threads on cores of their own, after what `before` did. What is in the pages then, `after` checks.
fn both(capacity: u32, before: fn(&Pool), one: fn(&Pool), other: fn(&Pool), after: fn(&Pool)) {
    both_within(PREEMPTIONS, capacity, [before, one, other, after]);
}

/// The same with so many preemptions.
fn both_within(preemptions: usize, capacity: u32, steps: [fn(&Pool); 4]) {
    both_when(WhenPinned::Wait, preemptions, capacity, steps);
}

/// The same, and what to do if all pages are pinned.
fn both_when(when_pinned: WhenPinned, preemptions: usize, capacity: u32, steps: [fn(&Pool); 4]) {
    let [before, one, other, after] = steps;
    model(Some(preemptions), move || {
        let lists = ListOptions { layout: Layout::STOCK, batch: 1, sorted: false };
        let lists = Striped::new(2, 2, lists).expect("the options are in range");
        let options = Options { page_bytes: 1, capacity, most: 2, cores: 2, when_pinned };
        let pool = Pool::with_lists(Memory::default(), lists, options);
        let pool = Arc::new(pool.expect("the options are in range"));
        Loom::place(CpuId(0), NodeId(0));
        before(&pool);
        let others = Arc::clone(&pool);
        let thread = Machine::spawn(move || {
            Loom::place(CpuId(1), NodeId(0));
            other(&others);
        });
        one(&pool);
        Machine::join(thread);
        after(&pool);
    });
}

fn get(pool: &Pool, page: u64) -> u8 {
    pool.read(PageId(page)).expect("there is room")[0]
}

fn add(pool: &Pool, page: u64) {
    pool.write(PageId(page)).expect("there is room")[0] += 1;
}

fn nothing(_: &Pool) {}

#[test]
fn two_threads_ask_for_one_page() {
    let ask = |pool: &Pool| assert_eq!(get(pool, 1), 0);
    both(2, nothing, ask, ask, |pool| assert_eq!(pool.statistics().misses, 1));
}

const CHANGE: [fn(&Pool); 4] =
    [nothing, |pool| add(pool, 1), |pool| add(pool, 1), |pool| assert_eq!(get(pool, 1), 2)];

#[test]
#[ignore = "takes a minute, under `make soak`; with one preemption it always runs"]
fn two_threads_change_one_page() {
    both_within(PREEMPTIONS, 1, CHANGE);
}

/// Quick enough to be run for each weakened ordering, as are the others of this kind.
#[test]
fn two_threads_change_one_page_with_one_preemption() {
    both_within(1, 1, CHANGE);
}

const SHARE: [fn(&Pool); 4] = [
    |pool| add(pool, 1),
    |pool| add(pool, 1),
    |pool| add(pool, 2),
    |pool| assert_eq!((get(pool, 1), get(pool, 2)), (2, 1)),
];

#[test]
#[ignore = "takes a minute, under `make soak`; with one preemption it always runs"]
fn two_pages_share_one_frame() {
    both_within(PREEMPTIONS, 1, SHARE);
}

#[test]
fn two_pages_share_one_frame_with_one_preemption() {
    both_within(1, 1, SHARE);
}

#[test]
fn one_reads_a_page_that_has_to_go_for_another() {
    let before = |pool: &Pool| add(pool, 1);
    let read = |pool: &Pool| assert_eq!(get(pool, 1), 1);
    both(1, before, read, |pool| assert_eq!(get(pool, 2), 0), nothing);
}

#[test]
fn one_reads_what_the_other_changes() {
    let read = |pool: &Pool| assert!(get(pool, 1) <= 1);
    both(1, |pool| assert_eq!(get(pool, 1), 0), read, |pool| add(pool, 1), nothing);
}

/// The store has 1 in page 1. The frame that is taken next has had another page since.
fn leave_traces(pool: &Pool) {
    add(pool, 1);
    pool.write_back(PageId(1)).expect("the store works");
    pool.write(PageId(2)).expect("there is room")[0] = 7;
    for page in [1, 2] {
        pool.discard(PageId(page)).expect("nobody has pinned it");
    }
}

fn create(pool: &Pool) {
    let mut page = pool.create(PageId(1)).expect("there is room");
    assert_eq!(page[0], 0);
    page[0] = 2;
}

fn created(pool: &Pool) {
    assert_eq!(get(pool, 1), 2);
}

#[test]
fn two_threads_create_one_page() {
    both(2, leave_traces, create, create, created);
}

#[test]
fn one_creates_a_page_that_the_other_reads() {
    // What it had before, or has then; neither the zeros, nor what is left of page 2.
    let read = |pool: &Pool| assert!([1, 2].contains(&get(pool, 1)));
    both(2, leave_traces, create, read, created);
}

#[test]
fn what_was_changed_before_a_sync_is_durable_after_it() {
    let sync = |pool: &Pool| {
        pool.sync().expect("the store works");
        assert!(pool.store().synced(1) >= 1);
    };
    let after = |pool: &Pool| {
        pool.sync().expect("the store works");
        assert_eq!((pool.store().synced(1), pool.statistics().dirty), (2, 0));
    };
    both(1, |pool| add(pool, 1), sync, |pool| add(pool, 1), after);
}

/// The write may begin before the change, and end within the sync.
#[test]
fn what_was_changed_while_it_was_written_is_durable_after_a_sync() {
    let write = |pool: &Pool| {
        pool.write_back_some(1).expect("the store works");
    };
    let change = |pool: &Pool| {
        add(pool, 1);
        pool.sync().expect("the store works");
        assert_eq!(pool.store().synced(1), 2);
    };
    both_within(3, 1, [|pool| add(pool, 1), write, change, nothing]);
}

/// Who finds nothing to write does not hide from a sync what another thread begins to write.
#[test]
fn what_another_thread_writes_is_durable_after_a_sync() {
    let sync = |pool: &Pool| {
        pool.write_back(PageId(1)).expect("the store works");
        let seen = get(pool, 1);
        pool.sync().expect("the store works");
        assert!(pool.store().synced(1) >= seen);
    };
    let change = |pool: &Pool| {
        add(pool, 1);
        pool.write_back_some(1).expect("the store works");
    };
    both(1, |pool| assert_eq!(get(pool, 1), 0), sync, change, nothing);
}

#[test]
fn two_threads_sync() {
    let sync = |pool: &Pool| {
        pool.sync().expect("the store works");
        assert_eq!(pool.store().synced(1), 1);
    };
    both(1, |pool| add(pool, 1), sync, sync, nothing);
}

#[test]
fn a_page_that_could_not_be_written_is_written_later() {
    let before = |pool: &Pool| {
        add(pool, 1);
        pool.store().write_fails.store(true, Ordering::Relaxed);
    };
    let try_to = |pool: &Pool| match pool.sync() {
        Ok(()) => assert!(pool.store().synced(1) >= 1),
        Err(error) => assert!(matches!(error, PoolError::Write(PageId(1), _))),
    };
    let after = |pool: &Pool| {
        pool.sync().expect("the store works again");
        assert_eq!(pool.store().synced(1), 2);
    };
    both(1, before, try_to, |pool| add(pool, 1), after);
}

fn ask(pool: &Pool) {
    match pool.read(PageId(1)) {
        Ok(guard) => assert_eq!(guard[0], 0),
        Err(error) => assert!(matches!(error, PoolError::Read(PageId(1), _))),
    }
}

const READ_FAILS: [fn(&Pool); 4] = [
    |pool| pool.store().read_fails.store(true, Ordering::Relaxed),
    ask,
    ask,
    |pool| assert_eq!(get(pool, 1), 0),
];

#[test]
#[ignore = "takes a minute, under `make soak`; with one preemption it always runs"]
fn who_waits_for_a_page_that_cannot_be_read_reads_it() {
    both_within(PREEMPTIONS, 1, READ_FAILS);
}

#[test]
fn who_waits_for_a_page_that_cannot_be_read_reads_it_with_one_preemption() {
    both_within(1, 1, READ_FAILS);
}

const DISCARD_AND_READ: [fn(&Pool); 4] = [
    |pool| add(pool, 1),
    |pool| match pool.discard(PageId(1)) {
        Ok(()) | Err(PoolError::Pinned(PageId(1))) => {}
        Err(other) => panic!("{other}"),
    },
    // It was never written.
    |pool| assert!(get(pool, 1) <= 1),
    |pool| assert_eq!(get(pool, 2), 0),
];

#[test]
#[ignore = "takes a minute, under `make soak`; with one preemption it always runs"]
fn one_discards_what_the_other_reads() {
    both_within(PREEMPTIONS, 1, DISCARD_AND_READ);
}

#[test]
fn one_discards_what_the_other_reads_with_one_preemption() {
    both_within(1, 1, DISCARD_AND_READ);
}

/// The frame in which the page was to come is free then, for one owner alone.
#[test]
fn one_discards_what_the_other_fails_to_read() {
    let before = |pool: &Pool| pool.store().read_fails.store(true, Ordering::Relaxed);
    let read = |pool: &Pool| match pool.read(PageId(1)) {
        Ok(guard) => assert_eq!(guard[0], 0),
        Err(error) => assert!(matches!(error, PoolError::Read(PageId(1), _))),
    };
    let discard = |pool: &Pool| match pool.discard(PageId(1)) {
        Ok(()) | Err(PoolError::Pinned(PageId(1))) => {}
        Err(other) => panic!("{other}"),
    };
    both(1, before, read, discard, |pool| {
        for page in [2, 3] {
            add(pool, page);
            assert_eq!(get(pool, page), 1);
        }
    });
}

/// The frame in which the page was to come has another one by then.
#[test]
fn a_discard_takes_no_other_page() {
    let before = |pool: &Pool| pool.store().read_fails.store(true, Ordering::Relaxed);
    let read = |pool: &Pool| {
        let failed = pool.read(PageId(1)).is_err();
        assert!(failed);
        add(pool, 2);
    };
    let discard = |pool: &Pool| match pool.discard(PageId(1)) {
        Ok(()) | Err(PoolError::Pinned(PageId(1))) => {}
        Err(other) => panic!("{other}"),
    };
    both(1, before, read, discard, |pool| assert_eq!(get(pool, 2), 1));
}

#[test]
fn two_threads_discard_one_page() {
    let discard = |pool: &Pool| pool.discard(PageId(1)).expect("nobody has pinned it");
    both(1, |pool| add(pool, 1), discard, discard, |pool| assert_eq!(get(pool, 2), 0));
}

/// Nobody has a guard, so it is not refused. With two preemptions these take minutes.
#[test]
fn one_asks_for_the_frame_of_a_page_that_the_other_writes() {
    let write = |pool: &Pool| {
        pool.write_back(PageId(1)).expect("the store works");
    };
    let ask = |pool: &Pool| assert_eq!(get(pool, 2), 0);
    let after = |pool: &Pool| assert_eq!(get(pool, 1), 1);
    both_when(WhenPinned::Fail, 1, 1, [|pool| add(pool, 1), write, ask, after]);
}

#[test]
fn one_asks_for_the_frame_of_a_page_that_the_other_discards() {
    let discard = |pool: &Pool| pool.discard(PageId(1)).expect("nobody has pinned it");
    let ask = |pool: &Pool| assert_eq!(get(pool, 2), 0);
    let read = |pool: &Pool| assert_eq!(get(pool, 1), 0);
    both_when(WhenPinned::Fail, 1, 1, [read, discard, ask, read]);
}

const DISCARD: [fn(&Pool); 4] = [
    |pool| assert_eq!(get(pool, 1), 0),
    |pool| pool.discard(PageId(1)).expect("nobody has pinned it"),
    |pool| assert_eq!(get(pool, 2), 0),
    |pool| assert_eq!(get(pool, 3), 0),
];

#[test]
#[ignore = "takes a minute, under `make soak`; with one preemption it always runs"]
fn one_discards_a_page_that_has_to_go_for_another() {
    both_within(PREEMPTIONS, 1, DISCARD);
}

#[test]
fn one_discards_a_page_that_has_to_go_for_another_with_one_preemption() {
    both_within(1, 1, DISCARD);
}

const GIVE_AND_TAKE: [fn(&Pool); 4] = [
    |pool| assert_eq!((get(pool, 1), get(pool, 2)), (0, 0)),
    |pool| {
        for page in [1, 2] {
            pool.discard(PageId(page)).expect("nobody has pinned it");
        }
    },
    // If no frame is free yet, it finds nothing to take.
    |pool| {
        if !pool.contains(PageId(1)) {
            assert_eq!(get(pool, 3), 0);
        }
    },
    // If a frame were lost, this would wait for ever.
    |pool| {
        let first = pool.pin(PageId(5)).expect("there is room");
        drop((pool.pin(PageId(6)).expect("there is room"), first));
    },
];

#[test]
#[ignore = "takes a minute, under `make soak`; with one preemption it always runs"]
fn one_gives_frames_back_that_the_other_takes() {
    both_within(PREEMPTIONS, 2, GIVE_AND_TAKE);
}

#[test]
fn one_gives_frames_back_that_the_other_takes_with_one_preemption() {
    both_within(1, 2, GIVE_AND_TAKE);
}

#[test]
fn one_takes_a_frame_away_that_the_other_uses() {
    let shrink = |pool: &Pool| pool.resize(1).expect("a page can go");
    let after = |pool: &Pool| {
        assert_eq!((pool.capacity(), get(pool, 1), get(pool, 2)), (1, 2, 0));
    };
    both(2, |pool| add(pool, 1), shrink, |pool| add(pool, 1), after);
}

#[test]
fn one_adds_the_frame_that_the_other_waits_for() {
    let wait = |pool: &Pool| {
        // Both frames, at the same time.
        let first = pool.pin(PageId(1)).expect("there is room");
        let second = pool.pin(PageId(2)).expect("it waits");
        drop((first, second));
    };
    both(1, nothing, wait, |pool| pool.resize(2).expect("it is the most"), nothing);
}

const LAST_PIN: [fn(&Pool); 4] = [
    nothing,
    |pool| {
        let pin = pool.pin(PageId(1)).expect("it waits");
        assert_eq!(pin.read()[0], 0);
    },
    |pool| assert_eq!(get(pool, 2), 0),
    nothing,
];

#[test]
#[ignore = "takes a minute, under `make soak`; with one preemption it always runs"]
fn who_waits_for_the_last_pin_to_go_is_woken() {
    both_within(PREEMPTIONS, 1, LAST_PIN);
}

#[test]
fn who_waits_for_the_last_pin_to_go_is_woken_with_one_preemption() {
    both_within(1, 1, LAST_PIN);
}
