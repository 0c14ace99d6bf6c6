//! Three threads with more frames and tiers than loom can handle, under random schedules and under those
//! of PCT. shuttle assumes sequentially consistent memory; orderings are checked under loom.

use std::sync::Arc;

use kilocore_checking::{Altered, Sound, Threads, explore_part};
use kilocore_locks::Ttas;
use kilocore_pages::{
    Buddy, Cold, Contents, Direct, FrameId, Geometry, Linux4_18, Linux6_12, LlFree, PagePolicy,
    PerCore, Tiered, TieredOptions,
};
use kilocore_platform::{CpuId, NodeId, Shuttle};

use crate::watched::Watched;

type Machine = Altered<Shuttle, Sound>;

/// The number of schedules of each kind, for each pool.
const SCHEDULES: usize = 500;
/// The number of preemptions that PCT places in a schedule.
const DEPTH: usize = 4;

const THREADS: u32 = 3;
const FRAMES: u32 = 130;
const SMALL: Geometry = Geometry { words_per_child: 1, children_per_tree: 1 };

/// Each thread keeps some frames, releases them in another order, and does in between what moves the
/// frames of others.
fn one_thread<A: PagePolicy>(pool: &Watched<Machine, A>, thread: u32) {
    let owner = thread + 1;
    let mut own: Vec<FrameId> = Vec::new();
    for round in 0..4 {
        own.extend((0..=thread + 1).filter_map(|_| pool.allocate(owner)));
        match (thread, round) {
            (0, 1) => pool.policy.drain(),
            (0, 2) => {
                let frames = 8;
                if let Some(first) = pool.allocate_run(frames, owner) {
                    pool.release_run(first, frames, owner);
                }
            }
            (1, _) => pool.decay(),
            (2, 2) => pool.policy.tick(),
            _ => {}
        }
        for _ in 0..=thread {
            if !own.is_empty() {
                let frame = own.remove(round as usize % own.len());
                if round == 1 {
                    pool.release_zero(frame, owner);
                } else {
                    pool.release(frame, owner);
                }
            }
        }
    }
    own.into_iter().for_each(|frame| pool.release(frame, owner));
}

fn many_threads<A: PagePolicy>(policy: A) {
    let pool = Arc::new(Watched::<Machine, A>::new(policy));
    let handles: Vec<_> = (0..THREADS)
        .map(|thread| {
            let pool = Arc::clone(&pool);
            Machine::spawn(move || {
                // Two of the threads are on one core.
                Shuttle::place(CpuId(thread / 2), NodeId(0));
                one_thread(&pool, thread);
            })
        })
        .collect();
    handles.into_iter().for_each(Machine::join);
    let mut pool = Arc::into_inner(pool).expect("the threads have ended");
    assert_eq!(pool.free(), (0..FRAMES).collect::<Vec<_>>(), "each frame is free");
}

fn llfree() -> Cold<Machine, LlFree<Machine>> {
    Cold::new(LlFree::new(FRAMES, 2, SMALL), Contents::Zero)
}

fn buddy() -> Cold<Machine, Buddy<Machine, Ttas<Machine>>> {
    Cold::new(Buddy::new(FRAMES), Contents::Zero)
}

#[test]
fn tiers_lose_no_frame() {
    let pool = || {
        let options = TieredOptions {
            last_level_caches: [0, 1].into(),
            private_frames: 3,
            shared_frames: 4,
            batch: 2,
            cores_per_stripe: 1,
        };
        let free = LlFree::new(FRAMES, 2, SMALL);
        many_threads(Tiered::<Machine>::tiered(&options, free, Contents::Zero));
    };
    explore_part(pool, SCHEDULES, DEPTH);
}

#[test]
fn bitmaps_lose_no_frame() {
    explore_part(|| many_threads(Direct::<Machine, _>::new(2, llfree())), SCHEDULES, DEPTH);
}

#[test]
fn the_lists_of_linux_4_18_lose_no_frame() {
    let rule = Linux4_18 { batch: 2, high: 4 };
    explore_part(
        move || many_threads(PerCore::<Machine, _, _>::new(2, rule, buddy())),
        SCHEDULES,
        DEPTH,
    );
}

#[test]
fn the_lists_of_linux_6_12_lose_no_frame() {
    let rule = Linux6_12 { batch: 1, high_min: 2, high_max: 6 };
    explore_part(
        move || many_threads(PerCore::<Machine, _, _>::new(2, rule, buddy())),
        SCHEDULES,
        DEPTH,
    );
}
