//! The lists of last-level caches, used without lists of cores above them, as a kernel does that has its own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use kilocore_checking::{Altered, Thorough, Threads, model};
use kilocore_pages::{Contents, Decayed, Entry, FrameId, Level, NO_CACHE, Order, Shared, Tier};
use kilocore_platform::{CpuId, Loom, Native, NodeId};

use crate::scarce;

type Machine = Altered<Loom, Thorough>;
type Lists = Shared<Machine, Below>;

/// Remembers the lots that it gets, and has no frames to give.
#[derive(Clone, Default)]
struct Below(Arc<Mutex<Vec<Vec<u32>>>>);

// SAFETY: it gives no frame out.
unsafe impl Level for Below {
    fn frames(&self) -> u32 {
        64
    }
    fn take(&self, _: CpuId, _: u32, _: impl FnMut(Entry)) -> (u32, Tier) {
        (0, Tier::Cold)
    }
    unsafe fn put(&self, _: CpuId, count: u32, entries: impl Iterator<Item = Entry>) {
        let lot: Vec<_> = entries.take(count as usize).map(|entry| entry.frame().0).collect();
        self.0.lock().expect("no test panics with it").push(lot);
    }
    fn take_run(&self, _: CpuId, _: Order, _: &mut dyn FnMut(Entry)) -> Option<FrameId> {
        None
    }
    unsafe fn put_run(&self, _: CpuId, _: FrameId, _: Order, _: Contents) {}
    unsafe fn put_back(&self, _: CpuId, _: FrameId, _: Order) {}
    fn drain(&self, _: CpuId) {}
    fn decay(&self, _: &mut dyn FnMut(FrameId, u32)) -> Decayed {
        Decayed::default()
    }
    fn counts(&self) -> (u32, u32) {
        (0, 0)
    }
    fn validate(&mut self, _: &mut dyn FnMut(Entry)) {}
}

impl Below {
    fn lots(&self) -> Vec<Vec<u32>> {
        self.0.lock().expect("no test panics with it").clone()
    }
}

/// Three cores, of which two share a cache, and a stripe for each core.
fn lists(frames: u32, below: &Below) -> Lists {
    Shared::new(&[0, 0, 1], frames, 1, below.clone())
}

fn entries(frames: impl IntoIterator<Item = u32>) -> impl Iterator<Item = Entry> {
    frames.into_iter().map(|frame| Entry::new(FrameId(frame), Contents::Unknown))
}

fn put(lists: &Lists, core: u32, frames: std::ops::Range<u32>) -> bool {
    // SAFETY: the tests put what they have, and what `take` gave them.
    unsafe { lists.put_near(CpuId(core), frames.len() as u32, entries(frames)) }
}

fn take(lists: &Lists, core: u32, most: u32) -> (Option<u32>, Vec<u32>) {
    let mut taken = Vec::new();
    let count = lists.take_near(CpuId(core), most, |entry| taken.push(entry.frame().0));
    (count, taken)
}

/// Loom's words need its runtime.
fn alone(test: impl Fn() + Send + Sync + 'static) {
    model(Some(0), test);
}

#[test]
fn a_lot_that_is_too_large_leaves_its_newest_frames() {
    alone(|| {
        let below = Below::default();
        let lists = lists(8, &below);
        assert!(put(&lists, 0, 0..2) && below.lots().is_empty());
        // The stripe of a core has room for four. The other one of the cache is empty, and takes the lot.
        assert!(put(&lists, 0, 2..8));
        assert_eq!(below.lots(), [vec![2, 3]]);
        // Both have some now: the oldest of the list goes before the lot's oldest, and all in one lot.
        assert!(put(&lists, 0, 8..14));
        assert_eq!(below.lots()[1..], [vec![0, 1, 8, 9]]);
        assert_eq!(take(&lists, 0, 9), (Some(4), vec![13, 12, 11, 10]));
        assert_eq!(take(&lists, 0, 3), (Some(3), vec![7, 6, 5]));
        assert_eq!(lists.counts(), (1, 0));
    });
}

#[test]
fn near_is_the_own_cache_only() {
    alone(|| {
        let below = Below::default();
        let lists = lists(8, &below);
        assert!(put(&lists, 0, 0..3));
        assert_eq!(take(&lists, 2, 3), (Some(0), vec![]));
        assert_eq!(take(&lists, 1, 1), (Some(1), vec![2]));
        assert_eq!(lists.drain_all(CpuId(2)), 2);
        assert_eq!((below.lots(), lists.counts()), (vec![vec![0, 1]], (0, 0)));
        assert_eq!(lists.drain_all(CpuId(2)), 0);
        assert_eq!(below.lots().len(), 1, "nothing is put below where there is nothing");
    });
}

#[test]
fn cores_that_are_not_there_leave_the_lists_as_long() {
    alone(|| {
        let below = Below::default();
        // A guest with more cores to come than there are; one of them lies between the others.
        let mut caches = [NO_CACHE; 40];
        (caches[0], caches[2]) = (0, 1);
        let lists = Lists::new(&caches, 8, 1, below.clone());
        assert!(put(&lists, 2, 0..8) && below.lots().is_empty(), "a stripe is all of its cache");
        assert_eq!(take(&lists, 0, 8), (Some(0), vec![]));
        // One that comes uses the first list.
        assert!(put(&lists, 39, 8..10));
        assert_eq!(take(&lists, 0, 8), (Some(2), vec![9, 8]));
        let none = Lists::new(&[NO_CACHE; 2], 8, 1, below.clone());
        assert!(put(&none, 1, 10..12));
        assert_eq!(take(&none, 0, 8), (Some(2), vec![11, 10]));
    });
}

#[test]
fn lists_without_room_take_nothing() {
    alone(|| {
        let below = Below::default();
        let lists = lists(1, &below);
        let mut lot = entries(0..3);
        // SAFETY: as in `put`.
        assert!(!unsafe { lists.put_near(CpuId(0), 3, lot.by_ref()) });
        assert_eq!(lot.count(), 3, "the frames are still the caller's");
        // SAFETY: as above.
        unsafe { lists.put(CpuId(0), 3, entries(0..3)) };
        assert_eq!(below.lots(), [vec![0, 1, 2]]);
    });
}

#[test]
fn whichever_allocation_fails_nothing_is_left() {
    for nth in 0.. {
        let below = Below::default();
        let (made, live) =
            scarce::with(nth, || Shared::<Native, _>::try_new(&[0, 1, 1], 8, 1, below.clone()));
        if made.is_ok() {
            // The stripes and their four rings, two tables of numbers, and one that is freed at once.
            assert_eq!((nth, live), (8, 7));
            return;
        }
        assert_eq!(live, 0, "allocation {nth} failed");
    }
}

/// Runs `other` on core 1, which has frame 1, beside `one` on core 0, after frame 0 was put. At the end
/// each of them is below or was kept, once.
fn beside(one: fn(&Lists, &Below) -> Vec<u32>, other: fn(&Lists) -> Vec<u32>) {
    model(Some(3), move || {
        Loom::place(CpuId(0), NodeId(0));
        let below = Below::default();
        // One stripe, so that the cores meet.
        let lists = Arc::new(Shared::new(&[0, 0], 4, 2, below.clone()));
        assert!(put(&lists, 0, 0..1));
        let (others, kept) = (Arc::clone(&lists), Arc::new(Mutex::new(Vec::new())));
        let others_kept = Arc::clone(&kept);
        let thread = Machine::spawn(move || {
            Loom::place(CpuId(1), NodeId(0));
            let frames = other(&others);
            others_kept.lock().expect("no test panics with it").extend(frames);
        });
        let mut all = one(&lists, &below);
        Machine::join(thread);
        all.extend(kept.lock().expect("no test panics with it").iter());
        lists.drain_all(CpuId(0));
        all.extend(below.lots().concat());
        all.sort_unstable();
        assert_eq!(all, [0, 1], "each frame is somewhere, once");
    });
}

#[test]
fn what_was_put_before_is_drained_whoever_holds_the_list() {
    beside(
        |lists, below| {
            lists.drain_all(CpuId(0));
            assert!(below.lots().concat().contains(&0), "it was on the list, and nobody took it");
            vec![]
        },
        |lists| if put(lists, 1, 1..2) { vec![] } else { vec![1] },
    );
}

#[test]
fn a_long_list_is_drained_in_lots() {
    alone(|| {
        let below = Below::default();
        let lists = Shared::new(&[0, 0], 8, 2, below.clone());
        assert!(put(&lists, 0, 0..5));
        assert_eq!(lists.drain_all(CpuId(1)), 5);
        assert_eq!((below.lots(), lists.counts()), (vec![vec![0, 1], vec![2, 3], vec![4]], (0, 0)));
    });
}

#[test]
fn what_was_put_before_is_drained_though_others_put_and_take_between_the_lots() {
    model(Some(3), || {
        Loom::place(CpuId(0), NodeId(0));
        let below = Below::default();
        let lists = Arc::new(Shared::new(&[0, 0], 8, 2, below.clone()));
        assert!(put(&lists, 0, 0..4));
        let others = Arc::clone(&lists);
        let taken = Arc::new(Mutex::new(Vec::new()));
        let others_taken = Arc::clone(&taken);
        let thread = Machine::spawn(move || {
            Loom::place(CpuId(1), NodeId(0));
            let (_, frames) = take(&others, 1, 1);
            others_taken.lock().expect("no test panics with it").extend(frames);
            put(&others, 1, 4..6);
        });
        let drained = lists.drain_all(CpuId(0));
        let gone = below.lots().concat();
        assert_eq!(drained as usize, gone.len());
        Machine::join(thread);
        let taken = taken.lock().expect("no test panics with it");
        for frame in 0..4 {
            assert!(gone.contains(&frame) || taken.contains(&frame), "{frame} is still there");
        }
    });
}

#[test]
fn who_finds_the_list_held_is_told() {
    static SAID_HELD: AtomicBool = AtomicBool::new(false);
    static REFUSED: AtomicBool = AtomicBool::new(false);
    beside(
        |lists, _| {
            let (count, taken) = take(lists, 0, 4);
            SAID_HELD.fetch_or(count.is_none(), Ordering::Relaxed);
            // Frame 0 is there, so there is no other reason to get none.
            assert_eq!(count.unwrap_or(0) as usize, taken.len());
            assert!(count != Some(0) && (count.is_none() || taken.contains(&0)));
            taken
        },
        |lists| {
            if put(lists, 1, 1..2) {
                return vec![];
            }
            REFUSED.store(true, Ordering::Relaxed);
            vec![1]
        },
    );
    assert!(SAID_HELD.load(Ordering::Relaxed) && REFUSED.load(Ordering::Relaxed));
}
