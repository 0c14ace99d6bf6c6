//! How long a waiter has waited, and what it does until it looks at the lock again.

use kilocore_platform::{Native, Platform};

use crate::{cores, deadline};

/// How long a waiter has waited for a lock.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Impatience {
    /// Zero outside of a wait. Else the turns of a spin loop, or what counts for them, from one on. A waiter that has
    /// given way, and nobody wanted its core, is allowed some of them anew.
    turns: u32,
    /// [`GAVE_WAY`](Self::GAVE_WAY) once it has given way, and when it did so first, in microseconds, as far as there is room.
    gave_way: u32,
}

impl Impatience {
    /// The waiter has spun for long enough and gives way to other threads.
    const GAVE_WAY: u32 = 1 << 31;
    /// Other threads wanted the core if it took longer until the waiter had it again, in nanoseconds.
    const NOBODY_CAME: u64 = 1_000;
    /// The part of the turns that it spins at first, which a waiter spins before it offers its core again, if nobody wanted it.
    const AGAIN: u32 = 8;
    /// The part of its time by which a waiter may notice its turn late, divided by the number of waiters in its queue.
    /// All behind it are as late, too, and each adds its own: were it an eighth for each of more than eight, the queue
    /// would get slower the longer it has waited, and stand still in the end. Before a sleep is worth a call, the
    /// waiter only offers its core to others.
    const PART: u64 = 8;
    /// The shortest sleep that is worth a call, and the longest, in nanoseconds.
    const SHORTEST_SLEEP: u64 = 50_000;
    const LONGEST_SLEEP: u64 = 4_000_000;

    /// Returns the value at the beginning of a wait.
    pub(crate) const fn new() -> Self {
        Self { turns: 1, gave_way: 0 }
    }

    /// Begins a wait, which [`end`](Self::end) ends, unless the thread is in one already. Returns
    /// whether it did. Outside of a wait, [`pause`](Self::pause) only pauses and never sleeps, since
    /// a thread that releases a lock must not be delayed.
    pub(crate) fn begin(&mut self) -> bool {
        let begins = self.turns == 0;
        if begins {
            *self = Self::new();
        }
        begins
    }

    pub(crate) fn end(&mut self) {
        self.turns = 0;
    }

    /// Pauses for `turns` turns, or longer if the thread has waited for a long time.
    #[inline]
    pub(crate) fn pause(&mut self, turns: u32) {
        if self.turns == 0 {
            Native::pause(turns);
        } else {
            self.wait(turns);
        }
    }

    /// Passes the time until the waiter looks at the lock again.
    #[inline]
    pub(crate) fn wait(&mut self, turns: u32) {
        if self.turns < cores::turns_of_spinning() {
            Native::pause(turns);
            self.turns = self.turns.saturating_add(turns);
        } else {
            self.give_way();
        }
    }

    /// How many turns the waiter spins before it gives way.
    #[inline]
    pub(crate) fn turns_left(&self) -> u32 {
        cores::turns_of_spinning().saturating_sub(self.turns)
    }

    /// The waiter has spun for so many turns elsewhere.
    #[inline]
    pub(crate) fn has_waited(&mut self, turns: u32) {
        self.turns = self.turns.saturating_add(turns);
    }

    /// Offers the core to other threads, or sleeps.
    #[cold]
    fn give_way(&mut self) {
        let before = deadline::nanoseconds();
        let now = (before / 1_000) as u32;
        if self.gave_way == 0 {
            self.gave_way = Self::GAVE_WAY | now;
        }
        let given_way = now.wrapping_sub(self.gave_way) & !Self::GAVE_WAY;
        if let Some(nanos) = Self::sleep(given_way, cores::for_waiters()) {
            return deadline::sleep(nanos);
        }
        kilocore_preload_common::errno::preserved(Native::yield_now);
        let took = deadline::nanoseconds().saturating_sub(before);
        self.turns = Self::turns_after(took, cores::turns_of_spinning());
    }

    /// How many turns count as spun after the waiter has offered its core for so long, and spins at most so many.
    fn turns_after(took: u64, most: u32) -> u32 {
        // A waiter that does nothing but offer its core notices its turn late: by half of a call in the mean.
        if took < Self::NOBODY_CAME { (most - most / Self::AGAIN).max(1) } else { most }
    }

    /// How long a waiter that has given way for so many microseconds, one of so many, sleeps, in nanoseconds, if it
    /// does.
    fn sleep(given_way: u32, waiters: u32) -> Option<u64> {
        let nanos = u64::from(given_way) * 1_000 / (Self::PART * u64::from(waiters));
        (nanos >= Self::SHORTEST_SLEEP).then_some(nanos.min(Self::LONGEST_SLEEP))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waiter_spins_again_if_nobody_wanted_its_core() {
        assert_eq!(Impatience::turns_after(400, 8_000), 7_000);
        assert_eq!(Impatience::turns_after(2_000, 8_000), 8_000);
        // On a single core, nobody else runs while it spins.
        assert_eq!(Impatience::turns_after(400, 1), 1);
    }

    #[test]
    fn all_waiters_together_are_late_by_an_eighth_of_the_time_that_they_have_waited() {
        assert_eq!(Impatience::sleep(0, 1), None);
        assert_eq!(Impatience::sleep(399, 1), None);
        assert_eq!(Impatience::sleep(400, 1), Some(50_000));
        assert_eq!(Impatience::sleep(8_000, 1), Some(1_000_000));
        assert_eq!(Impatience::sleep(u32::MAX >> 1, 1), Some(4_000_000));
        // Together they are late by no more.
        assert_eq!(Impatience::sleep(8_000, 47), None);
        assert_eq!(Impatience::sleep(8_000 * 47, 47), Some(1_000_000));
    }
}
