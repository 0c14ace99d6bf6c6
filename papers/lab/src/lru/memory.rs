//! Where frames come from: the page allocator.
//!
//! Each process takes frames from a list of its core, as Linux does. An empty list is filled with
//! [`REFILL`] frames under the lock of the node's zone. Fresh memory has its free frames in order, so
//! that a list is a run of neighbours. In memory that has long been in use they are in no order.

use kilocore_locks::{Mcs, RawLock};
use kilocore_lru::{FolioOrder, FrameId, PageLists, Striped};
use kilocore_platform::{Atomic, Cycles, NodeId, Ordering, Padded};
use kilocore_sim::{Sim, SimU32};

use crate::lru::meter::Metered;

/// How many frames a core's list is filled with: Linux's batch of a zone with a gibibyte or more.
pub(crate) const REFILL: u32 = 63;
/// How many of the frames' descriptors are fetched at a time. A block that is split needs no
/// search, but a list of blocks does.
const OVERLAP: u32 = 4;
/// Frames of all nodes together: the 8 GiB that the paper writes.
const ALL_BITS: u32 = 21;

/// Returns the number of frames of each of so many nodes, which is a power of two.
pub(crate) fn frames_of_each(nodes: u32) -> u32 {
    1 << (ALL_BITS - nodes.next_power_of_two().trailing_zeros().min(ALL_BITS))
}

/// The lock of the lists: a queue of spinning waiters, as the kernel's spin locks are.
pub(crate) type Lock = Metered<Mcs<Sim>>;

/// The memory of a node: its lists of pages, and its free frames.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) lists: Striped<Sim, Lock>,
    zone: Padded<Zone>,
    /// Whether free frames are in no order.
    scattered: bool,
    /// Work under the zone's lock for each frame.
    per_frame: Cycles,
}

#[derive(Debug)]
struct Zone {
    lock: Mcs<Sim>,
    /// How many frames were handed out, or folios.
    taken: SimU32,
}

/// Free frames of a core, or folios: all that a process takes are of one order.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FreeList {
    next: u32,
    end: u32,
}

impl Node {
    pub(crate) fn new(lists: Striped<Sim, Lock>, scattered: bool, per_frame: Cycles) -> Self {
        let zone = Zone { lock: RawLock::<Sim>::new(), taken: SimU32::new(0) };
        Self { lists, zone: Padded(zone), scattered, per_frame }
    }

    /// Takes a free folio of an order. If the core's list is empty, it is filled with `most` frames first,
    /// at most [`REFILL`], but at least a folio. `None` if all frames of the node are in use.
    pub(crate) fn allocate(
        &self,
        here: NodeId,
        list: &mut FreeList,
        order: FolioOrder,
        most: u32,
    ) -> Option<FrameId> {
        if list.next == list.end {
            *list = self.refill(here, (most.min(REFILL) >> order.get()).max(1));
        }
        let place = list.next << order.get();
        list.next += 1;
        let frames = self.lists.frames();
        let frame = || if self.scattered { scatter(place, frames) } else { place };
        (place < frames).then(|| FrameId(frame()))
    }

    /// Takes so many folios out of the node's memory. The work is that of taking a block out of a list
    /// of blocks, whatever its size.
    fn refill(&self, here: NodeId, folios: u32) -> FreeList {
        let Zone { lock, taken } = &*self.zone;
        RawLock::<Sim>::acquire(lock, &mut ());
        let next = taken.load(Ordering::Relaxed);
        taken.store(next + folios, Ordering::Relaxed);
        Sim::fetch(here, folios, OVERLAP);
        Sim::work(self.per_frame * u64::from(folios));
        // SAFETY: acquired above.
        unsafe { RawLock::<Sim>::release(lock, &mut ()) };
        FreeList { next, end: next + folios }
    }
}

/// A place of the order in which frames were freed, to the frame. The number of frames is a power of
/// two. Each frame is met once, as every step can be undone.
fn scatter(place: u32, frames: u32) -> u32 {
    let half = frames.trailing_zeros() / 2;
    let mut frame = place;
    for factor in [0x9E_3779, 0x1B_873D] {
        frame = frame.wrapping_mul(factor) & (frames - 1);
        frame ^= frame >> half.max(1);
    }
    frame
}

#[cfg(test)]
mod tests {
    use super::{frames_of_each, scatter};

    #[test]
    fn nodes_share_the_memory() {
        assert_eq!([1, 2, 8, 12].map(frames_of_each), [1 << 21, 1 << 20, 1 << 18, 1 << 17]);
    }

    #[test]
    fn scattered_frames_are_all_frames() {
        for frames in [1, 2, 64, 1 << 17, 1 << 21] {
            let mut met = vec![false; frames as usize];
            for place in 0..frames {
                assert!(!std::mem::replace(&mut met[scatter(place, frames) as usize], true));
            }
        }
    }

    #[test]
    fn neighbours_are_far_apart_once_scattered() {
        let frame = |place| scatter(place, 1 << 21);
        let near = (0..10_000).filter(|&place| frame(place).abs_diff(frame(place + 1)) < 64);
        assert!(near.count() < 10);
    }
}
