//! Where the readers of a core say which side they read.
//!
//! # The idea
//! * A reader writes into the seat of its core which side it may be reading, *then* looks which sides are
//!   shown. A writer hides a side, *then* looks at all seats. Both are sequentially consistent. So the
//!   reader sees that the side is hidden, or the writer sees the reader.
//! * A reader guesses first. If the side that it has announced is shown, it is inside: one atomic exchange.
//! * If not, it announces both sides, and looks again. Whatever it sees now, it may read, and it takes
//!   the other side back. So a reader never starts over, whatever writers do.
//! * The seat is one word for a reader that is alone in it, who leaves by a plain store. If there is another
//!   already, because it sits there while it was preempted, or because a reader reads twice, then
//!   readers are counted in a second word.
//!
//! A side is announced without need only by a reader whose guess was out of date. That happens at most once
//! to a reader for each time that a writer hides a side. So no stream of readers keeps a writer waiting.
//!
//! # Why writers see what readers did
//! A writer may change a side when no seat shows it. It reads that with acquire, and whatever takes a side back
//! releases. A reader that comes later, and overwrites what was released, has acquired it, and
//! releases it in turn.

use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform, Wait};

use crate::side::{Side, Sides};

/// How the readers of a core say what they read. All of it is on one cache line.
pub(crate) struct Seat<P: Platform> {
    /// The sides of the reader that has the seat for itself.
    lone: P::U32,
    /// How many others may read the even side (in the lower half) and the odd side.
    crowd: P::U64,
}

/// What a reader has announced.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Presence {
    pub(crate) side: Side,
    /// Whether it is counted, and does not have the seat for itself.
    counted: bool,
}

/// The most readers that a seat counts on a side. As many may try at the same time to be one more: no
/// system has so many threads.
const MOST: u32 = 1 << 31;

/// One reader in the word that counts those of both sides.
#[inline]
fn one(side: Side) -> u64 {
    1 << (32 * side.index())
}

#[inline]
fn count(crowd: u64, side: Side) -> u32 {
    (crowd >> (32 * side.index())) as u32
}

impl<P: Platform> Seat<P> {
    pub(crate) fn new() -> Self {
        Self { lone: P::U32::new(Sides::NONE.0), crowd: P::U64::new(0) }
    }

    /// Announces a reader, and returns which side it may read until it [leaves](Self::leave). `guess` is the side
    /// that is probably shown, and `home` the one that the reader prefers. `shown` looks which sides are
    /// shown, after all that the caller has done before.
    ///
    /// # Panics
    /// If 2^31 readers are in the seat.
    #[inline]
    pub(crate) fn enter(&self, guess: Side, home: Side, shown: impl Fn() -> Sides) -> Presence {
        let wanted = Sides::only(guess);
        let none = Sides::NONE.0;
        // Argued: sequentially consistent, so that the look at what is shown comes after it; see the head
        // of the file. It also acquires what the seat's last reader released, and hands that on.
        let alone = self.lone.compare_exchange(none, wanted.0, Ordering::SeqCst, Ordering::Relaxed);
        if alone.is_err() {
            return self.enter_counted(guess, home, shown);
        }
        let side = if shown().has(guess) { guess } else { self.look_again(home, shown) };
        Presence { side, counted: false }
    }

    /// Finds a side for a reader that has the seat for itself, and whose guess was wrong.
    #[cold]
    #[inline(never)]
    fn look_again(&self, home: Side, shown: impl Fn() -> Sides) -> Side {
        // Argued: sequentially consistent, as in `enter`.
        self.lone.swap(Sides::BOTH.0, Ordering::SeqCst);
        let side = shown().nearest(home);
        // Release: as in `leave`, for the side that is taken back.
        self.lone.store(Sides::only(side).0, Ordering::Release);
        side
    }

    /// Does all of it for a reader that does not have the seat for itself.
    #[cold]
    #[inline(never)]
    fn enter_counted(&self, guess: Side, home: Side, shown: impl Fn() -> Sides) -> Presence {
        self.count_one(guess);
        let side = if shown().has(guess) {
            guess
        } else {
            self.count_one(guess.other());
            let side = shown().nearest(home);
            // Relaxed: nothing was read on this side, and what others have released continues.
            self.crowd.fetch_sub(one(side.other()), Ordering::Relaxed);
            side
        };
        Presence { side, counted: true }
    }

    fn count_one(&self, side: Side) {
        // Argued: sequentially consistent, as in `enter`.
        let before = self.crowd.fetch_add(one(side), Ordering::SeqCst);
        if count(before, side) >= MOST {
            self.crowd.fetch_sub(one(side), Ordering::Relaxed); // Relaxed: it has read nothing.
            panic!("more than 2^31 readers of one core have not left");
        }
    }

    /// Takes back what a reader has announced.
    ///
    /// # Safety
    /// [`enter`](Self::enter) has returned `presence`, and this is the only call for it.
    #[inline]
    pub(crate) unsafe fn leave(&self, presence: Presence) {
        if presence.counted {
            // Release: a writer that sees the count knows that the reader has read.
            self.crowd.fetch_sub(one(presence.side), Ordering::Release);
        } else {
            // Release: a writer that sees this knows that the reader has read. A plain store is enough,
            // because nobody else changes a word that is not `NONE`.
            self.lone.store(Sides::NONE.0, Ordering::Release);
        }
    }

    /// Waits until nobody reads a side, which the caller has hidden before.
    pub(crate) fn wait_for_readers_of(&self, side: Side) {
        let how = if P::has_low_power_wait() { Wait::LowPower } else { Wait::Spin };
        // Argued: sequentially consistent, here and below, so that it comes after the side was hidden; see
        // the head of the file. It looks again after a wait, because that is not sequentially
        // consistent. It acquires what readers released.
        while Sides(self.lone.load(Ordering::SeqCst)).has(side) {
            P::wait_until(&self.lone, how, |lone| !Sides(lone).has(side));
        }
        // Argued: as above.
        while count(self.crowd.load(Ordering::SeqCst), side) != 0 {
            P::wait_until(&self.crowd, how, |crowd| count(crowd, side) == 0);
        }
    }
}

#[cfg(all(test, feature = "native"))]
mod tests;
