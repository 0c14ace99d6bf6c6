//! Any sequence of operations, beside a plain set of the frames that are held.

use std::collections::BTreeMap;

use kilocore_locks::Ttas;
use kilocore_pages::{
    Buddy, Cold, Contents, Direct, Entry, FrameId, FreeFrames, Geometry, Linux4_18, Linux6_12,
    LlFree, MOST_FRAMES, Order, PagePolicy, PerCore, Tiered, TieredOptions,
};
use kilocore_platform::{CpuId, Native};
use proptest::prelude::*;

#[derive(Debug, Clone, Copy)]
enum Step {
    Allocate,
    /// Releases one of the frames that are held, and says that it is zero, or not.
    Release(prop::sample::Index, bool),
    AllocateRun(u32),
    /// Releases as long a run as is held from one of the frames on.
    ReleaseRun(prop::sample::Index, u32),
    Drain,
    Decay,
    Tick,
}

/// The frames of a run, small ones more often.
fn frames() -> impl Strategy<Value = u32> {
    prop_oneof![1_u32..10, 1_u32..=512]
}

fn step() -> impl Strategy<Value = Step> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        8 => Just(Step::Allocate),
        6 => (index(), any::<bool>()).prop_map(|(at, zero)| Step::Release(at, zero)),
        2 => frames().prop_map(Step::AllocateRun),
        2 => (index(), frames()).prop_map(|(at, frames)| Step::ReleaseRun(at, frames)),
        1 => Just(Step::Drain),
        1 => Just(Step::Decay),
        1 => Just(Step::Tick),
    ]
}

/// What the frames are known to contain.
struct Model {
    frames: u32,
    held: BTreeMap<u32, ()>,
    zero: Vec<bool>,
}

impl Model {
    fn take(&mut self, entry: Entry) {
        let frame = entry.frame().0;
        assert!(frame < self.frames, "the frame exists");
        assert!(self.held.insert(frame, ()).is_none(), "frame {frame} was held already");
        if entry.contents() == Contents::Zero {
            assert!(self.zero[frame as usize], "frame {frame} is not zero");
        }
        self.zero[frame as usize] = false;
    }

    fn give(&mut self, frame: u32, zero: bool) -> Entry {
        self.held.remove(&frame).expect("it is held");
        self.zero[frame as usize] = zero;
        Entry::new(FrameId(frame), if zero { Contents::Zero } else { Contents::Unknown })
    }

    fn nth_held(&self, at: prop::sample::Index) -> Option<u32> {
        if self.held.is_empty() {
            return None;
        }
        self.held.keys().nth(at.index(self.held.len())).copied()
    }

    fn has_free_run(&self, order: Order) -> bool {
        (0..self.frames).step_by(order.frames() as usize).any(|first| {
            let end = first + order.frames();
            end <= self.frames && self.held.range(first..end).next().is_none()
        })
    }
}

fn check(mut pool: impl PagePolicy, steps: &[Step], largest: Order) {
    let frames = pool.frames();
    let mut model = Model { frames, held: BTreeMap::new(), zero: vec![true; frames as usize] };
    for step in steps {
        match *step {
            Step::Allocate => match pool.allocate() {
                Some(allocated) => model.take(allocated.entry),
                None => assert_eq!(model.held.len() as u32, frames, "no frame is free"),
            },
            Step::Release(at, zero) => {
                if let Some(frame) = model.nth_held(at) {
                    let entry = model.give(frame, zero);
                    // SAFETY: it was held, and its bytes exist in the model only.
                    unsafe { pool.release(entry) };
                }
            }
            Step::AllocateRun(frames) => {
                let order = Order::of(frames).expect("it is at most the largest");
                let mut entries = Vec::new();
                match pool.allocate_run(frames, &mut |entry| entries.push(entry)) {
                    Some(first) => {
                        assert_eq!(entries.len() as u32, frames);
                        assert!(first.0.is_multiple_of(order.frames()), "a run is aligned");
                        for (at, entry) in entries.into_iter().enumerate() {
                            assert_eq!(entry.frame().0, first.0 + at as u32);
                            model.take(entry);
                        }
                    }
                    None => assert!(
                        order > largest || !model.has_free_run(order),
                        "{order:?} is free, {:?} is held",
                        model.held
                    ),
                }
            }
            Step::ReleaseRun(at, frames) => {
                let Some(first) = model.nth_held(at) else { continue };
                let held = |frame: &u32| model.held.contains_key(frame);
                let frames = (first..first + frames).take_while(held).count() as u32;
                for frame in first..first + frames {
                    model.give(frame, false);
                }
                // SAFETY: all of them were held.
                unsafe { pool.release_run(FrameId(first), frames, Contents::Unknown) };
            }
            Step::Drain => pool.drain(),
            Step::Decay => {
                pool.decay(&mut |first, count| {
                    for frame in first.0..first.0 + count {
                        assert!(!model.held.contains_key(&frame), "frame {frame} is held");
                        model.zero[frame as usize] = true;
                    }
                });
            }
            Step::Tick => pool.tick(),
        }
    }
    let mut free = Vec::new();
    pool.validate(&mut |entry| {
        let frame = entry.frame().0;
        assert!(entry.contents() == Contents::Unknown || model.zero[frame as usize]);
        free.push(frame);
    });
    free.extend(model.held.keys());
    free.sort_unstable();
    assert_eq!(free, (0..frames).collect::<Vec<_>>(), "each frame is free or held, and once");
}

fn cold<F: FreeFrames<Native>>(free: F) -> Cold<Native, F> {
    Cold::new(free, Contents::Zero)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn bitmaps(
        frames in 0_u32..1500,
        words in prop::sample::select(vec![1_u32, 2, 4, 8]),
        children in 1_u32..4,
        steps in prop::collection::vec(step(), 0..300),
    ) {
        let geometry = Geometry { words_per_child: words, children_per_tree: children };
        let largest = Order::of(words * 64).expect("it is at most 512");
        check(Direct::<Native, _>::new(2, cold(LlFree::new(frames, 2, geometry))), &steps, largest);
    }

    #[test]
    fn a_buddy_system(frames in 0_u32..1500, steps in prop::collection::vec(step(), 0..300)) {
        let buddy = Buddy::<Native, Ttas<Native>>::new(frames);
        check(Direct::<Native, _>::new(1, cold(buddy)), &steps, Order::LARGEST);
    }

    #[test]
    fn tiers(
        frames in 0_u32..700,
        private in 0_u32..9,
        shared in 0_u32..20,
        batch in 0_u32..9,
        caches in prop::collection::vec(0_u32..3, 0..5),
        cores_per_stripe in 0_u32..3,
        steps in prop::collection::vec(step(), 0..300),
    ) {
        let options = TieredOptions {
            last_level_caches: caches.into(),
            private_frames: private,
            shared_frames: shared,
            batch,
            cores_per_stripe,
        };
        let free = LlFree::new(frames, 2, Geometry::STANDARD);
        check(Tiered::<Native>::tiered(&options, free, Contents::Zero), &steps, Order::LARGEST);
    }

    #[test]
    fn the_lists_of_linux(
        frames in 0_u32..700,
        batch in 1_u32..9,
        high in 1_u32..20,
        steps in prop::collection::vec(step(), 0..300),
    ) {
        let buddy = || cold(Buddy::<Native, Ttas<Native>>::new(frames));
        let old = PerCore::<Native, _, _>::new(2, Linux4_18 { batch, high }, buddy());
        check(old, &steps, Order::LARGEST);
        let rule = Linux6_12 { batch, high_min: high, high_max: 3 * high };
        check(PerCore::<Native, _, _>::new(2, rule, buddy()), &steps, Order::LARGEST);
    }
}

/// A tree that would be larger than numbers of frames are has as many children as there are.
#[test]
fn trees_may_be_larger_than_all_there_is() {
    for children_per_tree in [1 << 22, 1 << 23, 1 << 24, 1 << 31, u32::MAX] {
        for words_per_child in [1, 8] {
            let geometry = Geometry { words_per_child, children_per_tree };
            let mut free = LlFree::<Native>::new(1500, 2, geometry);
            let mut taken = Vec::new();
            assert_eq!(free.take_many(CpuId(1), 2000, |frame| taken.push(frame)), 1500);
            // SAFETY: they were taken above.
            unsafe { free.put_many(CpuId(0), taken.into_iter()) };
            let mut seen = 0;
            free.validate(|_| seen += 1);
            assert_eq!(seen, 1500, "{geometry:?}");
        }
    }
}

#[test]
#[should_panic(expected = "a pool has at most")]
fn more_frames_than_a_pool_can_have_are_refused() {
    drop(LlFree::<Native>::new(MOST_FRAMES + 1, 1, Geometry::STANDARD));
}
