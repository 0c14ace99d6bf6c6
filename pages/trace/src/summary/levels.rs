//! A quantity over time, in steps of equal length. Nobody knows beforehand how long it will take: if
//! there are too many steps, every second one goes, and steps are twice as long.

use serde::Serialize;

use crate::Nanoseconds;

/// How many pages were held at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Moment {
    /// The time, from the beginning of the recording.
    pub at: Nanoseconds,
    /// How many pages were held then.
    pub held: u64,
}

/// There are fewer steps than this.
const MOST: usize = 64;

/// A quantity over time.
#[derive(Debug)]
pub(super) struct Levels {
    step: u64,
    moments: Vec<Moment>,
}

impl Default for Levels {
    fn default() -> Self {
        Self { step: 1 << 10, moments: Vec::new() }
    }
}

impl Levels {
    /// Until a time, which is no earlier than those before, the quantity was this.
    pub(super) fn until(&mut self, at: Nanoseconds, held: u64) {
        while let Some(next) = self.step.checked_mul(self.moments.len() as u64 + 1)
            && next <= at.0
        {
            self.moments.push(Moment { at: Nanoseconds(next), held });
            if self.moments.len() == MOST {
                let mut odd = false;
                self.moments.retain(|_| {
                    odd = !odd;
                    !odd
                });
                self.step *= 2;
            }
        }
    }

    pub(super) fn finish(&mut self, at: Nanoseconds, held: u64) -> Vec<Moment> {
        self.until(at, held);
        self.moments.push(Moment { at, held });
        std::mem::take(&mut self.moments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_stay_few_and_even() {
        let mut levels = Levels::default();
        (0..10_000_u64).for_each(|index| levels.until(Nanoseconds(index * 1000), index));
        let moments = levels.finish(Nanoseconds(10_000_000), 7);
        assert!((MOST / 2..=MOST).contains(&moments.len()), "{}", moments.len());
        let step = moments[0].at.0;
        for (index, moment) in moments[..moments.len() - 1].iter().enumerate() {
            assert_eq!(moment.at.0, step * (index as u64 + 1));
            assert_eq!(moment.held, moment.at.0.div_ceil(1000));
        }
    }

    #[test]
    fn a_single_late_moment_is_soon_reached() {
        let mut levels = Levels::default();
        levels.until(Nanoseconds(u64::MAX), 3);
        assert!(levels.finish(Nanoseconds(u64::MAX), 3).len() <= MOST);
    }
}
