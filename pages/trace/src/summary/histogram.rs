//! How often there was which time, to a ninth.

use serde::Serialize;

use crate::Nanoseconds;

/// How many released pages had been held for some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LifetimeBin {
    /// At least so long, which is a power of ten times a microsecond, or 0.
    pub from: Nanoseconds,
    /// So many pages.
    pub pages: u64,
}

/// So many bins for each doubling.
const FINE: u64 = 8;

/// Counts of times. Each doubling of a time has eight bins.
#[derive(Debug)]
pub(super) struct Histogram {
    bins: Vec<u64>,
    /// By decades from a microsecond on, exactly: they are what people look at.
    decades: Vec<u64>,
    all: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { bins: vec![0; (64 * FINE) as usize], decades: Vec::new(), all: 0 }
    }
}

impl Histogram {
    pub(super) fn add(&mut self, time: u64) {
        self.bins[bin(time)] += 1;
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
        Some(Nanoseconds(highest(found as u64)))
    }
}

/// The bin of a time: small times have one each.
fn bin(time: u64) -> usize {
    let Some(doublings) = time.checked_ilog2().and_then(|all| all.checked_sub(FINE.ilog2())) else {
        return time as usize;
    };
    ((u64::from(doublings) + 1) * FINE + (time >> doublings) - FINE) as usize
}

/// The highest time of a bin.
fn highest(bin: u64) -> u64 {
    let Some(doublings) = (bin / FINE).checked_sub(1) else { return bin };
    let next = u128::from(bin % FINE + FINE + 1) << doublings;
    u64::try_from(next - 1).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_hold_their_times_and_no_others() {
        for time in (0..3000).chain([1 << 40, (1 << 40) - 1, u64::MAX / 3, u64::MAX]) {
            let highest = highest(bin(time) as u64);
            assert!(highest >= time && (highest - time) as f64 <= time as f64 / 8.0, "{time}");
            assert!(highest == u64::MAX || bin(highest + 1) == bin(time) + 1, "{time}");
        }
    }

    #[test]
    fn percentiles_are_those_of_the_times() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.percentile(50), None);
        (1..=100).for_each(|time| histogram.add(time));
        let Some(Nanoseconds(median)) = histogram.percentile(50) else { panic!("there are some") };
        assert!((50..56).contains(&median), "{median}");
    }
}
