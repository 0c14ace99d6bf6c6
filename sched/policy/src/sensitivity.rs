//! How much slower a task gets beside others: learned while it runs.
//!
//! From window to window a task has other neighbours. A straight line through its cycles per
//! instruction over what they asked of the shared cache gives two things: what the task needs alone,
//! and how much each reference of a neighbour adds to that. Older windows count less.
//!
//! The line is only believed once neighbours have differed enough. Once a good placement is found they
//! hardly differ any more, so what was last believed stays.

/// One more window weighs as much as all that is older did 1/128 ago.
const DECAY: i128 = 128;
/// So many windows have to be seen before a line is believed.
const ENOUGH: u32 = 8;
/// Neighbours differ enough if the standard deviation of what they ask is this fraction of the mean.
const SPREAD: i128 = 8;

/// The weight of a window that has just ended.
const UNIT: i128 = 1 << 16;
/// More than four references in a cycle count as four, and more than 128 cycles for an instruction as
/// 128. So all sums and their products fit.
const MOST_ASKED: u64 = 1 << 22;
const MOST_CYCLES: u64 = 1 << 27;

/// A straight line through the windows of a task.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Line {
    windows: u32,
    /// Sums over windows, each weighted: of weights (in units of 1/65,536), x, y, x², x·y.
    weight: i128,
    x: i128,
    y: i128,
    xx: i128,
    xy: i128,
    believed: Option<u64>,
}

impl Line {
    /// Takes a window in: what neighbours asked of the cache per cycle in which the task ran, and the
    /// task's cycles per instruction, both in millionths.
    pub(crate) fn update(&mut self, asked: u64, cycles: u64) {
        let x = i128::from(asked.min(MOST_ASKED));
        let y = i128::from(cycles.min(MOST_CYCLES));
        let sums = [&mut self.weight, &mut self.x, &mut self.y, &mut self.xx, &mut self.xy];
        for (sum, new) in sums.into_iter().zip([1, x, y, x * x, x * y]) {
            *sum += new * UNIT - *sum / DECAY;
        }
        self.windows = self.windows.saturating_add(1);
        if let Some(slope) = self.slope() {
            self.believed = Some(slope);
        }
    }

    /// By how many millionths the task gets slower for each thousand references of its neighbours in a
    /// million cycles, if that is known.
    pub(crate) fn slowdown(&self) -> Option<u64> {
        self.believed
    }

    /// The slope over the value at the origin, if neighbours have differed enough.
    fn slope(&self) -> Option<u64> {
        if self.windows < ENOUGH || self.weight == 0 {
            return None;
        }
        // Variance and covariance, times the weight squared, so that nothing is rounded.
        let variance = self.weight * self.xx - self.x * self.x;
        let covariance = self.weight * self.xy - self.x * self.y;
        if variance <= 0 || variance * SPREAD * SPREAD < self.x * self.x {
            return None;
        }
        let mean = self.y / self.weight;
        let alone = mean - covariance / self.weight * self.x / variance;
        let alone = alone.max(mean / 16).max(1);
        let slowdown = covariance.max(0) * 1_000_000_000 / variance / alone;
        Some(u64::try_from(slowdown).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::Line;

    #[test]
    fn a_line_through_exact_windows_is_found() {
        // 1.5 cycles alone, and half of that more beside 2,000 references in a million cycles.
        let mut line = Line::default();
        for window in 0..32 {
            let asked = 500 * (window % 5);
            line.update(asked, 1_500_000 + 375 * asked);
        }
        let slowdown = line.slowdown().expect("neighbours differed");
        assert!((249_000..=251_000).contains(&slowdown), "{slowdown}");
    }

    #[test]
    fn nothing_is_believed_of_neighbours_that_never_differ() {
        let mut line = Line::default();
        for window in 0..100 {
            line.update(1_000, 1_500_000 + window);
        }
        assert_eq!(line.slowdown(), None);
    }

    #[test]
    fn what_was_believed_stays_when_neighbours_no_longer_differ() {
        let mut line = Line::default();
        for window in 0..32 {
            let asked = 1_000 * (window % 4);
            line.update(asked, 1_000_000 + 100 * asked);
        }
        let before = line.slowdown();
        assert!(before.is_some());
        for _ in 0..2_000 {
            line.update(1_000, 1_100_000);
        }
        let after = line.slowdown();
        let (before, after) = (before.unwrap(), after.unwrap());
        assert!(after.abs_diff(before) * 10 <= before, "{before} {after}");
    }

    #[test]
    fn a_task_that_neighbours_seem_to_speed_up_is_not_sensitive() {
        let mut line = Line::default();
        for window in 0..32 {
            let asked = 1_000 * (window % 4);
            line.update(asked, 2_000_000 - 100 * asked);
        }
        assert_eq!(line.slowdown(), Some(0));
    }
}
