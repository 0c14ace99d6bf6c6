//! When a frame was linked in, coarsely: enough to tell which of two stripes has the older tail.
//!
//! # The idea
//! A clock counts batches, and all frames of a batch get the same stamp. So the hot path has one
//! read-modify-write of a shared word for 15 or 31 frames. A time-stamp counter would spare that one,
//! too. But a count says how many *pages* one frame is older than another, and that is what a cache has
//! to bound; it is also the same in each run of a simulation.
//!
//! Stamps wrap around. They are in order as long as they are less than 2^29 batches apart.

use kilocore_platform::{Atomic, AtomicInt, Ordering, Padded, Platform};

/// The stamp of a batch. It is odd, so that a word with the value 0 can stand for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp(u32);

/// From one stamp to the next one.
const STEP: u32 = 2;

impl Stamp {
    /// For lists that keep no time.
    pub(crate) const FIRST: Stamp = Stamp(1);

    /// Whether this one was given before another one.
    pub(crate) const fn is_before(self, other: Stamp) -> bool {
        (self.0.wrapping_sub(other.0) as i32) < 0
    }

    /// The one of two that was given first.
    pub(crate) const fn earlier(self, other: Stamp) -> Self {
        if other.is_before(self) { other } else { self }
    }

    /// A stamp that lies before all that are in use when this one is given.
    pub(crate) const fn long_before(self) -> Self {
        Stamp(self.0.wrapping_sub(1 << 30))
    }

    /// The word that holds a stamp, or none.
    pub(crate) const fn to_word(stamp: Option<Stamp>) -> u32 {
        match stamp {
            Some(stamp) => stamp.0,
            None => 0,
        }
    }

    /// The opposite of [`to_word`](Self::to_word).
    pub(crate) const fn from_word(word: u32) -> Option<Self> {
        if word == 0 { None } else { Some(Stamp(word)) }
    }
}

/// What stamps are read from: it counts batches of frames.
pub(crate) struct Clock<P: Platform>(Padded<P::U32>);

impl<P: Platform> Clock<P> {
    pub(crate) fn new() -> Self {
        Self(Padded(P::U32::new(Stamp::FIRST.0)))
    }

    /// Returns the next stamp. A stamp decides about nothing but the order of reclaim, so relaxed
    /// suffices.
    pub(crate) fn tick(&self) -> Stamp {
        Stamp(self.0.fetch_add(STEP, Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_in_order_when_they_wrap_around() {
        let last = Stamp(u32::MAX);
        let next = Stamp(last.0.wrapping_add(STEP));
        assert_eq!(next, Stamp::FIRST);
        assert!(last.is_before(next) && !next.is_before(last) && !next.is_before(next));
        assert!(next.long_before().is_before(last));
    }
}
