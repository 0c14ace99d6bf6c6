//! What MP3D computes, and how.

use crate::numa_programs::error::{OutOfRange, count_in_range};

/// How threads update the cells that they share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Updates {
    /// By a load and a store. Updates may be lost.
    Racy,
    /// By an atomic update. None is lost.
    Atomic,
}

/// The gas that MP3D computes, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameters {
    /// How many particles: 1 to 2²⁰.
    pub particles: usize,
    /// Cells along the flow, from floor to ceiling and across: 4 to 256 each, and at most 2²⁰
    /// together.
    pub cells: [usize; 3],
    /// Steps: 1 to 10,000.
    pub steps: usize,
    /// How cells are updated.
    pub updates: Updates,
}

impl Parameters {
    /// Near the published count of references.
    pub const PUBLISHED: Self =
        Self { particles: 43_000, cells: [28, 16, 12], steps: 4, updates: Updates::Racy };
    /// A small problem, for tests.
    pub const SMALL: Self =
        Self { particles: 2000, cells: [14, 8, 6], steps: 4, ..Self::PUBLISHED };

    pub(crate) fn validate(self) -> Result<(), OutOfRange> {
        count_in_range("particles", self.particles, 1, 1 << 20)?;
        for cells in self.cells {
            count_in_range("cells in a direction", cells, 4, 256)?;
        }
        count_in_range("cells", self.cells.iter().product(), 1, 1 << 20)?;
        count_in_range("steps", self.steps, 1, 10_000)
    }
}
