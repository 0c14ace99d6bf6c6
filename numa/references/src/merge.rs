//! In which order the quanta of several threads go.
//!
//! Each thread has a clock, which counts its instructions, and the thread that is furthest behind goes
//! first. Two things put that straight:
//!
//! * **Waiting.** A thread that waits in the system does not hold up the others. When it comes back, its
//!   clock is put forward to where they are. Otherwise it would go alone until it had caught up.
//! * **The address space.** All that happened before a change of it goes before that change, and what has
//!   seen the change goes after it, whatever the clocks say. Otherwise pages would be used before they
//!   are mapped, and after they are gone. The *rank* says this: twice the number of changes that a quantum
//!   has seen, and one less than twice its number for a change.
//!
//! The order inside a quantum is lost, and so is who came first of two threads within about a quantum.

use crate::Instructions;

/// What is known of a thread's stream at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// There is no thread.
    Unused,
    /// The thread waits in the system, and all that it did before has been taken.
    Away,
    /// Nothing has come yet. What comes has this rank or a higher one.
    Busy {
        /// The least rank that what comes next can have.
        rank: u64,
    },
    /// Something has come, and has not been taken.
    Ready {
        /// The rank of what comes first.
        rank: u64,
    },
}

/// The rank of a quantum that has seen so many changes of the address space.
#[must_use]
pub const fn rank_of_quantum(epoch: u64) -> u64 {
    epoch.saturating_mul(2)
}

/// The rank of the change of this number, counted from 1.
#[must_use]
pub const fn rank_of_change(number: u64) -> u64 {
    number.saturating_mul(2).saturating_sub(1)
}

#[derive(Debug, Clone, Copy, Default)]
struct Clock {
    at: u64,
    /// The others went on without it.
    passed: bool,
}

/// The clocks of all streams.
#[derive(Debug, Default)]
pub struct Merge {
    clocks: Vec<Clock>,
    now: u64,
}

impl Merge {
    fn clock_mut(&mut self, stream: usize) -> &mut Clock {
        if self.clocks.len() <= stream {
            self.clocks.resize(stream + 1, Clock::default());
        }
        &mut self.clocks[stream]
    }

    /// A thread begins with this stream. Its clock shows what the others' do.
    pub fn begin(&mut self, stream: usize) {
        let at = self.now;
        *self.clock_mut(stream) = Clock { at, passed: false };
    }

    /// The clock of a stream.
    #[inline]
    #[must_use]
    pub fn clock(&self, stream: usize) -> Instructions {
        Instructions(self.clocks.get(stream).map_or(self.now, |clock| clock.at))
    }

    /// The stream's thread has executed so many instructions.
    pub fn advance(&mut self, stream: usize, instructions: u32) {
        let clock = self.clock_mut(stream);
        clock.at = clock.at.saturating_add(instructions.into());
    }

    /// Returns the stream that goes next. There is none if nothing has come, or if something may come
    /// that goes before what has come. With `patient` unset, what has not come is not waited for.
    pub fn pick(&mut self, streams: &[Readiness], patient: bool) -> Option<usize> {
        let mut first: Option<(u64, u64, usize)> = None;
        let mut awaited: Option<(u64, u64, usize)> = None;
        for (stream, readiness) in streams.iter().enumerate() {
            let (rank, place) = match *readiness {
                Readiness::Unused | Readiness::Away => continue,
                Readiness::Busy { rank } => (rank, &mut awaited),
                Readiness::Ready { rank } => (rank, &mut first),
            };
            let key = (rank, self.arrived(stream), stream);
            if place.is_none_or(|other| key < other) {
                *place = Some(key);
            }
        }
        let key = first?;
        if patient && awaited.is_some_and(|other| other < key) {
            return None;
        }
        for (stream, readiness) in streams.iter().enumerate() {
            let passed = match *readiness {
                Readiness::Away => true,
                Readiness::Busy { rank } => (rank, self.clocks[stream].at, stream) < key,
                Readiness::Unused | Readiness::Ready { .. } => false,
            };
            if passed {
                self.clock_mut(stream).passed = true;
            }
        }
        self.now = key.1;
        Some(key.2)
    }

    /// The clock of a stream whose thread is there, after it was put forward if need be.
    fn arrived(&mut self, stream: usize) -> u64 {
        let now = self.now;
        let clock = self.clock_mut(stream);
        if clock.passed {
            *clock = Clock { at: clock.at.max(now), passed: false };
        }
        clock.at
    }
}

#[cfg(test)]
mod tests {
    use super::Readiness::{Away, Busy, Ready};
    use super::*;

    const HERE: Readiness = Ready { rank: 0 };
    const LATE: Readiness = Busy { rank: 0 };

    #[test]
    fn who_is_furthest_behind_goes_first() {
        let mut merge = Merge::default();
        assert_eq!(merge.pick(&[HERE, HERE], true), Some(0));
        merge.advance(0, 10);
        assert_eq!(merge.pick(&[HERE, HERE], true), Some(1));
        merge.advance(1, 25);
        assert_eq!(merge.pick(&[HERE, HERE], true), Some(0));
        assert_eq!(merge.clock(0), Instructions(10));
    }

    #[test]
    fn who_may_still_come_first_is_waited_for_as_long_as_there_is_patience() {
        let mut merge = Merge::default();
        merge.advance(0, 10);
        assert_eq!(merge.pick(&[HERE, LATE], true), None);
        assert_eq!(merge.pick(&[HERE, LATE], false), Some(0));
        merge.advance(0, 90);
        assert_eq!(merge.pick(&[HERE, HERE], true), Some(1));
        assert_eq!(merge.clock(1), Instructions(10), "where the others were");
        assert_eq!(merge.pick(&[LATE, HERE], true), Some(1), "the one that is late is ahead");
    }

    #[test]
    fn who_was_away_does_not_go_alone_until_it_has_caught_up() {
        let mut merge = Merge::default();
        for _ in 0..100 {
            assert_eq!(merge.pick(&[HERE, Away], true), Some(0));
            merge.advance(0, 10);
        }
        assert_eq!(merge.pick(&[HERE, HERE], true), Some(1));
        assert_eq!(merge.clock(1), Instructions(990));
        merge.advance(1, 20);
        assert_eq!(merge.pick(&[HERE, HERE], true), Some(0));
    }

    #[test]
    fn changes_of_the_address_space_are_seen_by_what_came_later_only() {
        let mut merge = Merge::default();
        merge.advance(1, 1_000);
        // The first has a change to tell; the second is far ahead, and had not seen it.
        let change = Ready { rank: rank_of_change(1) };
        let before = Ready { rank: rank_of_quantum(0) };
        let after = Ready { rank: rank_of_quantum(1) };
        assert_eq!(merge.pick(&[change, before], true), Some(1));
        assert_eq!(merge.pick(&[change, after], true), Some(0));
        assert_eq!(merge.pick(&[change, Busy { rank: rank_of_quantum(0) }], true), None);
        assert_eq!(merge.pick(&[change, Busy { rank: rank_of_quantum(1) }], true), Some(0));
        merge.begin(2);
        assert_eq!(merge.clock(2), Instructions(0), "a new thread begins where the first one is");
    }
}
