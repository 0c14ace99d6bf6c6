//! Which line lies at which address.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::ids::LineId;

/// The numbers of lines, by address over the line's size.
///
/// Nothing is ever removed. Gaps would let the map grow sooner or later by where the host happens to
/// put things, and what is allocated after that would get other blocks that were freed.
#[derive(Debug)]
pub(super) struct LineNumbers {
    numbers: FxHashMap<usize, LineId>,
    /// The last lookups, by address.
    recent: Vec<(usize, LineId)>,
    /// The addresses of the tasks' frames, in order.
    frames: Vec<Range<usize>>,
}

const RECENT: usize = 4096;
/// The number of a line whose object is gone.
const FORGOTTEN: LineId = LineId(u32::MAX);
/// An entry of the last lookups that matches no address.
const NO_LOOKUP: (usize, LineId) = (usize::MAX, LineId(0));

impl LineNumbers {
    pub(super) fn new() -> Self {
        Self { numbers: FxHashMap::default(), recent: vec![NO_LOOKUP; RECENT], frames: Vec::new() }
    }

    pub(super) fn add_frames(&mut self, frames: Range<usize>) {
        let place = self.frames.partition_point(|other| other.start < frames.start);
        self.frames.insert(place, frames);
    }

    pub(super) fn remove_frames(&mut self, frames: &Range<usize>) {
        self.frames.retain(|other| other != frames);
    }

    /// Whether a frame may lie at an address.
    pub(super) fn is_in_frames(&self, address: usize) -> bool {
        let after = self.frames.partition_point(|frames| frames.start <= address);
        after > 0 && self.frames[after - 1].contains(&address)
    }

    /// The line at an address over the line's size, if it was looked up lately.
    #[inline]
    pub(super) fn recent(&self, key: usize) -> Option<LineId> {
        let (recent_key, line) = self.recent[key % RECENT];
        (recent_key == key).then_some(line)
    }

    /// The line at an address over the line's size, if there is one.
    pub(super) fn known(&self, key: usize) -> Option<LineId> {
        self.numbers.get(&key).copied().filter(|&line| line != FORGOTTEN)
    }

    /// The line at an address over the line's size. It is `fresh` if there was none.
    pub(super) fn look_up(&mut self, key: usize, fresh: LineId) -> LineId {
        let number = self.numbers.entry(key).or_insert(FORGOTTEN);
        if *number == FORGOTTEN {
            *number = fresh;
        }
        self.recent[key % RECENT] = (key, *number);
        *number
    }

    /// Forgets which line is at an address over the line's size.
    pub(super) fn forget(&mut self, key: usize) {
        if let Some(number) = self.numbers.get_mut(&key) {
            *number = FORGOTTEN;
        }
        self.recent[key % RECENT] = NO_LOOKUP;
    }
}
