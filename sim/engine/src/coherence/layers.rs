//! What caches above each other need to know, to keep each other's rules.

use kilocore_platform::NodeId;

use super::frames::Frames;
use crate::costs::Costs;
use crate::ids::LineId;
use crate::table::Table;

/// What is to be known for the rules of [`super::hierarchy`].
///
/// It is in a box of its own and made when it is needed. The engine lies in the same region of the
/// heap as what is simulated ([`crate::heap`]), so what it allocates decides where that lies.
#[derive(Debug)]
pub(super) struct Layers {
    pub(super) frames: Frames,
    /// Whether last-level caches hold all that their cores hold.
    pub(super) holds_private: bool,
    /// Which lines are not in memory as they were written last.
    pub(super) written: Table<LineId, bool>,
    /// What each node's memory has to carry for the batch of lines under way.
    pub(super) carried: Table<NodeId, Carried>,
    /// Whether some of that is to be written.
    pub(super) to_write_back: bool,
    /// Lines of that batch that have left a core's own caches for the last level.
    pub(super) sent_down: u32,
}

/// Lines that a node's memory has to carry.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Carried {
    pub(super) read: u32,
    pub(super) written: u32,
}

impl Layers {
    /// For caches that have met so many lines already.
    pub(super) fn new(costs: &Costs, lines: usize) -> Self {
        Self {
            frames: Frames::new(costs.line_shift),
            holds_private: costs.holds_private,
            written: vec![false; lines].into(),
            carried: vec![Carried::default(); costs.nodes].into(),
            to_write_back: false,
            sent_down: 0,
        }
    }

    /// Makes room for one more line.
    pub(super) fn push_line(&mut self) {
        self.written.push(false);
    }
}
