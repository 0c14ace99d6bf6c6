//! How often there was which time, to a ninth.

use kilocore_platform::LogBuckets;
use serde::Serialize;

use crate::Nanoseconds;

/// How many released pages had been held for some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LifetimeBin {
    /// At least so long, which is a power of ten times a microsecond, or 0.
    pub from: Nanoseconds,
    /// How many pages were held for so long, and less than ten times as long.
    pub pages: u64,
}

/// Each doubling of a time has eight bins.
const SCALE: LogBuckets = LogBuckets::with_steps(8);

/// Counts of times in nanoseconds.
#[derive(Debug)]
pub(super) struct Histogram {
    bins: Vec<u64>,
    /// By decades from a microsecond on, exactly: they are what people look at.
    decades: Vec<u64>,
    all: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { bins: vec![0; SCALE.count()], decades: Vec::new(), all: 0 }
    }
}

impl Histogram {
    pub(super) fn add(&mut self, time: u64) {
        self.bins[SCALE.bucket_of(time)] += 1;
        self.all += 1;
        let decade = (time / 1000).checked_ilog10().map_or(0, |decade| decade as usize + 1);
        self.decades.resize(self.decades.len().max(decade + 1), 0);
        self.decades[decade] += 1;
    }

    /// Counts for each decade, the first below a microsecond.
    pub(super) fn decades(&self) -> Vec<LifetimeBin> {
        let from =
            |decade: usize| if decade == 0 { 0 } else { 1000 * 10_u64.pow(decade as u32 - 1) };
        let bin = |(decade, &pages)| LifetimeBin { from: Nanoseconds(from(decade)), pages };
        self.decades.iter().enumerate().map(bin).collect()
    }

    /// The time that so many in a hundred are at most.
    pub(super) fn percentile(&self, percent: u8) -> Option<Nanoseconds> {
        let wanted = (u128::from(self.all) * u128::from(percent)).div_ceil(100).max(1);
        let mut so_far = 0;
        let found = self.bins.iter().position(|&count| {
            so_far += u128::from(count);
            so_far >= wanted
        })?;
        Some(Nanoseconds(SCALE.upper_bound(found)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_times() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.percentile(50), None);
        (1..=100).for_each(|time| histogram.add(time));
        let Some(Nanoseconds(median)) = histogram.percentile(50) else { panic!("there are some") };
        assert!((50..56).contains(&median), "{median}");
    }
}
