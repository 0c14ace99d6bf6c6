//! Another capacity, while the pool is in use.
//!
//! Frames beyond the capacity are parked: they have no page and are on no stack. Which frames these are does
//! not matter, so that a smaller pool needs no particular page to go.

use kilocore_lru::PageLists;
use kilocore_platform::{AtomicInt, Ordering, Platform};

use crate::error::PoolError;
use crate::pool::BufferPool;
use crate::store::Store;
use crate::word::Word;

impl<S: Store, P: Platform, T: PageLists<P>> BufferPool<S, P, T> {
    /// Changes how many pages may be in memory. If there are to be fewer, pages that were not used lately have
    /// to go, and their memory goes back to the system. A page of the system's own goes back as a whole, so that
    /// it stays if another page of the pool has a part of it.
    ///
    /// # Errors
    /// If the pool was made for fewer pages ([`Options::most`](crate::Options::most)), or if there are to be
    /// fewer, and the others are pinned or cannot be written. The capacity is then as near to the new one as it
    /// could get.
    pub fn resize(&self, capacity: u32) -> Result<(), PoolError> {
        let most = self.frames.len();
        if capacity > most {
            return Err(PoolError::BeyondMost { asked: capacity, most });
        }
        let _turn = self.resizing.enter();
        let present = self.capacity();
        if capacity > present {
            self.unpark(capacity - present);
        }
        for _ in capacity..present {
            let frame = self.obtain()?;
            // SAFETY: the frame is ours and has no page.
            unsafe { self.memory.release(frame) };
            let header = self.frames.at(frame);
            header.word.fetch_or(Word::PARKED, Ordering::Relaxed);
            self.capacity.fetch_sub(1, Ordering::Relaxed);
        }
        // Who waits for room waits in vain if there is no capacity at all.
        self.announce_room();
        Ok(())
    }

    /// Makes so many parked frames free ones.
    fn unpark(&self, count: u32) {
        let parked = self.frames.ids().filter(|frame| {
            // Only this thread parks frames now.
            self.frames.at(*frame).load(Ordering::Relaxed).has(Word::PARKED)
        });
        for frame in parked.take(count as usize) {
            self.frames.at(frame).word.fetch_and(!Word::PARKED, Ordering::Relaxed);
            self.capacity.fetch_add(1, Ordering::Relaxed);
            self.give_back(frame);
        }
    }
}
