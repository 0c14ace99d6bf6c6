//! The lines of regions: memory that has addresses and no bytes.
//!
//! A region is as large as a simulation likes, such as all memory of a machine, and the host has no
//! memory for it. Even the state of its lines would take more than the lines themselves. But a line
//! that is in no cache has none: all that is to know of it is its home, which is the region's. So
//! the frames of a region, 4 KiB each, only have lines while some cache has a place for one of
//! them. Such lines come in slots. The number of slots in use is bounded by the size of the caches.
//!
//! Lines outside of regions find their set in a cache by their number, because their address on the
//! host means nothing. The lines of a region find it by their address. So a frame always uses the
//! same sets, as on hardware, whatever slot it has.

use kilocore_platform::NodeId;

use super::line::NO_SLOT;
use crate::ids::{Id, LineId, SlotId};
use crate::table::Table;

/// Bytes of a frame.
const FRAME_BYTES: usize = 4096;
/// The address of the first region. No object of the host lies that high.
pub(crate) const FIRST_ADDRESS: usize = 1 << 62;
/// Regions begin at multiples of this, so that blocks of 2 MiB can be aligned.
const REGION_ALIGN: usize = 1 << 21;

/// The regions of a simulation, and which of their frames have slots.
#[derive(Debug)]
pub(super) struct Frames {
    line_shift: u32,
    /// The regions, in the order of their addresses.
    regions: Vec<Region>,
    slots: Table<SlotId, Slot>,
    free: Vec<SlotId>,
}

#[derive(Debug)]
struct Region {
    /// Its address, over the size of a line.
    start: usize,
    home: NodeId,
    /// The slot of each frame, or [`NO_SLOT`].
    slots: Vec<SlotId>,
}

#[derive(Debug)]
struct Slot {
    first: LineId,
    /// What it is the slot of.
    frame: Frame,
    /// Address of the frame, over the size of a line.
    start: usize,
    /// How many places its lines have in caches.
    places: u32,
}

/// A frame of a region.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    region: usize,
    index: usize,
}

impl Frames {
    pub(super) fn new(line_shift: u32) -> Self {
        Self { line_shift, regions: Vec::new(), slots: Table::new(), free: Vec::new() }
    }

    /// Adds a region and returns its address.
    pub(super) fn add_region(&mut self, bytes: usize, home: NodeId) -> usize {
        let end = self.regions.last().map_or(FIRST_ADDRESS, |last| {
            (last.start << self.line_shift) + last.slots.len() * FRAME_BYTES
        });
        let address = end.next_multiple_of(REGION_ALIGN);
        let slots = vec![NO_SLOT; bytes.div_ceil(FRAME_BYTES)];
        self.regions.push(Region { start: address >> self.line_shift, home, slots });
        address
    }

    pub(super) fn lines_per_frame(&self) -> usize {
        FRAME_BYTES >> self.line_shift
    }

    /// The frame with a line, and which of the frame's lines that is, by its address over the size
    /// of a line. `None` if it is not of a region.
    #[inline]
    pub(super) fn find(&self, key: usize) -> Option<(Frame, u32)> {
        if key < FIRST_ADDRESS >> self.line_shift {
            return None;
        }
        let lines_shift = FRAME_BYTES.trailing_zeros() - self.line_shift;
        self.regions.iter().enumerate().find_map(|(region, of)| {
            let line = key.checked_sub(of.start)?;
            let index = line >> lines_shift;
            let offset = line - (index << lines_shift);
            (index < of.slots.len()).then_some((Frame { region, index }, offset as u32))
        })
    }

    /// The first line of a frame, if it has lines.
    #[inline]
    pub(super) fn first_line(&self, frame: Frame) -> Option<LineId> {
        let slot = self.regions[frame.region].slots[frame.index];
        (slot != NO_SLOT).then(|| self.slots[slot].first)
    }

    pub(super) fn home(&self, frame: Frame) -> NodeId {
        self.regions[frame.region].home
    }

    /// Gives a frame a slot. The lines of a new one begin with `fresh`, and it is then for the
    /// caller to make them. Returns the slot, its first line, and whether it is new.
    pub(super) fn bind(&mut self, frame: Frame, fresh: LineId) -> (SlotId, LineId, bool) {
        let region = &mut self.regions[frame.region];
        let start = region.start + ((frame.index * FRAME_BYTES) >> self.line_shift);
        let reused = self.free.pop();
        let slot = reused.unwrap_or_else(|| self.slots.next_id());
        region.slots[frame.index] = slot;
        if reused.is_some() {
            let known = &mut self.slots[slot];
            *known = Slot { first: known.first, frame, start, places: 0 };
        } else {
            self.slots.push(Slot { first: fresh, frame, start, places: 0 });
        }
        (slot, self.slots[slot].first, reused.is_none())
    }

    /// By what a line of a slot finds its set in a cache.
    #[inline]
    pub(super) fn key(&self, slot: SlotId, line: LineId) -> usize {
        let slot = &self.slots[slot];
        slot.start + (line.index() - slot.first.index())
    }

    /// A line of the slot has got a place in a cache.
    #[inline]
    pub(super) fn gains_place(&mut self, slot: SlotId) {
        self.slots[slot].places += 1;
    }

    /// A line of the slot has lost a place in a cache. Returns whether that was the last one.
    #[inline]
    pub(super) fn loses_place(&mut self, slot: SlotId) -> bool {
        let places = &mut self.slots[slot].places;
        *places -= 1;
        *places == 0
    }

    /// The lines of a slot.
    pub(super) fn lines(&self, slot: SlotId) -> impl Iterator<Item = LineId> + use<> {
        let first = self.slots[slot].first.index();
        (first..first + self.lines_per_frame()).map(LineId::from_index)
    }

    /// How many places its lines have, and whether it is anybody's.
    #[cfg(test)]
    pub(super) fn places(&self, slot: SlotId) -> (u32, bool) {
        (self.slots[slot].places, !self.free.contains(&slot))
    }

    #[cfg(test)]
    pub(super) fn slots(&self) -> impl Iterator<Item = SlotId> + use<> {
        self.slots.ids()
    }

    /// Takes the slot from its frame, for others.
    pub(super) fn release(&mut self, slot: SlotId) {
        let Frame { region, index } = self.slots[slot].frame;
        self.regions[region].slots[index] = NO_SLOT;
        self.free.push(slot);
    }
}
