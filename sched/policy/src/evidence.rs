//! How much is done with a number of cores, from many noisy windows.
//!
//! A mean that follows its values slowly, and how far they scatter around it. Two of them differ
//! for certain only if their distance is larger than what scatter alone makes of it. Votes begin
//! and end confinement, and evidence moves it, because votes over pairs of windows could not
//! tell 3 % from noise of 20 %.

use crate::score::Score;

/// A window counts for no less than one in so many.
const MEMORY: u32 = 64;

/// What windows with one number of cores have shown.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Evidence {
    /// How many windows stand behind the mean, at most [`MEMORY`].
    windows: u32,
    mean: u64,
    /// The mean square distance from the mean.
    variance: u128,
}

impl Evidence {
    /// Takes a window in.
    pub(crate) fn add(&mut self, score: Score) {
        self.windows = (self.windows + 1).min(MEMORY);
        let windows = u64::from(self.windows);
        let distance = u128::from(score.0.abs_diff(self.mean));
        if score.0 >= self.mean {
            self.mean += (score.0 - self.mean) / windows;
        } else {
            self.mean -= (self.mean - score.0) / windows;
        }
        let after = u128::from(score.0.abs_diff(self.mean));
        let square = distance.saturating_mul(after);
        let windows = u128::from(windows);
        self.variance = self.variance - self.variance / windows + square / windows;
    }

    /// Whether more is done than `other` says, by at least one and a half standard errors of the
    /// difference.
    pub(crate) fn exceeds(&self, other: &Evidence) -> bool {
        let Some(distance) = self.mean.checked_sub(other.mean) else { return false };
        let error = |of: &Evidence| of.variance / u128::from(of.windows.max(1));
        let distance = u128::from(distance);
        distance > 0
            && distance.saturating_mul(distance).saturating_mul(4)
                > error(self).saturating_add(error(other)).saturating_mul(9)
    }
}
