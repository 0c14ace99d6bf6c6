//! Three threads, more pages than frames, under random schedules and under those of PCT. shuttle assumes
//! sequentially consistent memory; orderings are checked under loom.

use std::sync::Arc;

use kilocore_buffer_pool::{BufferPool, Options, PageId, WhenPinned};
use kilocore_checking::{Altered, Sound, Threads, explore_part};
use kilocore_locks::Ttas;
use kilocore_lru::{Layout, Options as ListOptions, Striped};
use kilocore_platform::{CpuId, NodeId, Shuttle};

use crate::memory::Memory;

type Machine = Altered<Shuttle, Sound>;
type Pool = BufferPool<Memory, Machine, Striped<Machine, Ttas<Machine>>>;

/// The number of schedules of each kind.
const SCHEDULES: usize = 1_000;
/// The number of preemptions that PCT places in a schedule.
const DEPTH: usize = 4;

const THREADS: u64 = 3;
const PAGES: u64 = 5;
const ROUNDS: u64 = 3;

fn pool(capacity: u32) -> Pool {
    let lists = ListOptions {
        layout: Layout { group_bits: 0, ..Layout::finer(2) },
        batch: 1,
        sorted: true,
    };
    let lists = Striped::new(4, 2, lists).expect("the options are in range");
    let options =
        Options { page_bytes: 1, capacity, most: 4, cores: 2, when_pinned: WhenPinned::Wait };
    Pool::with_lists(Memory::default(), lists, options).expect("the options are in range")
}

fn one_thread(pool: &Pool, thread: u64) {
    for round in 0..ROUNDS {
        let page = PageId((2 * thread + round) % PAGES);
        pool.write(page).expect("it waits")[0] += 1;
        match (thread, round) {
            (0, 1) => pool.sync().expect("the store works"),
            (1, 1) => pool.resize(1).expect("it waits"),
            (1, 2) => pool.resize(4).expect("it is the most"),
            (2, _) => drop(pool.read(PageId(round)).expect("it waits")),
            _ => {}
        }
    }
}

fn many_threads() {
    let pool = Arc::new(pool(2));
    let handles: Vec<_> = (0..THREADS)
        .map(|thread| {
            let pool = Arc::clone(&pool);
            Machine::spawn(move || {
                Shuttle::place(CpuId(thread as u32), NodeId(0));
                one_thread(&pool, thread);
            })
        })
        .collect();
    handles.into_iter().for_each(Machine::join);
    pool.sync().expect("the store works");
    let total: u64 = (0..PAGES).map(|page| u64::from(pool.store().synced(page))).sum();
    assert_eq!(total, THREADS * ROUNDS);
}

#[test]
fn no_change_is_lost() {
    explore_part(many_threads, SCHEDULES, DEPTH);
}
