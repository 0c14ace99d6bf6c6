//! Where lines were found.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// In which caches the lines of a block were.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Found {
    /// In the core's own caches.
    pub own: u32,
    /// In its last-level cache.
    pub shared: u32,
    /// In another core's own caches, as it wrote them, or clean and behind another last-level cache.
    pub other_core: u32,
    /// Of these, with a core of another node.
    pub other_node_core: u32,
    /// Lines that no cache had, so that memory delivered them.
    pub memory: u32,
    /// Of these, in the memory of another node.
    pub other_node_memory: u32,
}

impl Found {
    /// How many lines were looked for.
    #[must_use]
    pub fn lines(&self) -> u32 {
        self.own + self.shared + self.other_core + self.memory
    }
}

impl Add for Found {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            own: self.own + other.own,
            shared: self.shared + other.shared,
            other_core: self.other_core + other.other_core,
            other_node_core: self.other_node_core + other.other_node_core,
            memory: self.memory + other.memory,
            other_node_memory: self.other_node_memory + other.other_node_memory,
        }
    }
}

impl AddAssign for Found {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Found {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Self::add)
    }
}
