//! Which frame has which page: a table of chains, whose readers take no lock.
//!
//! # The idea
//! * A bucket is one word: the first frame of its chain, and a bit that is its lock. Frames are chained
//!   through their headers, which are never freed.
//! * **A reader just follows the chain.** If frames come or go meanwhile, the reader may be led into another
//!   chain and miss a page that is there. It never reads freed memory. Whoever finds a page pins its frame
//!   and then looks again at what the frame holds; whoever finds none asks once more under the lock.
//! * Chains change under their lock, which is held for a few steps and never while anything waits.
//! * **Who waits for a chain comes before those who come later.** A lock of one bit knows nobody
//!   who waits, and a thread that takes it again and again could pass another one by for as long as
//!   it goes on. So those who wait queue up, for all chains in one queue, as hardly ever anybody
//!   does. Who is at its head reserves the chain. Nobody else locks a chain that is reserved, so
//!   each thread passes the head once at most. The reservation is a bit beside the lock's, as a
//!   word of its own is one more look for whoever locks a chain: model checks took four times as
//!   long with it. In return a chain is unlocked by an addition, not by a store.

use kilocore_locks::{RawLock, Ticket};
use kilocore_lru::FrameId;
use kilocore_platform::{Atomic, AtomicInt, Ordering, Padded, Platform, Wait};

use crate::frames::{Frames, NO_FRAME};
use crate::page::PageId;
use crate::tables::table;

/// The bucket is locked.
const LOCKED: u32 = 1 << 31;

/// The head of the queue locks the bucket next.
const RESERVED: u32 = 1 << 30;

/// A reader follows a chain for so many frames and then asks under the lock, as it may go round in circles
/// while frames move. The mean length of a chain is below one.
const LONGEST: u32 = 32;

/// 2 to the 64 over the golden ratio, after Knuth: its products' upper bits depend on all bits of a number.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

pub(crate) struct Table<P: Platform> {
    buckets: Box<[P::U32]>,
    /// So far a product is shifted to be a bucket's number.
    shift: u32,
    /// Those who wait for a chain. Apart from what is read all the time.
    queue: Padded<Ticket<P>>,
}

impl<P: Platform> Table<P> {
    /// Returns an empty table, or nothing if there is not so much memory.
    pub(crate) fn new(frames: u32) -> Option<Self> {
        // At least two, as no number can be shifted by all its bits.
        let buckets = frames.next_power_of_two().max(2);
        Some(Self {
            buckets: table(buckets as usize, |_| P::U32::new(NO_FRAME))?,
            shift: u64::BITS - buckets.trailing_zeros(),
            queue: Padded(Ticket::new()),
        })
    }

    fn bucket(&self, page: PageId) -> &P::U32 {
        &self.buckets[(page.0.wrapping_mul(SPREAD) >> self.shift) as usize]
    }

    /// Returns the frame that had the page a moment ago. It may miss one.
    #[inline]
    pub(crate) fn find(&self, frames: &Frames<P>, page: PageId) -> Option<FrameId> {
        let mut at = self.bucket(page).load(Ordering::Relaxed) & !(LOCKED | RESERVED);
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
        while first & (LOCKED | RESERVED) == 0 {
            let locked = first | LOCKED;
            match bucket.compare_exchange_weak(first, locked, Ordering::Acquire, Ordering::Relaxed)
            {
                Ok(_) => return Chain::new(bucket, frames, first),
                Err(now) => first = now,
            }
        }
        Chain::new(bucket, frames, self.lock_in_turn(bucket))
    }

    /// Locks a chain that others use as well. Returns its first frame.
    #[cold]
    fn lock_in_turn(&self, bucket: &P::U32) -> u32 {
        self.queue.acquire(&mut ());
        bucket.fetch_or(RESERVED, Ordering::Relaxed);
        let reserved = P::wait_until(bucket, Wait::Spin, |first| first & LOCKED == 0);
        let first = reserved & !RESERVED;
        // Nobody else changes a bucket that is reserved and not locked.
        bucket.store(first | LOCKED, Ordering::Relaxed);
        // SAFETY: this thread has acquired it above.
        unsafe { self.queue.release(&mut ()) };
        first
    }
}

/// A locked chain. It is unlocked when this is dropped.
pub(crate) struct Chain<'a, P: Platform> {
    bucket: &'a P::U32,
    frames: &'a Frames<P>,
    /// The first frame, in the bucket and from now on.
    before: u32,
    first: u32,
}

impl<'a, P: Platform> Chain<'a, P> {
    fn new(bucket: &'a P::U32, frames: &'a Frames<P>, first: u32) -> Self {
        Self { bucket, frames, before: first, first }
    }

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
        // Meanwhile it may have been reserved, which stays.
        let change = self.first.wrapping_sub(self.before | LOCKED);
        self.bucket.fetch_add(change, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use kilocore_platform::Native;

    use super::*;

    /// Whoever takes a chain's lock again and again does not pass by a thread that waits for it.
    #[test]
    fn who_waits_for_a_chain_comes_before_who_has_had_it() {
        const PAGE: PageId = PageId(1);
        let frames = Frames::<Native>::new(1).expect("there is so much memory");
        let table = Table::<Native>::new(1).expect("there is so much memory");
        for _ in 0..100 {
            let has_had_it = AtomicBool::new(false);
            let mut chain = table.lock(&frames, PAGE);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let _chain = table.lock(&frames, PAGE);
                    has_had_it.store(true, Ordering::Relaxed);
                });
                while table.bucket(PAGE).load(Ordering::Relaxed) & RESERVED == 0 {
                    std::thread::yield_now();
                }
                drop(chain);
                chain = table.lock(&frames, PAGE);
                assert!(has_had_it.load(Ordering::Relaxed));
                drop(chain);
            });
        }
    }
}
