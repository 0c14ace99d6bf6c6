//! All executions of two threads that use a pool at the same time, with few preemptions. Whoever has a
//! frame writes into its memory, so a frame with two owners is a race that loom finds.

use std::sync::Arc;

use kilocore_checking::{Altered, Thorough, Threads, model};
use kilocore_locks::Ttas;
use kilocore_pages::{
    Buddy, Cold, Contents, Direct, FrameId, FreeFrames, Geometry, LlFree, PagePolicy, Tiered,
    TieredOptions,
};
use kilocore_platform::{CpuId, Loom, NodeId};

use crate::watched::Watched;

type Machine = Altered<Loom, Thorough>;
type Pool = Watched<Machine, Tiered<Machine, LlFree<Machine>>>;
type Free = Watched<Machine, Direct<Machine, Cold<Machine, LlFree<Machine>>>>;

const PREEMPTIONS: Option<usize> = Some(3);

/// Runs two threads on cores of their own, after what `before` did. Then the free frames are those that
/// nobody has kept: all of them.
fn both<A: PagePolicy>(
    make: impl Fn() -> A + Send + Sync + 'static,
    before: fn(&Watched<Machine, A>),
    one: fn(&Watched<Machine, A>),
    other: fn(&Watched<Machine, A>),
) {
    both_within(PREEMPTIONS, make, [before, one, other]);
}

/// The same with so many preemptions.
fn both_within<A: PagePolicy>(
    preemptions: Option<usize>,
    make: impl Fn() -> A + Send + Sync + 'static,
    steps: [fn(&Watched<Machine, A>); 3],
) {
    let [before, one, other] = steps;
    model(preemptions, move || {
        Loom::place(CpuId(0), NodeId(0));
        let pool = Arc::new(Watched::new(make()));
        before(&pool);
        let others = Arc::clone(&pool);
        let thread = Machine::spawn(move || {
            Loom::place(CpuId(1), NodeId(0));
            other(&others);
        });
        one(&pool);
        Machine::join(thread);
        let mut pool = Arc::into_inner(pool).expect("the other thread has ended");
        let frames = pool.policy.frames();
        assert_eq!(pool.free(), (0..frames).collect::<Vec<_>>(), "no frame is lost");
    });
}

fn nothing<A: PagePolicy>(_: &Watched<Machine, A>) {}

/// Allocates a frame, which has to be there, and releases it.
fn use_one<A: PagePolicy>(pool: &Watched<Machine, A>, owner: u32) {
    let frame = pool.allocate(owner).expect("there is a frame for each thread");
    pool.release(frame, owner);
}

/// Allocates a frame if there is one, and releases it.
fn try_one<A: PagePolicy>(pool: &Watched<Machine, A>, owner: u32) {
    if let Some(frame) = pool.allocate(owner) {
        pool.release(frame, owner);
    }
}

const SMALL: Geometry = Geometry { words_per_child: 1, children_per_tree: 1 };

/// So many frames in one child of one tree.
fn free_frames(frames: u32) -> Direct<Machine, Cold<Machine, LlFree<Machine>>> {
    Direct::new(2, Cold::new(LlFree::new(frames, 2, SMALL), Contents::Zero))
}

#[test]
fn two_threads_share_two_frames() {
    both::<Direct<_, _>>(
        || free_frames(2),
        nothing,
        |pool| use_one(pool, 1),
        |pool| use_one(pool, 2),
    );
}

#[test]
fn two_threads_pass_one_frame_on() {
    let twice = |pool: &Free| (0..2).for_each(|_| try_one(pool, 1));
    both(|| free_frames(1), nothing, twice, |pool| try_one(pool, 2));
}

#[test]
fn a_zero_frame_is_passed_on_as_such() {
    let zero = |pool: &Free| {
        if let Some(frame) = pool.allocate(1) {
            pool.release_zero(frame, 1);
        }
    };
    both(|| free_frames(1), |pool| use_one(pool, 3), zero, |pool| try_one(pool, 2));
}

#[test]
fn a_run_is_taken_beside_single_frames() {
    let run = |pool: &Free| {
        let frames = 2;
        if let Some(first) = pool.allocate_run(frames, 1) {
            pool.release_run(first, frames, 1);
        }
    };
    both(|| free_frames(3), nothing, run, |pool| use_one(pool, 2));
}

#[test]
fn memory_goes_back_while_frames_are_used() {
    let before = |pool: &Free| {
        use_one(pool, 3);
        pool.decay();
    };
    // Meanwhile there may be no frame for others.
    both(|| free_frames(2), before, Watched::decay, |pool| try_one(pool, 2));
}

/// Trees of one child each: the threads reserve different ones, and take from each other's.
#[test]
fn two_threads_reserve_trees() {
    let make = || Direct::new(2, Cold::new(LlFree::new(65, 2, SMALL), Contents::Zero));
    let all_of_the_first = |pool: &Free| {
        let frames = 64;
        let first = pool.allocate_run(frames, 3).expect("nobody else is there");
        pool.release_run(first, frames, 3);
    };
    both(make, all_of_the_first, |pool| use_one(pool, 1), |pool| use_one(pool, 2));
}

#[test]
fn a_frame_of_a_buddy_system_is_passed_on() {
    let make = || {
        let buddy = Buddy::<Machine, Ttas<Machine>>::new(1);
        Direct::<Machine, _>::new(2, Cold::new(buddy, Contents::Zero))
    };
    both(make, nothing, |pool| try_one(pool, 1), |pool| try_one(pool, 2));
}

/// Lists of two frames, which spill one at a time, above a shared list of two.
fn tiers(frames: u32, private: u32, shared: u32) -> Tiered<Machine, LlFree<Machine>> {
    let options = TieredOptions {
        last_level_caches: [0, 0].into(),
        private_frames: private,
        shared_frames: shared,
        batch: 1,
        cores_per_stripe: 2,
    };
    Tiered::tiered(&options, LlFree::new(frames, 2, SMALL), Contents::Zero)
}

/// Puts a frame on the list of core 0.
fn warm(pool: &Pool) {
    use_one(pool, 3);
}

#[test]
fn each_core_uses_its_own_list() {
    both(|| tiers(2, 2, 2), warm, |pool| use_one(pool, 1), |pool| try_one(pool, 2));
}

#[test]
fn one_core_spills_what_the_other_is_refilled_with() {
    let spill = |pool: &Pool| {
        let frames = [1, 1].map(|owner| pool.allocate(owner).expect("there are two for it"));
        frames.into_iter().for_each(|frame| pool.release(frame, 1));
    };
    // With three it takes ten times as long.
    both_within(Some(2), || tiers(3, 1, 1), [nothing, spill, |pool| try_one(pool, 2)]);
}

#[test]
fn the_last_frame_is_on_the_other_cores_list() {
    both(|| tiers(1, 2, 1), warm, |pool| try_one(pool, 1), |pool| try_one(pool, 2));
}

#[test]
fn lists_are_emptied_while_they_are_used() {
    let drain = |pool: &Pool| pool.policy.drain();
    both(|| tiers(2, 2, 1), warm, drain, |pool| try_one(pool, 2));
}

#[test]
fn a_run_needs_what_is_on_the_lists() {
    let run = |pool: &Pool| {
        let frames = 2;
        if let Some(first) = pool.allocate_run(frames, 1) {
            pool.release_run(first, frames, 1);
        }
    };
    both(|| tiers(2, 2, 1), warm, run, |pool| try_one(pool, 2));
}

#[test]
fn memory_of_the_cold_tier_goes_back_while_frames_move() {
    let before = |pool: &Pool| {
        use_one(pool, 3);
        pool.policy.drain();
        pool.decay();
    };
    both(|| tiers(2, 1, 0), before, Watched::decay, |pool| try_one(pool, 2));
}

#[test]
fn certain_frames_are_taken_while_others_use_them() {
    let these = |pool: &Pool| {
        if pool.allocate_these(FrameId(0), 2, 1) {
            pool.release_run(FrameId(0), 2, 1);
        }
    };
    both(|| tiers(2, 2, 1), warm, these, |pool| try_one(pool, 2));
}

/// Two threads on one core: one of them finds the list held.
#[test]
fn two_threads_of_one_core_do_not_wait_for_each_other() {
    let on_core_0 = |pool: &Pool| {
        Loom::place(CpuId(0), NodeId(0));
        use_one(pool, 2);
    };
    both(|| tiers(3, 2, 2), warm, |pool| use_one(pool, 1), on_core_0);
}

/// The counters of LLFree, used as the tiers use them: by the batch.
#[test]
fn batches_are_taken_and_put_back() {
    model(PREEMPTIONS, || {
        let free = Arc::new(LlFree::<Machine>::new(3, 2, SMALL));
        let batch = |free: &LlFree<Machine>, core| {
            let mut frames = Vec::new();
            let count = free.take_many(CpuId(core), 2, |frame| frames.push(frame));
            assert_eq!(count as usize, frames.len());
            // SAFETY: they were taken above.
            unsafe { free.put_many(CpuId(core), frames.into_iter()) };
            count
        };
        let others = Arc::clone(&free);
        let thread = Machine::spawn(move || assert!(batch(&others, 1) > 0));
        assert!(batch(&free, 0) > 0, "three frames are enough for both to get one");
        Machine::join(thread);
        let mut free = Arc::into_inner(free).expect("the other thread has ended");
        let mut count = 0;
        free.validate(|_| count += 1);
        assert_eq!(count, 3);
    });
}
