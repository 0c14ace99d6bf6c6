//! Ghosts: what is remembered of pages after their frames went to others.
//!
//! # The idea
//! A page that comes back soon after it was reclaimed was reclaimed too early. To see that, lists keep
//! the hash of each page that they give up, and how many pages were given up before it. When the page
//! comes back, the difference is its *distance*: so many more frames would have kept it.
//!
//! A ghost is a word of 32 bits in a table of a fixed size: a tag of 14, the time when it left of 16, and a
//! note of two. A page's hash names a bucket of half a cache line, in which the oldest ghost makes room for
//! a new one. There is no lock: a ghost that is lost in a race costs one wrong guess, and so does another
//! page of the same tag, which one page in 2,000 meets in a bucket of eight.
//!
//! The table has two words for each ghost that is to be kept. Buckets then hold four of those in the
//! mean, and one in twenty has eight or more at the age at which a ghost may be forgotten.
//!
//! Time is the number of pages that have left, in steps of at most a 4,096th of all frames. So it wraps
//! around when eight times as many have left as there are frames, long after a ghost has made room.

use alloc::boxed::Box;

use kilocore_platform::{Atomic, AtomicInt, Ordering, Padded, Platform};

use crate::folio::Folio;
use crate::frame::{FrameId, PageHash};
use crate::tables::{NoMemory, table};

/// A page's hash with its bits mixed, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Name(u32);

impl Name {
    /// The name of a page that was added without one.
    const NONE: Name = Name(0);

    /// The mixing is that of SplitMix64 (Steele, Lea and Flood, 'Fast Splittable Pseudorandom Number
    /// Generators', 2014).
    fn of(page: PageHash) -> Self {
        let mixed = page.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Name((((mixed ^ (mixed >> 31)) >> 32) as u32).max(1))
    }

    fn tag(self) -> u32 {
        (self.0 & LARGEST_TAG).max(1)
    }
}

/// How many pages were given up between a page's leaving and its return.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Distance(pub(crate) u32);

/// What was kept of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ghost {
    pub(crate) distance: Distance,
    /// What the lists wrote down when the page left: at most [`LARGEST_NOTE`].
    pub(crate) note: u32,
}

/// A time, in steps. It wraps around.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Time(u16);

pub(crate) const LARGEST_NOTE: u32 = 3;

const LARGEST_TAG: u32 = (1 << 14) - 1;

/// So many bits of a ghost are its note, and so many after them its time.
const NOTE_BITS: u32 = 2;
const TIME_BITS: u32 = 16;

/// There are at most 2 to the power of this many steps for all frames: an eighth of a turn of the clock.
const STEPS_BITS: u32 = TIME_BITS - 3;

/// The ghosts of a bucket, of which two fit into a cache line. A checker would look at every order in which
/// they can be read.
const fn ways<P: Platform>() -> usize {
    if P::CHECKED { 1 } else { 8 }
}

/// The names of the pages that are in memory, and the ghosts of those that are not.
pub(crate) struct Ghosts<P: Platform> {
    /// By frame. Written by whoever adds the frame, and read by whoever has isolated it.
    names: Box<[P::U32]>,
    slots: Box<[P::U32]>,
    /// How many pages have left.
    left: Padded<P::U32>,
    /// A step of time is 2 to the power of this many pages.
    step_bits: u32,
}

impl<P: Platform> Ghosts<P> {
    /// Returns a table that keeps as many ghosts as there are frames.
    pub(crate) fn new(frames: u32) -> Result<Self, NoMemory> {
        let buckets = (2 * frames as usize).div_ceil(ways::<P>()).max(1);
        let empty = |count: usize| table(count, || Ok(P::U32::new(0)));
        Ok(Self {
            names: empty(frames as usize)?,
            slots: empty(buckets * ways::<P>())?,
            left: Padded(P::U32::new(0)),
            step_bits: frames_bits(frames).saturating_sub(STEPS_BITS),
        })
    }

    fn bucket(&self, name: Name) -> &[P::U32] {
        let buckets = self.slots.len() / ways::<P>();
        let bucket = ((u64::from(name.0) * buckets as u64) >> 32) as usize;
        &self.slots[bucket * ways::<P>()..][..ways::<P>()]
    }

    /// A page has come into a frame. Returns its ghost, if there is one, and forgets that.
    pub(crate) fn arrive(&self, frame: FrameId, page: Option<PageHash>) -> Option<Ghost> {
        let name = page.map_or(Name::NONE, Name::of);
        self.names[frame.0 as usize].store(name.0, Ordering::Relaxed);
        if name == Name::NONE {
            return None;
        }
        let now = self.time(self.left.load(Ordering::Relaxed));
        self.bucket(name).iter().find_map(|slot| {
            let word = slot.load(Ordering::Relaxed);
            let found = tag(word) == name.tag();
            // Whoever forgets it has found it: of two that look for a page at a time, one does.
            let forget = || slot.compare_exchange(word, 0, Ordering::Relaxed, Ordering::Relaxed);
            (found && forget().is_ok()).then(|| self.ghost(word, now))
        })
    }

    /// The page in a frame is given up, or the pages in the frames of a folio, which have one name.
    pub(crate) fn leave(&self, folio: Folio, note: u32) {
        let name = Name(self.names[folio.head.0 as usize].load(Ordering::Relaxed));
        if name == Name::NONE {
            return;
        }
        let pages = folio.order.frames();
        let left = self.left.fetch_add(pages, Ordering::Relaxed).wrapping_add(pages);
        let now = self.time(left);
        let worth = |slot: &&P::U32| {
            let word = slot.load(Ordering::Relaxed);
            let is_free = word == 0 || tag(word) == name.tag();
            if is_free { u32::MAX } else { self.ghost(word, now).distance.0 }
        };
        let slot = self.bucket(name).iter().max_by_key(worth).expect("a bucket has a slot");
        let tag = name.tag() << (NOTE_BITS + TIME_BITS);
        let word = tag | u32::from(now.0) << NOTE_BITS | note.min(LARGEST_NOTE);
        slot.store(word, Ordering::Relaxed);
    }

    /// The time at which so many pages have left.
    fn time(&self, left: u32) -> Time {
        Time((left >> self.step_bits) as u16)
    }

    fn ghost(&self, word: u32, now: Time) -> Ghost {
        let then = Time((word >> NOTE_BITS) as u16);
        let steps = u32::from(now.0.wrapping_sub(then.0));
        Ghost { distance: Distance(steps << self.step_bits), note: word & LARGEST_NOTE }
    }
}

/// So many bits it takes to number frames.
fn frames_bits(frames: u32) -> u32 {
    u32::BITS - frames.saturating_sub(1).leading_zeros()
}

fn tag(word: u32) -> u32 {
    word >> (NOTE_BITS + TIME_BITS)
}

#[cfg(test)]
mod tests {
    use kilocore_platform::Native;

    use super::*;

    fn ghosts(frames: u32) -> Ghosts<Native> {
        Ghosts::new(frames).expect("there is so much memory")
    }
    use crate::folio::FolioOrder;

    fn single(frame: u32) -> Folio {
        Folio { head: FrameId(frame), order: FolioOrder::PAGE }
    }

    fn page(number: u64) -> Option<PageHash> {
        Some(PageHash(number))
    }

    #[test]
    fn a_page_that_comes_back_is_known_once() {
        let ghosts = ghosts(100);
        assert_eq!(ghosts.arrive(FrameId(3), page(7)), None);
        ghosts.leave(single(3), 2);
        for other in 10..20 {
            assert_eq!(ghosts.arrive(FrameId(3), page(other)), None);
            ghosts.leave(single(3), 0);
        }
        let expected = Ghost { distance: Distance(10), note: 2 };
        assert_eq!(ghosts.arrive(FrameId(8), page(7)), Some(expected));
        assert_eq!(ghosts.arrive(FrameId(9), page(7)), None);
    }

    #[test]
    fn a_folio_leaves_with_all_its_pages() {
        let ghosts = ghosts(100);
        ghosts.arrive(FrameId(0), page(7));
        ghosts.leave(single(0), 0);
        ghosts.arrive(FrameId(8), page(8));
        ghosts.leave(Folio { head: FrameId(8), order: FolioOrder::new(3).unwrap() }, 0);
        let expected = Ghost { distance: Distance(8), note: 0 };
        assert_eq!(ghosts.arrive(FrameId(0), page(7)), Some(expected));
    }

    #[test]
    fn of_many_frames_a_distance_is_known_to_a_4096th() {
        for (frames, others) in [(8_192, 500), (8_193, 500), (100_000, 7_000), (3_000_000, 7_000)] {
            let ghosts = ghosts(frames);
            // Others have left before, so that a step of time has begun.
            for number in (0..1_111).chain([999_999]).chain(10_000..10_000 + others) {
                ghosts.arrive(FrameId(0), page(number));
                ghosts.leave(single(0), 0);
            }
            let ghost =
                ghosts.arrive(FrameId(0), page(999_999)).expect("few others have left since");
            let error = u64::from(ghost.distance.0).abs_diff(others);
            assert!(error <= u64::from(frames / 4_096), "{frames}: {ghost:?}");
        }
    }

    #[test]
    fn a_page_without_a_name_leaves_no_ghost() {
        let ghosts = ghosts(4);
        assert_eq!(ghosts.arrive(FrameId(0), None), None);
        ghosts.leave(single(0), 0);
        assert!(ghosts.slots.iter().all(|slot| slot.load(Ordering::Relaxed) == 0));
    }

    #[test]
    fn few_ghosts_are_lost_before_as_many_have_left_as_there_are_frames() {
        let frames = 10_000;
        let ghosts = ghosts(frames);
        for number in 0..5 * frames {
            ghosts.arrive(FrameId(0), page(number.into()));
            ghosts.leave(single(0), 0);
        }
        let kept = (4 * frames..5 * frames)
            .filter(|number| ghosts.arrive(FrameId(0), page((*number).into())).is_some())
            .count();
        assert!(kept > 9_800, "{kept}");
    }

    #[test]
    fn a_table_for_no_frames_is_there() {
        assert_eq!(ghosts(0).slots.len(), 8);
    }
}
