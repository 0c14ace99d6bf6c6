//! Simulated memory that has addresses and no bytes.
//!
//! A simulation of many pages needs their cache lines and not what is in them. A [`SimRegion`] has as
//! many as it likes and takes next to no memory of the host: a word for each 4 KiB, and the state of
//! those lines that are in caches. Its addresses are the same in each run, so the lines of a page
//! always use the same sets of the caches.

use kilocore_platform::NodeId;

use crate::coherence::Access;
use crate::current::with_engine;
use crate::ids::SimAddress;
use crate::platform::Sim;
use crate::platform::charge::give_way_to_earlier;

/// A range of addresses with a home node, made by
/// [`Simulation::add_region`](crate::Simulation::add_region).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimRegion {
    pub(crate) start: SimAddress,
    pub(crate) bytes: usize,
    pub(crate) home: NodeId,
}

/// Simulated memory that is touched as a whole, such as a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimBlock {
    start: SimAddress,
    bytes: usize,
}

impl SimRegion {
    /// How large it is.
    #[must_use]
    pub fn bytes(self) -> usize {
        self.bytes
    }

    /// The node whose memory it is.
    #[must_use]
    pub fn home(self) -> NodeId {
        self.home
    }

    /// How many blocks of so many bytes it has.
    #[must_use]
    pub fn blocks(self, bytes: usize) -> usize {
        self.bytes / bytes
    }

    /// The block with number `index` if the region is cut into blocks of so many bytes.
    ///
    /// # Panics
    /// If the region does not have as many.
    #[must_use]
    pub fn block(self, index: usize, bytes: usize) -> SimBlock {
        assert!(index < self.blocks(bytes), "block {index} of {}", self.blocks(bytes));
        SimBlock { start: SimAddress(self.start.0 + index * bytes), bytes }
    }
}

impl SimBlock {
    /// An object of simulated code, which has bytes on the host.
    #[must_use]
    pub fn of<T: ?Sized>(object: &T) -> Self {
        let start = SimAddress(std::ptr::from_ref(object).addr());
        Self { start, bytes: size_of_val(object) }
    }

    /// So many bytes from an address on.
    pub(crate) fn at_address(start: SimAddress, bytes: usize) -> Self {
        Self { start, bytes }
    }

    /// What of it is not before an address.
    pub(crate) fn from(self, address: usize) -> Self {
        let end = self.start.0 + self.bytes;
        Self { start: SimAddress(address), bytes: end.saturating_sub(address) }
    }

    /// The address of its first byte.
    #[must_use]
    pub fn start(self) -> SimAddress {
        self.start
    }

    /// How large it is.
    #[must_use]
    pub fn bytes(self) -> usize {
        self.bytes
    }

    /// The address of its byte with number `offset`.
    ///
    /// # Panics
    /// If the block is not as large.
    #[must_use]
    pub fn at(self, offset: usize) -> SimAddress {
        assert!(offset < self.bytes, "byte {offset} of {}", self.bytes);
        SimAddress(self.start.0 + offset)
    }
}

impl Sim {
    /// Reads a word at an address, for its cost only. It is an access like that of a
    /// [`SimU64`](crate::SimU64).
    pub fn read(address: SimAddress) {
        access(address, Access::Read);
    }

    /// Writes a word at an address, for its cost only.
    pub fn write(address: SimAddress) {
        access(address, Access::Write);
    }
}

/// Charges for an access, in simulated order.
pub(crate) fn access(SimAddress(address): SimAddress, access: Access) {
    // While others have their turn, a frame of a region may come to have other lines. So the line is
    // looked up only afterwards.
    give_way_to_earlier();
    with_engine(|engine| {
        engine.operations += 1;
        let line = engine.line_at(address);
        engine.access(line, access);
    });
}
