//! Numbers that say which one. Each kind is a type of its own.

use std::fmt::{self, Display, Formatter};

use serde::Serialize;

/// A counter that never comes to its end.
pub const NEVER: u32 = u32::MAX;

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The number as an index.
            #[must_use]
            #[inline(always)]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl Display for $name {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

numbers! {
    /// A processor, which refers to memory. Processors are numbered node by node.
    Processor;
    /// A page of the program, in the order in which pages were first referred to.
    Page;
}

/// A memory node: some processors and the memory next to them. There are at most 64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
#[serde(transparent)]
pub struct Node(pub u8);

impl Node {
    /// The number as an index.
    #[must_use]
    #[inline(always)]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Display for Node {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A set of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Nodes(u64);

impl Nodes {
    /// The set without any node.
    pub const NONE: Self = Self(0);

    /// Whether there is none in it.
    #[must_use]
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many there are.
    #[must_use]
    #[inline(always)]
    pub fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether a node is in it.
    #[must_use]
    #[inline(always)]
    pub fn contains(self, node: Node) -> bool {
        self.0 >> node.0 & 1 == 1
    }

    /// These and one more.
    #[must_use]
    #[inline(always)]
    pub fn with(self, node: Node) -> Self {
        Self(self.0 | 1 << node.0)
    }

    /// Returns the set without this node.
    #[must_use]
    #[inline(always)]
    pub fn without(self, node: Node) -> Self {
        Self(self.0 & !(1 << node.0))
    }

    /// They, in ascending order.
    pub fn iter(self) -> impl Iterator<Item = Node> + use<> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let node = (rest != 0).then(|| Node(rest.trailing_zeros() as u8))?;
            rest &= rest - 1;
            Some(node)
        })
    }
}
