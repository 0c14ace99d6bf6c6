//! What was seen of a word that a program uses as a lock.

use kilocore_platform::LogBuckets;

/// Which bucket a hold is counted in, by its instructions.
const SCALE: LogBuckets = LogBuckets::with_steps(4);
/// How many buckets there are. The last one has all that is longer, from 58 million on.
const BUCKETS: usize = 100;
const NUMBERS: usize = 14 + CALLERS * (1 + FURTHER);
/// So many callers are told of a lock.
pub const CALLERS: usize = 4;
/// So many further places are told where a lock is taken.
pub const FURTHER: usize = 2;
/// How many numbers a lock is in a record.
pub(crate) const WORDS: usize = NUMBERS + BUCKETS;

/// A word that a program's threads take by an atomic update and give back, and what was seen of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TracedLock {
    /// Where the word is.
    pub address: u64,
    /// The instruction that took it first.
    pub code: u64,
    /// Where the functions return to in which it was taken first, the innermost first. What is not known
    /// is 0.
    pub callers: [u64; CALLERS],
    /// The same of further places where it is taken, in the order in which they were seen first. Those that
    /// are not there are all 0.
    pub further_callers: [[u64; CALLERS]; FURTHER],
    /// How often it was taken.
    pub acquisitions: u64,
    /// How often it was taken and given back by the same thread. The other figures are of these.
    pub holds: u64,
    /// How often a thread took it that had not been its last holder.
    pub handovers: u64,
    /// How many threads took it, up to 64.
    pub threads: u64,
    /// The instructions from the one that took it to the one that gave it back, of all holds.
    pub instructions: u64,
    /// The same, of the longest hold.
    pub longest: u64,
    /// Lines that a holder only read, and that another one had written since it last had them. The
    /// lock's own line does not count.
    pub lines_moved_to_read: u64,
    /// Lines that a holder wrote, and that another one had used since it last wrote them, or had written.
    /// The lock's own line does not count; it moves with each handover.
    pub lines_moved_to_write: u64,
    /// How many of all these moves had to follow one another: of each hold the longest chain, in which each
    /// line is fetched only when the one before has come. It is between 1 and all if there were any.
    pub moves_in_turn: u64,
    /// Holds in which more lines were used than are followed.
    pub holds_with_more_lines: u64,
    /// Uses of lines that are not followed, because holders of this lock have used too many others.
    pub lines_not_followed: u64,
    /// How often a thread took it and had not given it back when it ended, or took too many others.
    pub abandoned: u64,
    buckets: [u64; BUCKETS],
}

impl Default for TracedLock {
    fn default() -> Self {
        Self::from_words(&[0; WORDS])
    }
}

impl TracedLock {
    /// A word of which nothing was seen.
    #[must_use]
    pub fn new(address: u64) -> Self {
        Self { address, ..Self::default() }
    }

    /// Remembers where it is taken, if that is a new place and there is room.
    pub fn taken_by(&mut self, code: u64, callers: [u64; CALLERS]) {
        if self.code == 0 {
            (self.code, self.callers) = (code, callers);
        } else if self.callers != callers {
            let place = self
                .further_callers
                .iter_mut()
                .find(|place| **place == callers || **place == [0; CALLERS]);
            place.into_iter().for_each(|place| *place = callers);
        }
    }

    /// Counts a hold of so many instructions.
    pub fn count_hold(&mut self, instructions: u64) {
        self.holds += 1;
        self.instructions = self.instructions.saturating_add(instructions);
        self.longest = self.longest.max(instructions);
        self.buckets[SCALE.bucket_of(instructions).min(BUCKETS - 1)] += 1;
    }

    /// How many instructions it was held, on average.
    #[must_use]
    pub fn mean_instructions(&self) -> f64 {
        self.instructions as f64 / self.holds.max(1) as f64
    }

    /// So many instructions, or up to a quarter more, are not exceeded by this share of the holds.
    #[must_use]
    pub fn quantile(&self, share: f64) -> u64 {
        let wanted = (share.clamp(0.0, 1.0) * self.holds as f64).ceil().max(1.0) as u64;
        let mut so_far = 0;
        let found = self.buckets.iter().position(|count| {
            so_far += count;
            so_far >= wanted
        });
        found.map_or(self.longest, |bucket| SCALE.lower_bound(bucket))
    }

    /// How many lines of data moved to a new holder, on average of the handovers. The lock's own line comes
    /// on top. A holder may fetch lines even if it was the last one, so there may be more of them than any
    /// single handover moves.
    #[must_use]
    pub fn lines_per_handover(&self) -> f64 {
        let moved = self.lines_moved_to_read + self.lines_moved_to_write;
        moved as f64 / self.handovers.max(1) as f64
    }

    pub(crate) fn words(&self) -> [u64; WORDS] {
        let numbers = [
            self.address,
            self.code,
            self.acquisitions,
            self.holds,
            self.handovers,
            self.threads,
            self.instructions,
            self.longest,
            self.lines_moved_to_read,
            self.lines_moved_to_write,
            self.moves_in_turn,
            self.holds_with_more_lines,
            self.lines_not_followed,
            self.abandoned,
        ];
        let mut words = [0; WORDS];
        words[..numbers.len()].copy_from_slice(&numbers);
        let places = [&self.callers].into_iter().chain(&self.further_callers);
        for (words, callers) in words[numbers.len()..NUMBERS].chunks_mut(CALLERS).zip(places) {
            words.copy_from_slice(callers);
        }
        words[NUMBERS..].copy_from_slice(&self.buckets);
        words
    }

    pub(crate) fn from_words(words: &[u64; WORDS]) -> Self {
        let mut buckets = [0; BUCKETS];
        buckets.copy_from_slice(&words[NUMBERS..]);
        let places = &words[NUMBERS - CALLERS * (1 + FURTHER)..NUMBERS];
        let place = |place: usize| std::array::from_fn(|caller| places[place * CALLERS + caller]);
        Self {
            address: words[0],
            code: words[1],
            callers: place(0),
            further_callers: std::array::from_fn(|further| place(1 + further)),
            acquisitions: words[2],
            holds: words[3],
            handovers: words[4],
            threads: words[5],
            instructions: words[6],
            longest: words[7],
            lines_moved_to_read: words[8],
            lines_moved_to_write: words[9],
            moves_in_turn: words[10],
            holds_with_more_lines: words[11],
            lines_not_followed: words[12],
            abandoned: words[13],
            buckets,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_places_are_remembered_each_once() {
        let mut lock = TracedLock::default();
        for place in [1, 2, 2, 1, 3, 4, 3, 5, 1] {
            lock.taken_by(9, [place, 7, 0, 0]);
        }
        let seen = [lock.callers].into_iter().chain(lock.further_callers).map(|of| of[0]);
        assert_eq!(seen.collect::<Vec<u64>>(), [1, 2, 3]);
        assert_eq!(TracedLock::from_words(&lock.words()), lock);
    }

    #[test]
    fn quantiles_are_those_of_the_holds() {
        let mut lock = TracedLock::default();
        (0..99).for_each(|_| lock.count_hold(7));
        lock.count_hold(1_000);
        assert_eq!((lock.quantile(0.5), lock.quantile(0.99), lock.quantile(1.0)), (7, 7, 896));
        assert_eq!((lock.longest, lock.holds), (1_000, 100));
        lock.count_hold(u64::MAX);
        assert_eq!((lock.quantile(1.0), lock.longest), (58_720_256, u64::MAX));
        assert_eq!(TracedLock::from_words(&lock.words()), lock);
    }
}
