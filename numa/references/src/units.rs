//! Units and indices.

use serde::{Deserialize, Serialize};

/// A thread of the program, numbered from 0 in the order in which threads first did something. No two threads of a
/// stream have the same number, even if one ends before the other starts.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct ThreadId(pub u32);

/// A page of 4 KiB of the program's address space: a virtual address divided by [`PageNumber::BYTES`].
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct PageNumber(pub u64);

impl PageNumber {
    /// The bytes of a page.
    pub const BYTES: u64 = 1 << 12;
    /// Each page has a lower number than this. Addresses have 64 bits.
    pub const END: u64 = 1 << 52;

    /// The page that an address is in.
    #[must_use]
    pub const fn of_address(address: u64) -> Self {
        Self(address >> 12)
    }

    /// The address of its first byte, if the page is below [`PageNumber::END`].
    #[must_use]
    pub const fn address(self) -> u64 {
        self.0 << 12
    }
}

/// A number of instructions, counted as the program's processor counts them. Each round of an
/// instruction that repeats itself (`rep movsb`) counts.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Instructions(pub u64);

impl Instructions {
    /// Later by so many. It stays at the last number that there is.
    #[must_use]
    pub const fn after(self, instructions: u32) -> Self {
        Self(self.0.saturating_add(instructions as u64))
    }
}

/// Pages that lie one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Region {
    /// The first of them.
    pub first: PageNumber,
    /// How many there are. The last one is below [`PageNumber::END`].
    pub pages: u64,
}

impl Region {
    /// The pages that some bytes from an address on lie in.
    #[must_use]
    pub const fn of_bytes(address: u64, bytes: u64) -> Self {
        let first = PageNumber::of_address(address);
        if bytes == 0 {
            return Self { first, pages: 0 };
        }
        let last = PageNumber::of_address(address.saturating_add(bytes - 1));
        Self { first, pages: last.0 - first.0 + 1 }
    }

    /// The number behind its last page. It saturates.
    #[must_use]
    pub const fn end(self) -> u64 {
        self.first.0.saturating_add(self.pages)
    }

    /// Whether a page is in it.
    #[must_use]
    pub const fn contains(self, page: PageNumber) -> bool {
        self.first.0 <= page.0 && page.0 < self.end()
    }
}
