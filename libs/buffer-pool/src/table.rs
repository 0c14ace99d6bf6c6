//! Which frame has which page: a table of chains, whose readers take no lock.
//!
//! # The idea
//! * A bucket is one word: the first frame of its chain, and a bit that is its lock. Frames are chained
//!   through their headers, which are never freed.
//! * **A reader just follows the chain.** If frames come or go meanwhile, the reader may be led into another
//!   chain and miss a page that is there. It never reads freed memory. Whoever finds a page pins its frame
//!   and then looks again at what the frame holds; whoever finds none asks once more under the lock.
//! * Chains change under their lock, which is held for a few steps and never while anything waits.

use kilocore_lru::FrameId;
use kilocore_platform::{Atomic, Ordering, Platform, Wait};

use crate::frames::{Frames, NO_FRAME};
use crate::page::PageId;
use crate::tables::table;

/// The bucket is locked.
const LOCKED: u32 = 1 << 31;

/// A reader follows a chain for so many frames and then asks under the lock, as it may go round in circles
/// while frames move. The mean length of a chain is below one.
const LONGEST: u32 = 32;

/// 2 to the 64 over the golden ratio, after Knuth: its products' upper bits depend on all bits of a number.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

pub(crate) struct Table<P: Platform> {
    buckets: Box<[P::U32]>,
    /// So far a product is shifted to be a bucket's number.
    shift: u32,
}

impl<P: Platform> Table<P> {
    /// Returns an empty table, or nothing if there is not so much memory.
    pub(crate) fn new(frames: u32) -> Option<Self> {
        // At least two, as no number can be shifted by all its bits.
        let buckets = frames.next_power_of_two().max(2);
        Some(Self {
            buckets: table(buckets as usize, |_| P::U32::new(NO_FRAME))?,
            shift: u64::BITS - buckets.trailing_zeros(),
        })
    }

    fn bucket(&self, page: PageId) -> &P::U32 {
        &self.buckets[(page.0.wrapping_mul(SPREAD) >> self.shift) as usize]
    }

    /// Returns the frame that had the page a moment ago. It may miss one.
    #[inline]
    pub(crate) fn find(&self, frames: &Frames<P>, page: PageId) -> Option<FrameId> {
        let mut at = self.bucket(page).load(Ordering::Relaxed) & !LOCKED;
        let mut left = if P::CHECKED { 2 } else { LONGEST };
        while at != NO_FRAME && left > 0 {
            let header = frames.at(FrameId(at));
            if header.page() == page {
                return Some(FrameId(at));
            }
            at = header.next.load(Ordering::Relaxed);
            left -= 1;
        }
        None
    }

    /// Locks the chain in which the page is, or would be.
    pub(crate) fn lock<'a>(&'a self, frames: &'a Frames<P>, page: PageId) -> Chain<'a, P> {
        let bucket = self.bucket(page);
        let mut first = bucket.load(Ordering::Relaxed);
        loop {
            if first & LOCKED != 0 {
                first = P::wait_until(bucket, Wait::Spin, |first| first & LOCKED == 0);
            }
            let locked = first | LOCKED;
            match bucket.compare_exchange_weak(first, locked, Ordering::Acquire, Ordering::Relaxed)
            {
                Ok(_) => return Chain { bucket, frames, first },
                Err(now) => first = now,
            }
        }
    }
}

/// A locked chain. It is unlocked when this is dropped.
pub(crate) struct Chain<'a, P: Platform> {
    bucket: &'a P::U32,
    frames: &'a Frames<P>,
    first: u32,
}

impl<P: Platform> Chain<'_, P> {
    /// Returns the frame that has the page.
    pub(crate) fn find(&self, page: PageId) -> Option<FrameId> {
        let mut at = self.first;
        while at != NO_FRAME {
            let header = self.frames.at(FrameId(at));
            if header.page() == page {
                return Some(FrameId(at));
            }
            at = header.next.load(Ordering::Relaxed);
        }
        None
    }

    /// Puts a frame into the chain, with a page that is not there yet. The frame is the caller's.
    pub(crate) fn insert(&mut self, frame: FrameId, page: PageId) {
        let header = self.frames.at(frame);
        header.set_page(page);
        header.next.store(self.first, Ordering::Relaxed);
        self.first = frame.0;
    }

    /// Takes a frame out of the chain, in which it is.
    pub(crate) fn remove(&mut self, frame: FrameId) {
        let next = self.frames.at(frame).next.load(Ordering::Relaxed);
        if self.first == frame.0 {
            self.first = next;
        } else {
            let mut at = self.first;
            while at != NO_FRAME {
                let header = self.frames.at(FrameId(at));
                at = header.next.load(Ordering::Relaxed);
                if at == frame.0 {
                    header.next.store(next, Ordering::Relaxed);
                    break;
                }
            }
        }
        self.frames.at(frame).set_page(PageId::NONE);
    }
}

impl<P: Platform> Drop for Chain<'_, P> {
    fn drop(&mut self) {
        self.bucket.store(self.first, Ordering::Release);
    }
}
