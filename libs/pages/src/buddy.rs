//! Free frames as a kernel keeps them: lists of runs of each order, all behind one lock.
//!
//! The binary buddy system of Knuth (*The Art of Computer Programming*, volume 1, section 2.5) with the
//! habits of Linux's page allocator: what was freed last is allocated first, a larger run is split when
//! there is none of the order, and two free neighbours are merged at once. A batch of single frames takes
//! the lock once.
//!
//! It is the baseline of the pool's own [`LlFree`](crate::LlFree). Who allocates waits here for the lock.

use alloc::boxed::Box;
use alloc::vec;
use core::marker::PhantomData;

use kilocore_locks::RawLock;
use kilocore_platform::{CpuId, Padded, Platform, SharedCell};

use crate::frame::{FrameId, Order};
use crate::free_frames::{FreeFrames, GROUP_FRAMES};

const ORDERS: usize = Order::LARGEST.exponent() as usize + 1;
/// The end of a list.
const NONE: u32 = u32::MAX;
/// A frame that is not the first of a free run.
const NO_HEAD: u8 = u8::MAX;

/// What is known of a frame. The links are those of the run that begins there, if one does.
#[derive(Debug, Clone, Copy)]
struct Frame {
    newer: u32,
    older: u32,
    /// The order of the free run that begins here.
    order: u8,
}

/// The newest run of each order, and the number of free frames.
#[derive(Debug, Clone, Copy)]
struct Zone {
    newest: [u32; ORDERS],
    free: u32,
}

/// Free frames in a buddy system behind a lock of kind `L`. It needs twelve bytes for each frame.
pub struct Buddy<P: Platform, L: RawLock<P, Thread = ()>> {
    lock: Padded<L>,
    zone: P::Cell<Zone>,
    frames: Box<[P::Cell<Frame>]>,
    marker: PhantomData<P>,
}

impl<P: Platform, L: RawLock<P, Thread = ()>> core::fmt::Debug for Buddy<P, L> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Buddy").field("frames", &self.frames.len()).finish_non_exhaustive()
    }
}

/// The zone while the lock is held.
struct HeldZone<'a, P: Platform, L: RawLock<P, Thread = ()>>(&'a Buddy<P, L>);

impl<P: Platform, L: RawLock<P, Thread = ()>> Buddy<P, L> {
    /// Returns `frames` free frames.
    #[must_use]
    pub fn new(frames: u32) -> Self {
        let frame = |_| P::Cell::new(Frame { newer: NONE, older: NONE, order: NO_HEAD });
        let buddy = Self {
            lock: Padded(L::new()),
            zone: P::Cell::new(Zone { newest: [NONE; ORDERS], free: 0 }),
            frames: (0..frames).map(frame).collect(),
            marker: PhantomData,
        };
        buddy.locked(|zone| {
            // From the end, so that the first run is the newest and goes first.
            let mut end = frames;
            while end > 0 {
                let order = end.trailing_zeros().min(end.ilog2()).min(ORDERS as u32 - 1) as u8;
                end -= 1 << order;
                zone.add(end, order);
            }
        });
        buddy
    }

    fn locked<R>(&self, work: impl FnOnce(&mut HeldZone<'_, P, L>) -> R) -> R {
        self.lock.acquire(&mut ());
        let result = work(&mut HeldZone(self));
        // SAFETY: this thread acquired it above and releases it once.
        unsafe { self.lock.release(&mut ()) };
        result
    }
}

impl<P: Platform, L: RawLock<P, Thread = ()>> HeldZone<'_, P, L> {
    fn frame(&self, at: u32) -> Frame {
        // SAFETY: the lock is held, and nobody uses the cells without it.
        self.0.frames[at as usize].with(|frame| unsafe { *frame })
    }

    fn change(&mut self, at: u32, change: impl FnOnce(&mut Frame)) {
        // SAFETY: as in `frame`.
        self.0.frames[at as usize].with_mut(|frame| change(unsafe { &mut *frame }));
    }

    fn zone(&self) -> Zone {
        // SAFETY: as in `frame`.
        self.0.zone.with(|zone| unsafe { *zone })
    }

    fn change_zone(&mut self, change: impl FnOnce(&mut Zone)) {
        // SAFETY: as in `frame`.
        self.0.zone.with_mut(|zone| change(unsafe { &mut *zone }));
    }

    /// Links a run in as the newest of its order.
    fn add(&mut self, at: u32, order: u8) {
        let older = self.zone().newest[usize::from(order)];
        self.change(at, |frame| *frame = Frame { newer: NONE, older, order });
        if older != NONE {
            self.change(older, |frame| frame.newer = at);
        }
        self.change_zone(|zone| {
            zone.newest[usize::from(order)] = at;
            zone.free += 1 << order;
        });
    }

    /// Takes a free run off its list.
    fn remove(&mut self, at: u32) {
        let Frame { newer, older, order } = self.frame(at);
        if newer != NONE {
            self.change(newer, |frame| frame.older = older);
        }
        if older != NONE {
            self.change(older, |frame| frame.newer = newer);
        }
        self.change(at, |frame| frame.order = NO_HEAD);
        self.change_zone(|zone| {
            if newer == NONE {
                zone.newest[usize::from(order)] = older;
            }
            zone.free -= 1 << order;
        });
    }

    fn take(&mut self, order: u8) -> Option<u32> {
        let zone = self.zone();
        let found = (order..ORDERS as u8).find(|&order| zone.newest[usize::from(order)] != NONE)?;
        let at = zone.newest[usize::from(found)];
        self.remove(at);
        // The upper halves of what is too large stay free.
        for half in (order..found).rev() {
            self.add(at + (1 << half), half);
        }
        Some(at)
    }

    fn put(&mut self, at: u32, order: u8) {
        let (mut at, mut order) = (at, order);
        while usize::from(order) + 1 < ORDERS {
            let buddy = at ^ (1 << order);
            let whole = (buddy | at) + (1 << order) <= self.0.frames.len() as u32;
            if !whole || self.frame(buddy).order != order {
                break;
            }
            self.remove(buddy);
            at = at.min(buddy);
            order += 1;
        }
        self.add(at, order);
    }

    /// Returns the free run that a frame is in.
    fn run_around(&self, at: u32) -> Option<(u32, u8)> {
        (0..ORDERS as u8).find_map(|order| {
            let first = at >> order << order;
            (self.frame(first).order == order).then_some((first, order))
        })
    }

    /// Takes the free frames of a group out, and returns their bits.
    fn take_group(&mut self, first: u32) -> u64 {
        let mut taken = 0;
        let end = (first + GROUP_FRAMES).min(self.0.frames.len() as u32);
        let mut at = first;
        while at < end {
            let Some((mut run, mut order)) = self.run_around(at) else {
                at += 1;
                continue;
            };
            self.remove(run);
            // Halves outside of the group stay free.
            while 1 << order > GROUP_FRAMES {
                order -= 1;
                let (low, high) = (run, run + (1 << order));
                let (ours, others) = if first < high { (low, high) } else { (high, low) };
                self.add(others, order);
                run = ours;
            }
            let bits = if 1 << order == GROUP_FRAMES { u64::MAX } else { (1 << (1 << order)) - 1 };
            taken |= bits << (run - first);
            at = run + (1 << order);
        }
        taken
    }
}

// SAFETY: a frame is taken by taking the run that it is in off its list, under the lock. The lock orders
// that after what the last owner did before putting the frame back.
unsafe impl<P: Platform, L: RawLock<P, Thread = ()>> FreeFrames<P> for Buddy<P, L> {
    fn frames(&self) -> u32 {
        self.frames.len() as u32
    }

    fn free(&self) -> u32 {
        self.locked(|zone| zone.zone().free)
    }

    fn take(&self, _core: CpuId, order: Order) -> Option<FrameId> {
        self.locked(|zone| zone.take(order.exponent())).map(FrameId)
    }

    fn take_many(&self, _core: CpuId, most: u32, mut each: impl FnMut(FrameId)) -> u32 {
        self.locked(|zone| {
            for taken in 0..most {
                match zone.take(0) {
                    Some(frame) => each(FrameId(frame)),
                    None => return taken,
                }
            }
            most
        })
    }

    fn take_group(&self, group: u32) -> u64 {
        let first = group.saturating_mul(GROUP_FRAMES);
        if first >= self.frames() { 0 } else { self.locked(|zone| zone.take_group(first)) }
    }

    unsafe fn put(&self, _core: CpuId, frame: FrameId, order: Order) {
        self.locked(|zone| zone.put(frame.0, order.exponent()));
    }

    unsafe fn put_many(&self, _core: CpuId, frames: impl Iterator<Item = FrameId>) {
        self.locked(|zone| frames.for_each(|frame| zone.put(frame.0, 0)));
    }

    fn validate(&mut self, mut each: impl FnMut(FrameId)) {
        self.locked(|zone| {
            let mut seen = vec![false; zone.0.frames.len()];
            let mut free = 0;
            for order in 0..ORDERS as u8 {
                let (mut at, mut newer) = (zone.zone().newest[usize::from(order)], NONE);
                while at != NONE {
                    let frame = zone.frame(at);
                    assert_eq!((frame.order, frame.newer), (order, newer), "run {at} is linked");
                    for frame in at..at + (1 << order) {
                        assert!(!seen[frame as usize], "frame {frame} is in one run only");
                        seen[frame as usize] = true;
                        each(FrameId(frame));
                    }
                    free += 1 << order;
                    (newer, at) = (at, frame.older);
                }
            }
            assert_eq!(free, zone.zone().free, "the free frames are counted");
        });
    }
}
