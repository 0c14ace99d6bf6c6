//! Which frame an allocation gets, and where a released one goes: the rules of the paper.

use kilocore_pages::{
    Allocated, Contents, Entry, FrameId, Geometry, LlFree, PagePolicy, Tier, Tiered, TieredOptions,
};
use kilocore_platform::{CpuId, Loom, NodeId};

/// On loom's platform a test says on which core it is. It uses one thread only.
type Pool = Tiered<Loom>;

/// Three cores, of which two share a last-level cache; lists of four frames that spill two; shared lists of
/// six.
fn pool() -> Pool {
    let options = TieredOptions {
        last_level_caches: [0, 0, 1].into(),
        private_frames: 4,
        shared_frames: 6,
        batch: 2,
        cores_per_stripe: 2,
    };
    Tiered::tiered(&options, LlFree::new(64, 3, Geometry::STANDARD), Contents::Unknown)
}

fn on(core: u32) {
    Loom::place(CpuId(core), NodeId(0));
}

fn allocate(pool: &Pool) -> (u32, Tier) {
    let Allocated { entry, tier } = pool.allocate().expect("there are free frames");
    (entry.frame().0, tier)
}

fn release(pool: &Pool, frame: u32) {
    // SAFETY: the tests release what they have allocated, once.
    unsafe { pool.release(Entry::new(FrameId(frame), Contents::Unknown)) };
}

/// Takes frames 0 to 15, which leaves all lists empty.
fn take_sixteen(pool: &Pool) {
    let frames: Vec<_> = (0..16).map(|_| allocate(pool).0).collect();
    assert_eq!(frames, (0..16).collect::<Vec<_>>());
}

/// Loom's words need its runtime.
fn in_loom(test: fn(&Pool)) {
    loom_run(move || {
        on(0);
        let pool = pool();
        take_sixteen(&pool);
        test(&pool);
    });
}

fn loom_run(test: impl Fn() + Send + Sync + 'static) {
    kilocore_checking::model(Some(0), test);
}

#[test]
fn the_frame_released_last_is_allocated_first() {
    in_loom(|pool| {
        for frame in [3, 1, 2] {
            release(pool, frame);
        }
        assert_eq!([2, 1, 3].map(|frame| (frame, Tier::Private)), [(); 3].map(|()| allocate(pool)));
    });
}

#[test]
fn what_a_list_has_too_much_another_core_of_the_cache_gets() {
    in_loom(|pool| {
        for frame in 0..4 {
            release(pool, frame);
        }
        // The list was full, and its two oldest went to the shared list.
        let now = pool.statistics();
        assert_eq!((now.private_now, now.shared_now), (2, 2));
        on(1);
        // The newest of these first.
        assert_eq!(allocate(pool), (1, Tier::Shared));
        assert_eq!(allocate(pool), (0, Tier::Private));
        on(0);
        assert_eq!(allocate(pool), (3, Tier::Private));
    });
}

#[test]
fn a_core_below_another_cache_gets_a_cold_frame() {
    in_loom(|pool| {
        for frame in 0..4 {
            release(pool, frame);
        }
        on(2);
        let (frame, tier) = allocate(pool);
        assert_eq!(tier, Tier::Cold);
        assert!(frame >= 16, "{frame} was never used");
    });
}

#[test]
fn what_the_shared_list_has_too_much_is_cold() {
    in_loom(|pool| {
        for frame in 0..12 {
            release(pool, frame);
        }
        // Two on the core's list, six on the shared one, and the four oldest cold.
        let now = pool.statistics();
        assert_eq!((now.private_now, now.shared_now, now.cold_now), (2, 6, 64 - 16 + 4));
        let frames: Vec<_> = (0..8).map(|_| allocate(pool).0).collect();
        assert_eq!(frames, [11, 10, 9, 8, 7, 6, 5, 4]);
        assert_eq!(allocate(pool).1, Tier::Cold);
    });
}

#[test]
fn the_last_frames_of_another_cache_are_found() {
    in_loom(|pool| {
        for frame in 0..16 {
            release(pool, frame);
        }
        on(2);
        let mut all: Vec<_> = std::iter::from_fn(|| pool.allocate())
            .map(|allocated| allocated.entry.frame().0)
            .collect();
        all.sort_unstable();
        assert_eq!(all, (0..64).collect::<Vec<_>>(), "no frame is out of reach");
    });
}

#[test]
fn without_a_private_list_each_frame_goes_on_at_once() {
    loom_run(|| {
        on(0);
        let options = TieredOptions { private_frames: 0, ..TieredOptions::one_cache(1, 0, 8) };
        let pool: Pool =
            Tiered::tiered(&options, LlFree::new(4, 1, Geometry::STANDARD), Contents::Unknown);
        let (frame, _) = allocate(&pool);
        release(&pool, frame);
        assert_eq!(pool.statistics().shared_now, 1);
        assert_eq!(allocate(&pool), (frame, Tier::Shared));
    });
}
