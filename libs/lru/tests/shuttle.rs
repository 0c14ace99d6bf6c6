//! Three threads with more frames and stripes than loom can handle, under random schedules and under
//! those of PCT. shuttle assumes sequentially consistent memory; orderings are checked under loom.

use std::sync::Arc;

use kilocore_checking::{Altered, Sound, Threads, explore_part};
use kilocore_locks::Ttas;
use kilocore_lru::{
    Class, Fate, FolioOrder, FrameId, Index, Layout, List, Locking, MultiGeneration, Options,
    PageHash, PageLists, Policy, S3Fifo, S3FifoOptions, Striped,
};
use kilocore_platform::{Atomic, AtomicInt, CpuId, NodeId, Ordering, Platform, Shuttle, Wait};

type Machine = Altered<Shuttle, Sound>;
type Lists = Striped<Machine, Ttas<Machine>>;

/// The number of schedules of each kind, for each layout.
const SCHEDULES: usize = 1_000;
/// The number of preemptions that PCT places in a schedule.
const DEPTH: usize = 4;

/// Each thread adds two frames, and uses those of the others as well.
const THREADS: u32 = 3;
const FRAMES: u32 = 2 * THREADS;

/// Two groups of frames in three stripes, so that threads meet at locks and also hold different ones.
const SMALL: Layout = Layout { index: Index::Modulo, group_bits: 1, ..Layout::finer(3) };

fn class(frame: u32) -> Class {
    if frame.is_multiple_of(2) { Class::File } else { Class::Anonymous }
}

/// Returns how many frames this thread has taken out for good. Its frames are two pages, or one folio.
fn one_thread(lists: &impl PageLists<Machine>, thread: u32, order: FolioOrder) -> u32 {
    let at = |step: u32| FrameId((2 * thread + step) % FRAMES);
    for step in (0..2).step_by(order.frames() as usize) {
        let frame = at(step);
        let hash = Some(PageHash(frame.0.into()));
        lists.add_folio(frame, order, class(frame.0), hash).expect("no other thread adds it");
    }
    for step in [1, 2, 2, 3, 1] {
        lists.touch(at(step));
    }
    let mut removed = 0;
    // The other threads put it back.
    if let Some(isolated) = lists.isolate(at(2))
        && thread == 0
    {
        isolated.remove();
        removed += order.frames();
    }
    lists.deactivate(at(1));
    lists.rotate(at(3));
    lists.set_evictable(at(4), thread != 1);
    if thread == 2 {
        lists.drain();
    }
    // It keeps every second page that it looks at.
    let mut keep = false;
    removed += lists.reclaim(class(thread), 1, &mut |_| {
        keep = !keep;
        if keep { Fate::Activate } else { Fate::Reclaim }
    });
    removed
}

fn three_threads(layout: Layout, sorted: bool) {
    three_threads_with(layout, sorted, Policy::PLAIN);
}

fn three_threads_with(layout: Layout, sorted: bool, policy: Policy) {
    let options = Options { layout, batch: 2, sorted };
    let lists = Lists::with_policy(FRAMES, 2, options, policy).expect("the options are in range");
    three_threads_on(lists, Lists::validate, FolioOrder::PAGE);
}

fn three_threads_on<T: PageLists<Machine> + 'static>(
    lists: T,
    validate: fn(&mut T),
    order: FolioOrder,
) {
    let lists = Arc::new(lists);
    let removed = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let threads: Vec<_> = (0..THREADS)
        .map(|thread| {
            let (lists, removed) = (Arc::clone(&lists), Arc::clone(&removed));
            Machine::spawn(move || {
                Shuttle::place(CpuId(thread % 2), NodeId(0));
                let count = one_thread(&*lists, thread, order);
                removed.fetch_add(count, std::sync::atomic::Ordering::SeqCst);
            })
        })
        .collect();
    threads.into_iter().for_each(Machine::join);
    let mut lists = Arc::into_inner(lists).expect("the other threads have ended");
    lists.drain();
    validate(&mut lists);
    let listed: u32 = List::ALL.into_iter().map(|list| lists.len(list)).sum();
    let removed = removed.load(std::sync::atomic::Ordering::SeqCst);
    assert_eq!(listed + removed, FRAMES, "no page is lost, and none is there twice");
}

#[test]
fn no_page_is_lost_under_one_lock() {
    explore_part(|| three_threads(Layout::STOCK, false), SCHEDULES, DEPTH);
}

#[test]
fn no_page_is_lost_with_a_lock_for_each_list() {
    explore_part(
        || three_threads(Layout { locking: Locking::PerList, ..SMALL }, false),
        SCHEDULES,
        DEPTH,
    );
}

#[test]
fn no_page_is_lost_with_a_lock_for_each_stripe() {
    explore_part(|| three_threads(SMALL, false), SCHEDULES, DEPTH);
}

#[test]
fn no_page_is_lost_in_sorted_batches() {
    explore_part(|| three_threads(SMALL, true), SCHEDULES, DEPTH);
}

#[test]
fn no_page_is_lost_where_the_oldest_tail_goes_first() {
    explore_part(|| three_threads_with(SMALL, false, Policy::RESISTANT), SCHEDULES, DEPTH);
}

#[test]
fn no_page_is_lost_where_uses_only_count() {
    explore_part(|| three_threads_with(SMALL, true, Policy::LAZY), SCHEDULES, DEPTH);
}

#[test]
fn no_folio_is_lost() {
    let order = FolioOrder::new(1).expect("it is small");
    for (locking, policy) in
        [(Locking::PerStripe, Policy::LAZY), (Locking::PerList, Policy::RESISTANT)]
    {
        let lists = move || {
            let layout = Layout { locking, ..SMALL };
            let options = Options { layout, batch: 2, sorted: false };
            Lists::with_policy(FRAMES, 2, options, policy).expect("the options are in range")
        };
        explore_part(move || three_threads_on(lists(), Lists::validate, order), SCHEDULES, DEPTH);
    }
}

#[test]
fn s3_fifo_loses_no_page() {
    let queues = || {
        let options = S3FifoOptions { batch: 2, ..S3FifoOptions::PAPER };
        S3Fifo::<Machine, Ttas<Machine>>::new(FRAMES, 2, options).expect("in range")
    };
    explore_part(
        move || three_threads_on(queues(), S3Fifo::validate, FolioOrder::PAGE),
        SCHEDULES,
        DEPTH,
    );
}

#[test]
fn generations_lose_no_page() {
    let generations =
        || MultiGeneration::<Machine, Ttas<Machine>>::new(FRAMES, 2, 2).expect("in range");
    explore_part(
        move || three_threads_on(generations(), MultiGeneration::validate, FolioOrder::PAGE),
        SCHEDULES,
        DEPTH,
    );
}

/// The bound of many cores that add equally fast: fewer pages than a batch of each core.
#[test]
fn no_page_goes_long_before_an_older_one_of_another_core() {
    const CORES: u32 = 3;
    const BATCH: u32 = 4;
    let in_order = || {
        let layout = Layout { group_bits: 0, ..Layout::finer(8) };
        let options = Options { layout, batch: BATCH, sorted: true };
        let lists = Lists::with_policy(64, CORES, options, Policy::BALANCED).expect("in range");
        // By frame, the number of its addition.
        let (mut there, mut added) = ([None; 64], 0);
        for round in 0..40 {
            for frame in (0..64).filter(|frame| (frame * 7 + round) % 3 > 0) {
                if there[frame as usize].is_none() {
                    Shuttle::place(CpuId(added % CORES), NodeId(0));
                    lists.add(FrameId(frame), Class::File).expect("it is no member");
                    there[frame as usize] = Some(added);
                    added += 1;
                }
            }
            let mut gone = Vec::new();
            lists.reclaim(Class::File, 20, &mut |frame| {
                gone.push(frame);
                Fate::Reclaim
            });
            for frame in gone {
                let oldest = there.iter().flatten().min().copied().expect("a page is there");
                let number = there[frame.0 as usize].take().expect("it was added");
                assert!(number - oldest < BATCH * CORES, "{number} before {oldest}");
            }
        }
    };
    // One thread, and so one schedule.
    explore_part(in_order, 1, 1);
}

/// The same bound with a thread on each core, which add at once: one page each, and then they wait for
/// one another. In which order the pages of one step come is not said.
#[test]
fn no_page_goes_long_before_an_older_one_of_another_core_that_adds_at_once() {
    const CORES: u32 = 3;
    const BATCH: u32 = 4;
    const STEPS: u32 = 20;
    /// After so many steps, that many pages go.
    const ROUND: (u32, u32) = (5, 8);
    let at_once = || {
        let layout = Layout { group_bits: 0, ..Layout::finer(8) };
        let options = Options { layout, batch: BATCH, sorted: true };
        let lists = Lists::with_policy(64, CORES, options, Policy::BALANCED).expect("in range");
        let shared = Arc::new((lists, <Machine as Platform>::U32::new(0)));
        let meet = |arrived: &<Machine as Platform>::U32, meeting: u32| {
            arrived.fetch_add(1, Ordering::AcqRel);
            Machine::wait_until(arrived, Wait::Spin, |arrived| arrived >= CORES * meeting);
        };
        let threads: Vec<_> = (0..CORES)
            .map(|core| {
                let shared = Arc::clone(&shared);
                Machine::spawn(move || {
                    let (lists, arrived) = &*shared;
                    Shuttle::place(CpuId(core), NodeId(0));
                    // A page's frame is the number of its addition.
                    let mut gone = vec![false; (CORES * STEPS) as usize];
                    for step in 1..=STEPS {
                        let number = (step - 1) * CORES + core;
                        lists.add(FrameId(number), Class::File).expect("it is no member");
                        meet(arrived, 2 * step - 1);
                        if core == 0 && step.is_multiple_of(ROUND.0) {
                            let mut count = 0;
                            lists.reclaim(Class::File, ROUND.1, &mut |FrameId(number)| {
                                let oldest = gone.iter().position(|&gone| !gone).unwrap();
                                let before = number - oldest as u32;
                                assert!(before < (BATCH + 1) * CORES, "{number} before {oldest}");
                                gone[number as usize] = true;
                                count += 1;
                                Fate::Reclaim
                            });
                            assert!(count > 0, "no page went in step {step}");
                        }
                        meet(arrived, 2 * step);
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(Machine::join);
    };
    explore_part(at_once, SCHEDULES / 10, DEPTH);
}
