//! The lists of Linux 6.12, which grow with what a core releases in a row.
//!
//! * The batch is 63. It doubles with each refill that follows another without a release in between, up
//!   to 32 times as much; and a spill is as long as the core has released frames in a row.
//! * A list may be as long as `high`, which grows at each refill and when a spill was longer than it, and
//!   shrinks by an eighth with each tick of a second. It stays between two bounds that follow from the
//!   size of the memory. On a desktop computer a list can grow to 128 MiB.
//!
//! What memory pressure changes is left out: a pool's memory is not short as long as it has frames.

use crate::rule::Rule;

/// Batches grow to 2 to the so-manieth times what they are at first.
const BATCH_SCALE_MAX: u32 = 5;

/// When lists are refilled and spill in Linux 6.12.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Linux6_12 {
    /// The frames that are moved together at first.
    pub batch: u32,
    /// The least that `high` shrinks to.
    pub high_min: u32,
    /// The most that `high` grows to.
    pub high_max: u32,
}

/// What Linux 6.12 keeps for a core.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tuned {
    high: u32,
    /// Frames released in a row; halved by each allocation.
    free_count: u32,
    alloc_factor: u32,
}

impl Linux6_12 {
    /// Returns what Linux 6.12 computes for so many frames, which so many cores share.
    ///
    /// The bounds follow its watermarks: the lower one is a core's share of the low watermark, and at
    /// least four batches; the upper one is a core's share of an eighth of all frames.
    #[must_use]
    pub const fn for_memory(frames: u32, cores: u32) -> Self {
        const PAGE_KIB: u64 = 4;
        let cores = if cores == 0 { 1 } else { cores };
        // min_free_kbytes is four times the root of the memory in KiB, or what transparent huge pages ask
        // for: two and nine blocks of 512 frames in each of three zones, at most a twentieth of all. The
        // distance to the low watermark is a quarter of that or a thousandth of the memory.
        let kib = frames as u64 * PAGE_KIB;
        let for_huge_pages = 3 * (2 + 9) * 512;
        let for_huge_pages =
            if for_huge_pages < frames / 20 { for_huge_pages } else { frames / 20 };
        let min = max((4 * kib.isqrt() / PAGE_KIB) as u32, for_huge_pages);
        let low = min + max(min / 4, frames / 1000);
        let batch = batch(frames);
        let high_min = max(low / cores, batch * 4);
        Linux6_12 { batch, high_min, high_max: max(frames / 8 / cores, high_min) }
    }

    fn high(&self, state: &Tuned) -> u32 {
        state.high.clamp(self.high_min, self.high_max)
    }
}

/// A 4096th of the frames, at most 256 KiB; then to one less than a power of two.
const fn batch(frames: u32) -> u32 {
    let batch = max(if frames >> 12 < 64 { frames >> 12 } else { 64 }, 1);
    let rounded = 1 << (batch + batch / 2).ilog2();
    if rounded > 1 { rounded - 1 } else { 1 }
}

const fn max(one: u32, other: u32) -> u32 {
    if one > other { one } else { other }
}

impl Rule for Linux6_12 {
    type State = Tuned;

    fn room(&self) -> u32 {
        self.high_max.max(self.batch)
    }

    fn on_allocate(&self, state: &mut Tuned) {
        state.free_count >>= 1;
    }

    fn refill(&self, state: &mut Tuned) -> u32 {
        // The list is empty.
        let scaled = self.batch << state.alloc_factor;
        let high = (self.high(state) + scaled).min(self.high_max);
        state.high = high;
        let most = high.saturating_sub(self.batch).max(self.batch);
        if scaled <= most && state.alloc_factor < BATCH_SCALE_MAX {
            state.alloc_factor += 1;
        }
        scaled.min(most)
    }

    fn on_release(&self, state: &mut Tuned, len: u32) -> u32 {
        state.alloc_factor >>= 1;
        if state.free_count < self.batch << BATCH_SCALE_MAX {
            state.free_count += 1;
        }
        let high = self.high(state);
        state.high = high;
        if len < high {
            return 0;
        }
        let needed = state.free_count + self.batch;
        if high < needed {
            state.high = needed.clamp(self.high_min, self.high_max);
        }
        let most = high.saturating_sub(self.batch).max(self.batch);
        state.free_count.clamp(self.batch, most)
    }

    fn on_tick(&self, state: &mut Tuned, len: u32) -> u32 {
        let high = self.high(state);
        if high > self.high_min {
            state.high = len
                .saturating_sub(self.batch << BATCH_SCALE_MAX)
                .max(high - high / 8)
                .max(self.high_min);
        }
        len.saturating_sub(self.high(state))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine of 8 GiB with 8 hardware threads, as the i7-6700 of the paper.
    const DESKTOP: Linux6_12 = Linux6_12::for_memory(1 << 21, 8);

    #[test]
    fn the_sizes_follow_from_the_memory() {
        assert_eq!(DESKTOP.batch, 63);
        assert_eq!(DESKTOP.high_max, 32_768);
        assert_eq!(DESKTOP.high_min, (16_896 + 4224) / 8);
        assert_eq!(Linux6_12::for_memory(0, 0).batch, 1);
    }

    #[test]
    fn refills_double_without_releases() {
        let mut state = Tuned::default();
        let refills = [(); 7].map(|()| DESKTOP.refill(&mut state));
        assert_eq!(refills, [63, 126, 252, 504, 1008, 2016, 2016]);
        DESKTOP.on_release(&mut state, 1);
        assert_eq!(DESKTOP.refill(&mut state), 63 << 2);
    }

    #[test]
    fn a_long_row_of_releases_makes_the_list_longer() {
        let mut state = Tuned::default();
        let mut len = 0;
        let mut spills = alloc::vec::Vec::new();
        for _ in 0..6000 {
            len += 1;
            let spilled = DESKTOP.on_release(&mut state, len);
            if spilled > 0 {
                spills.push((len, spilled));
                len -= spilled;
            }
        }
        // At first it holds a core's share of the watermark, then what was released in a row.
        assert_eq!(spills[0], (2640, 2016));
        assert!(spills[1].0 >= 2640, "{spills:?} {state:?}");
    }

    #[test]
    fn an_idle_list_shrinks() {
        let mut state = Tuned { high: 8000, ..Tuned::default() };
        let (mut len, mut ticks) = (8000, 0);
        while len > DESKTOP.high_min {
            len -= DESKTOP.on_tick(&mut state, len);
            ticks += 1;
        }
        // An eighth a second: 8000 · 0.875^9 < 2640.
        assert_eq!((len, ticks), (2640, 9));
    }
}
