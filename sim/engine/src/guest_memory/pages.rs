//! Which frame of the simulated memory a page of the program has.
//!
//! A page gets a frame when it is first touched, on the node of the core that touches it, or on all nodes in turn.

use std::collections::hash_map::Entry;

use kilocore_platform::NodeId;
use rustc_hash::FxHashMap;

use crate::table::Table;

/// Bytes of a page and of a frame.
pub(crate) const PAGE_BYTES: usize = 4096;
/// Frames that a node's memory grows by: 64 MiB.
const CHUNK: usize = 1 << 14;

/// The page table of the program, and the free frames of each node.
#[derive(Debug)]
pub(crate) struct Pages {
    /// The frame of each page. Both by address over the size of a page.
    frames: FxHashMap<u64, usize>,
    /// The page of each frame.
    pages: FxHashMap<usize, u64>,
    free: Table<NodeId, Vec<usize>>,
    /// Whether pages lie on all nodes in turn.
    pub(crate) interleaved: bool,
    /// Pages that got a frame.
    pub(crate) faults: u64,
}

impl Pages {
    pub(crate) fn new(nodes: usize) -> Self {
        Self {
            frames: FxHashMap::default(),
            pages: FxHashMap::default(),
            free: vec![Vec::new(); nodes].into(),
            interleaved: false,
            faults: 0,
        }
    }

    /// How many pages have a frame.
    pub(crate) fn resident(&self) -> u64 {
        self.frames.len() as u64
    }

    /// The frame of a page.
    #[inline]
    pub(crate) fn frame(&self, page: u64) -> Option<usize> {
        self.frames.get(&page).copied()
    }

    /// The page of a frame.
    pub(crate) fn page(&self, frame: usize) -> Option<u64> {
        self.pages.get(&frame).copied()
    }

    /// The node of a page that a core of the node `here` touches first.
    pub(crate) fn node_for(&self, page: u64, here: NodeId) -> NodeId {
        if self.interleaved { NodeId((page % self.free.len() as u64) as u32) } else { here }
    }

    /// Gives a page a frame of a node, if it has none. `grow` makes memory for so many frames there, and
    /// returns the first. Returns the frame, if it is new.
    pub(crate) fn map(
        &mut self,
        page: u64,
        node: NodeId,
        grow: impl FnOnce(usize) -> usize,
    ) -> Option<usize> {
        let Entry::Vacant(entry) = self.frames.entry(page) else { return None };
        let free = &mut self.free[node];
        if free.is_empty() {
            let first = grow(CHUNK * PAGE_BYTES);
            free.extend((first..first + CHUNK).rev());
        }
        let frame = free.pop()?;
        entry.insert(frame);
        self.pages.insert(frame, page);
        self.faults += 1;
        Some(frame)
    }

    /// Takes the frames of pages back, and returns how many there were. `node_of` says whose memory a frame is.
    pub(crate) fn unmap(
        &mut self,
        pages: std::ops::Range<u64>,
        node_of: impl Fn(usize) -> NodeId,
    ) -> u64 {
        let mut gone: Vec<u64> = if pages.end - pages.start > self.frames.len() as u64 {
            self.frames.keys().copied().filter(|page| pages.contains(page)).collect()
        } else {
            pages.filter(|page| self.frames.contains_key(page)).collect()
        };
        // The order in which frames are free decides which is used next.
        gone.sort_unstable();
        let count = gone.len() as u64;
        for page in gone.into_iter().rev() {
            if let Some(frame) = self.frames.remove(&page) {
                self.pages.remove(&frame);
                self.free[node_of(frame)].push(frame);
            }
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_keeps_its_frame_until_it_is_unmapped() {
        let mut pages = Pages::new(2);
        let mut starts = [1_000_000, 2_000_000].into_iter();
        let mut map = |pages: &mut Pages, page, node| {
            pages.map(page, NodeId(node), |bytes| {
                assert_eq!(bytes, CHUNK * PAGE_BYTES);
                starts.next().expect("no more chunks")
            })
        };
        assert_eq!(map(&mut pages, 7, 0), Some(1_000_000));
        assert_eq!(map(&mut pages, 7, 1), None);
        assert_eq!(map(&mut pages, 9, 1), Some(2_000_000));
        assert_eq!(map(&mut pages, 8, 0), Some(1_000_001));
        assert_eq!((pages.frame(9), pages.page(2_000_000)), (Some(2_000_000), Some(9)));
        let node_of = |frame| NodeId((frame >= 2_000_000) as u32);
        assert_eq!(pages.unmap(0..u64::MAX, node_of), 3);
        assert_eq!((pages.frame(7), pages.page(2_000_000), pages.faults), (None, None, 3));
        // What the first page had is the next to be used.
        assert_eq!(map(&mut pages, 100, 0), Some(1_000_000));
        pages.unmap(100..101, node_of);
        assert_eq!(map(&mut pages, 101, 0), Some(1_000_000));
    }
}
