//! Units and indices.

use serde::{Deserialize, Serialize};

/// A hardware thread of the machine that was recorded, as the kernel numbers it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Cpu(pub u32);

/// A thread of the program, numbered from 1 in the order of their first events.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Thread(pub u32);

impl Thread {
    /// Whoever is no thread of the program: the kernel's own threads, its interrupts, and other
    /// programs. They may release the program's pages, and never allocate any.
    pub const OUTSIDE: Self = Self(0);
}

/// A page of the machine that was recorded, or the first page of a block.
///
/// Pages are numbered in groups of [`Page::GROUP`], in the order in which the trace first mentions a
/// page of the group. In a group the pages lie as in the machine's memory. So the numbers are dense
/// enough for an array, neighbours stay neighbours, and the lower ten bits of a number are those of
/// the page's physical address. After its release a page may be allocated again.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Page(pub u32);

impl Page {
    /// How many pages are numbered together.
    pub const GROUP: u32 = 1 << Order::HIGHEST.0;
    /// No trace has more pages: a terabyte of those that the trace mentions, at 4 KiB each.
    pub const MOST: u32 = 1 << 28;
}

/// The size of a block: 2^*order* pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
#[serde(transparent)]
pub struct Order(u8);

/// An order that is too high.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an order is at most {}", Order::HIGHEST.0)]
pub struct OrderError;

impl Order {
    /// The order of a single page.
    pub const SINGLE: Self = Self(0);
    /// The highest order that Linux has with pages of 4 KiB.
    pub const HIGHEST: Self = Self(10);

    /// The order of this number.
    ///
    /// # Errors
    /// If the number is above [`Order::HIGHEST`].
    pub const fn new(order: u8) -> Result<Self, OrderError> {
        if order > Self::HIGHEST.0 { Err(OrderError) } else { Ok(Self(order)) }
    }

    /// Returns the exponent: a block of this order has 2 to this power pages.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// How many pages a block of this order has.
    #[must_use]
    pub const fn pages(self) -> u32 {
        1 << self.0
    }
}

impl<'de> Deserialize<'de> for Order {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(u8::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}
