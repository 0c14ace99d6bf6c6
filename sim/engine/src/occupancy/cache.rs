//! Who has how much of one cache.
//!
//! A line that comes in takes free room while there is some. After that it takes the place of another
//! line, whoever's that is: of each occupant in proportion to what it has, times how likely one of its
//! lines is to be the one that has not been used for longest. A task that uses each of its lines r
//! times while the cache's contents are replaced once has the weight 1 / (1 + r). A task that streams,
//! or that does not run, uses its lines never again: its weight is 1.
//!
//! The weight is an estimate. It has the right limits for least-recently-used replacement, and needs
//! nothing but + and ÷; stack distances of single lines, which decide in hardware, are not known here.

use crate::occupancy::units::Bytes;

/// Who has how much of one cache.
#[derive(Debug, Clone, PartialEq)]
pub struct Cache {
    capacity: Bytes,
    used: Bytes,
    /// What each task has in the cache, by the task's number.
    occupants: Vec<Occupant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Occupant {
    has: Bytes,
    /// Bytes that it uses again, per cycle.
    reused: f64,
    /// Bytes that it brings in, per cycle.
    inserted: f64,
}

impl Occupant {
    /// Its share of what goes, beside the others', while the cache's contents are replaced in so many
    /// cycles: what it has, times how likely one of its lines is to go, beside a line that is never
    /// used again.
    fn share(&self, replaced_in: f64) -> f64 {
        if self.has.0 <= 0.0 {
            return 0.0;
        }
        self.has.0 / (1.0 + self.reused / self.has.0 * replaced_in)
    }
}

impl Cache {
    /// Makes an empty cache of this size.
    #[must_use]
    pub fn new(capacity: Bytes) -> Self {
        Self { capacity, used: Bytes(0.0), occupants: Vec::new() }
    }

    /// What a task has of it.
    #[must_use]
    pub fn has(&self, task: usize) -> Bytes {
        self.occupants.get(task).map_or(Bytes(0.0), |occupant| occupant.has)
    }

    /// What all tasks have of it together: never more than its capacity.
    #[must_use]
    pub fn used(&self) -> Bytes {
        self.used
    }

    /// Returns the size of the cache, which does not change.
    #[must_use]
    pub fn capacity(&self) -> Bytes {
        self.capacity
    }

    /// A task uses so many bytes a cycle again, and brings so many in, until the next call. 0 and 0
    /// while it does not run.
    pub fn set_rates(&mut self, task: usize, reused: f64, inserted: f64) {
        let occupant = self.occupant(task);
        (occupant.reused, occupant.inserted) = (reused, inserted);
    }

    fn occupant(&mut self, task: usize) -> &mut Occupant {
        if task >= self.occupants.len() {
            self.occupants.resize(task + 1, Occupant::default());
        }
        &mut self.occupants[task]
    }

    /// A task brings in so many bytes, no more than the capacity in one call, so that what it evicts
    /// was there before.
    pub fn insert(&mut self, task: usize, bytes: Bytes) {
        let bytes = bytes.min(self.capacity);
        self.occupant(task);
        let excess = (self.used + bytes - self.capacity).0.max(0.0);
        if excess > 0.0 {
            self.evict(excess);
        }
        self.occupants[task].has += bytes;
        self.used = self.occupants.iter().fold(Bytes(0.0), |sum, occupant| sum + occupant.has);
        if self.used > self.capacity {
            // By rounding alone.
            let too_much = self.used - self.capacity;
            self.occupants[task].has -= too_much;
            self.used = self.capacity;
        }
    }

    /// How much more a task has after it brings so many bytes in: less than these in a full cache,
    /// where some of its own lines go.
    pub(crate) fn kept(&self, task: usize, bytes: f64) -> f64 {
        let excess = (self.used.0 + bytes - self.capacity.0).max(0.0);
        if excess == 0.0 {
            return bytes;
        }
        let replaced_in = self.replaced_in();
        let shares: f64 = self.occupants.iter().map(|one| one.share(replaced_in)).sum();
        let own = self.occupants.get(task).map_or(0.0, |one| one.share(replaced_in));
        bytes - excess * own / shares
    }

    /// In how many cycles all lines that come in fill the cache: 0 while none do.
    fn replaced_in(&self) -> f64 {
        let inserted: f64 = self.occupants.iter().map(|occupant| occupant.inserted).sum();
        if inserted > 0.0 { self.capacity.0 / inserted } else { 0.0 }
    }

    /// Takes so many bytes from the occupants. Nobody gives more than it has: what is missing then is
    /// taken from the others, in another round.
    fn evict(&mut self, bytes: f64) {
        let replaced_in = self.replaced_in();
        let mut left = bytes;
        // Each round but the last empties somebody.
        for _ in 0..=self.occupants.len() {
            let shares: f64 = self.occupants.iter().map(|one| one.share(replaced_in)).sum();
            if left <= 0.0 || shares <= 0.0 {
                return;
            }
            let each = left / shares;
            for occupant in &mut self.occupants {
                let gives = (occupant.share(replaced_in) * each).min(occupant.has.0);
                occupant.has.0 -= gives;
                left -= gives;
            }
        }
    }
}
