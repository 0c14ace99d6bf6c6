//! A read-write lock in which phases of readers and of writers take turns.
//!
//! A reader waits for one writer at most, and a writer for the readers of one phase and for the writers
//! before it. So neither side starves, and a reader waits about as long as one critical section of
//! each kind, however many threads there are (Brandenburg and Anderson, 'Spin-based reader-writer
//! synchronization for multiprocessor real-time systems', Real-Time Systems 2010).
//!
//! Readers count themselves in one word when they come and in another when they leave, so the two never
//! wait for each other. A writer that is next announces its phase in the word of arrivals, which tells
//! it in the same step how many readers came before it. It enters when as many have left. Readers that
//! come later find the announcement. They wait until the phase is over, and are then inside, because
//! they are counted already: the next writer waits for them.
//!
//! # Where it departs from the paper
//! * **Writers** wait in the order of arrival behind a [requester-based lock](Requester) instead of a
//!   ticket of this lock, so that a hand-over between writers concerns few of them. The next writer
//!   announces itself only after the one inside has left. In between, readers may come and enter,
//!   besides those that have waited. A writer that finds neither a writer nor a line announces itself
//!   without standing in line.
//! * **Waiters park.** They wait at [gates](crate::gate) outside of the lock. Both words have bits that
//!   say that somebody waits there.
//! * **Memory.** Each release leaves in one step, after which it does not touch the lock. In the paper,
//!   a writer first admits the readers and then the next writer.
//!
//! # How many readers there may be
//! A writer compares how many readers have come with how many have left, and both numbers start again
//! at 0 when their bits are used up. So there must never be as many inside as a number has values. Now
//! and then, a reader therefore looks how many there are: whenever it finds [`TOLL`] set, a high bit
//! of the number of arrivals, which it tests together with `PRESENT`. It clears the bit by arriving and
//! leaving as many times as the bit stands for, in two additions. Until the bit is set again, fewer
//! readers come than lie between the [limit](LIMIT) and the end.
//!
//! # The words
//!
//! | word | bits | meaning |
//! | --- | --- | --- |
//! | `arrivals` | `PHASE` | changes with every writer |
//! | | `PRESENT` | a writer is inside, or waits for readers to leave |
//! | | `PARKED` | a reader may wait at the gate of the readers |
//! | | `NEXT` | the first writer in line is next, and no other may announce itself |
//! | | the rest | how many readers have come |
//! | `departures` | `DRAINING` | the writer waits for readers to leave |
//! | | the rest | how many readers have left |

use core::fmt;

use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform};

use crate::gate::{Gate, READERS_GATE, WRITERS_GATE};
use crate::raw::free_abandoned;
use crate::reader_limit::too_many_readers;
use crate::word::enter_unless;
use crate::{LockInfo, RawLock, RawRwLock, Requester, Waiting};

/// The bit of `arrivals` that changes with every writer.
const PHASE: u32 = 1;
/// The bit that is set from the announcement of a writer until it leaves.
const PRESENT: u32 = 2;
/// The bit that is set while a reader may wait at its gate.
const PARKED: u32 = 4;
/// The bit that is set from when a writer is the first in line until it announces itself.
const NEXT: u32 = 8;
/// What a reader adds to either word. What overflows is lost in both words alike.
const READER: u32 = 16;
/// How many readers there may be inside when one looks, times [`READER`]: half of what a word counts.
const LIMIT: u32 = 1 << 31;
/// The bit of `arrivals` that is set when a reader has to look how many there are.
const TOLL: u32 = LIMIT >> 4;
/// The bit of `departures` that is set while the writer waits for readers to leave.
const DRAINING: u32 = 1;

/// A read-write lock without data.
pub struct PhaseFair<P: Platform> {
    arrivals: P::U32,
    departures: P::U32,
    /// The line of the writers that wait.
    line: Requester<P>,
}

/// What the registry says of it.
pub(crate) const INFO: LockInfo = LockInfo {
    name: "phase-fair",
    title: "readers and writers take turns",
    source: "Brandenburg and Anderson 2010",
    best_at: "readers and writers that must both get in soon",
    worst_at: "short reads on many cores, each of which writes a counter twice",
    waiting: Waiting::RestInTurn,
    aliases: &[],
};

/// Returns the bit of `arrivals` at which a reader looks how many there are. A checker takes a low one,
/// so that it happens often.
const fn toll<P: Platform>() -> u32 {
    if P::CHECKED { READER << 1 } else { TOLL }
}

/// Returns how many readers a word counts, times [`READER`].
const fn count(word: u32) -> u32 {
    word & !(READER - 1)
}

impl<P: Platform> PhaseFair<P> {
    /// Goes on after the caller has arrived as a reader when `arrivals` was `before`, in which a writer
    /// was present or the toll was due.
    #[cold]
    #[inline(never)]
    fn acquire_shared_slowly<R>(&self, before: u32, then: impl FnOnce(()) -> R) -> R {
        if before & PRESENT != 0 {
            self.wait_for_the_writer(before);
        }
        if before & toll::<P>() != 0 && !self.pay_toll() {
            too_many_readers::<P>();
        }
        then(())
    }

    /// Enters as a reader if no writer is present and there are not too many readers.
    #[cold]
    fn try_acquire_shared_slowly(&self) -> bool {
        let shut = |arrivals| arrivals & PRESENT != 0;
        let arrive = |arrivals: u32| arrivals.wrapping_add(READER);
        self.pay_toll() && enter_unless(&self.arrivals, shut, arrive)
    }

    /// Pays the toll if it is due, no writer is present and there are not too many readers. Returns false
    /// in the last case.
    ///
    /// If a writer is present, whose look at `arrivals` is over, nobody may leave that it does not know
    /// of. Then the toll stays due; no harm is done, as the writer waits until all readers have left.
    fn pay_toll(&self) -> bool {
        let toll = toll::<P>();
        // Argued: acquire, here and below, keeps the three loads in this order. Otherwise readers that
        // come and leave meanwhile could make the numbers look far apart. Checkers do not get so far.
        let mut arrivals = self.arrivals.load(Ordering::Acquire);
        loop {
            if arrivals & (PRESENT | toll) != toll {
                return true;
            }
            // Argued: see above.
            let departures = self.departures.load(Ordering::Acquire);
            let readers = count(arrivals).wrapping_sub(count(departures));
            if readers >= LIMIT && self.arrivals.load(Ordering::Relaxed) == arrivals {
                return false;
            }
            let paid = arrivals.wrapping_add(toll);
            let exchanged = self.arrivals.compare_exchange(
                arrivals,
                paid,
                Ordering::Relaxed,
                Ordering::Acquire,
            );
            match exchanged {
                Ok(_) => break,
                Err(now) => arrivals = now,
            }
        }
        // Release: whoever sees that we have left sees that we had arrived. Otherwise one who looks how
        // many there are could take a few for too many.
        if self.departures.fetch_add(toll, Ordering::Release) & DRAINING != 0 {
            Gate::<P>::open(P::address_key(self), WRITERS_GATE);
        }
        true
    }

    /// Waits until the writer has left that was present when `arrivals` was `before`.
    fn wait_for_the_writer(&self, before: u32) {
        // The next writer cannot leave before this reader does. So the phase does not come back.
        let phase = before & (PRESENT | PHASE);
        let shut = |arrivals: u32| arrivals & (PRESENT | PHASE) == phase;
        P::patiently(|| {
            Gate::<P>::of(P::address_key(self), READERS_GATE).wait_while(|| {
                // Acquire: once we are inside, we see what the writer wrote.
                shut(self.arrivals.load(Ordering::Acquire))
                    && shut(self.arrivals.fetch_or(PARKED, Ordering::Acquire))
            });
        });
    }

    /// Waits at the gate of the writers while `shut` returns true.
    fn wait_at_gate(&self, shut: impl FnMut() -> bool) {
        P::patiently(|| Gate::<P>::of(P::address_key(self), WRITERS_GATE).wait_while(shut));
    }

    /// Opens the gates at which threads may wait for the writer that has left. Before that, `arrivals`
    /// was `before`. The lock may be gone.
    #[cold]
    #[inline(never)]
    fn open_gates(key: usize, before: u32) {
        if before & PARKED != 0 {
            Gate::<P>::open(key, READERS_GATE);
        }
        if before & NEXT != 0 {
            Gate::<P>::open(key, WRITERS_GATE);
        }
    }

    /// Announces a writer if none is present, none stands in line, and `arrivals` still has the given
    /// value. Returns whether it did. If so, the readers that the value counts may still be inside.
    #[inline]
    fn announce_now(&self, arrivals: u32) -> bool {
        let announced = arrivals.wrapping_add(Self::announcement(arrivals));
        arrivals & (PRESENT | NEXT) == 0
            && self.line.is_free()
            // Acquire: we see what the last writer wrote.
            && self
                .arrivals
                .compare_exchange(arrivals, announced, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
    }

    /// Waits in line and enters as the writer.
    #[cold]
    #[inline(never)]
    fn acquire_in_line(&self) {
        P::patiently(|| {
            self.line.acquire(&mut ());
            self.arrivals.fetch_or(NEXT, Ordering::Relaxed);
            // From now on, no other writer is announced.
            let mut arrivals = self.arrivals.load(Ordering::Relaxed);
            if arrivals & PRESENT != 0 {
                self.wait_at_gate(|| {
                    arrivals = self.arrivals.load(Ordering::Relaxed);
                    arrivals & PRESENT != 0
                });
            }
            // One addition, which never fails, however many readers come at once. Acquire: we see what the
            // last writer wrote.
            let announcement = Self::announcement(arrivals).wrapping_sub(NEXT);
            let before = self.arrivals.fetch_add(announcement, Ordering::Acquire);
            self.drain(before);
        });
        // SAFETY: acquired above.
        unsafe { self.line.release(&mut ()) };
    }

    /// Returns what announces a writer when it is added to `arrivals`, in which none is present.
    #[inline]
    const fn announcement(arrivals: u32) -> u32 {
        if arrivals & PHASE == 0 { PRESENT + PHASE } else { PRESENT - PHASE }
    }

    /// Whether fewer readers have left than `arrivals` counts.
    #[inline]
    fn is_read(&self, arrivals: u32) -> bool {
        // Acquire: what readers read happened before we are inside.
        count(self.departures.load(Ordering::Acquire)) != count(arrivals)
    }

    /// Waits until as many readers have left as `arrivals` counts.
    #[inline]
    fn drain(&self, arrivals: u32) {
        if self.is_read(arrivals) {
            self.drain_slowly(arrivals);
        }
    }

    #[cold]
    #[inline(never)]
    fn drain_slowly(&self, arrivals: u32) {
        self.departures.fetch_or(DRAINING, Ordering::Relaxed);
        self.wait_at_gate(|| self.is_read(arrivals));
        self.departures.fetch_and(!DRAINING, Ordering::Relaxed);
    }
}

// SAFETY: a writer announces itself while none is present. If it has the line, it has set `NEXT` first,
// which only it clears, and so no other writer has come between its look and its step. If it has not,
// the step itself finds neither a writer nor `NEXT`. It enters when as many readers have left as had
// come before the announcement, which includes all that were inside. A reader that comes later is inside only after the writer has left. A writer sees with
// acquire what readers left with release in `departures`, and what the last writer left with release in
// `arrivals`, where readers see that too. The lock names no thread. It is free when all its bits are
// zero.
unsafe impl<P: Platform> RawRwLock<P> for PhaseFair<P> {
    type Reader = ();
    const ALIKE: () = ();
    const HOLDER_MAY_DESTROY: bool = true;

    fn new() -> Self {
        // For a checker, the second reader pays. What the first one pays would hide what it has to see.
        let begin = if P::CHECKED { toll::<P>() - READER } else { 0 };
        Self {
            arrivals: P::U32::new(begin),
            departures: P::U32::new(begin),
            line: Requester::new(),
        }
    }

    #[inline]
    fn acquire_shared(&self) {
        self.acquire_shared_then(|()| ());
    }

    #[inline]
    fn acquire_shared_then<R>(&self, then: impl FnOnce(()) -> R) -> R {
        let before = self.arrivals.fetch_add(READER, Ordering::Acquire);
        if before & (PRESENT | toll::<P>()) != 0 {
            return self.acquire_shared_slowly(before, then);
        }
        then(())
    }

    #[inline]
    fn try_acquire_shared(&self) -> Option<()> {
        let shut = |arrivals| arrivals & (PRESENT | toll::<P>()) != 0;
        // What overflows is lost.
        let arrive = |arrivals: u32| arrivals.wrapping_add(READER);
        (enter_unless(&self.arrivals, shut, arrive) || self.try_acquire_shared_slowly())
            .then_some(())
    }

    #[inline]
    unsafe fn release_shared(&self, (): ()) {
        let key = P::address_key(self);
        if self.departures.fetch_add(READER, Ordering::Release) & DRAINING != 0 {
            Gate::<P>::open(key, WRITERS_GATE);
        }
    }

    #[inline]
    fn acquire(&self) {
        let arrivals = self.arrivals.load(Ordering::Relaxed);
        if self.announce_now(arrivals) {
            self.drain(arrivals);
        } else {
            self.acquire_in_line();
        }
    }

    #[inline]
    fn try_acquire(&self) -> bool {
        let arrivals = self.arrivals.load(Ordering::Relaxed);
        if self.is_read(arrivals) || !self.announce_now(arrivals) {
            return false;
        }
        // No reader has come since, so nobody is inside. If so many have come that their number is
        // the same, this waits for them. A writer that was announced cannot go back: the phase would,
        // and readers that wait would not see that it was over.
        self.drain(arrivals);
        true
    }

    #[inline]
    unsafe fn release(&self) {
        let key = P::address_key(self);
        let before = self.arrivals.fetch_and(!(PRESENT | PARKED), Ordering::Release);
        if before & (PARKED | NEXT) != 0 {
            Self::open_gates(key, before);
        }
    }

    #[inline]
    unsafe fn downgrade(&self) {
        // The next writer will wait for us, as for a reader that has come.
        self.arrivals.fetch_add(READER, Ordering::Relaxed);
        // SAFETY: the caller is inside as the writer.
        unsafe { self.release() };
    }

    unsafe fn forget_others(&self) {
        let arrivals = self.arrivals.load(Ordering::Relaxed);
        self.departures.store(count(arrivals), Ordering::Relaxed);
        self.arrivals.store(count(arrivals) | arrivals & PHASE | PRESENT, Ordering::Relaxed);
        // SAFETY: nobody else is left in the line.
        unsafe { free_abandoned(&self.line) };
    }

    fn has_writer(&self) -> bool {
        self.arrivals.load(Ordering::Relaxed) & PRESENT != 0
    }
}

impl<P: Platform> fmt::Debug for PhaseFair<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arrivals = self.arrivals.load(Ordering::Relaxed);
        let departures = self.departures.load(Ordering::Relaxed);
        f.debug_struct("PhaseFair")
            .field("writer", &(arrivals & PRESENT != 0))
            .field("readers", &(count(arrivals).wrapping_sub(count(departures)) / READER))
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
limit_tests!(PhaseFair, |lock| {
    lock.arrivals.store(LIMIT | TOLL, Ordering::Relaxed);
    lock.departures.store(TOLL, Ordering::Relaxed);
});
