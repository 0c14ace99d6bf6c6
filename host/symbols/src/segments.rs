//! The parts of a file that are loaded, and where.

use std::ops::Range;

use object::{Object, ObjectSegment};

/// A part of the file that is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Segment {
    offset: u64,
    size: u64,
    address: u64,
}

/// Those of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Segments(Vec<Segment>);

impl Segments {
    pub(crate) fn of(file: &object::File<'_>) -> Self {
        let segment = |segment: object::Segment<'_, '_>| {
            let (offset, size) = segment.file_range();
            Segment { offset, size, address: segment.address() }
        };
        Self(file.segments().map(segment).collect())
    }

    /// The address that the file itself gives to a byte of it.
    pub(crate) fn address(&self, offset: u64) -> Option<u64> {
        self.0
            .iter()
            .find(|segment| offset.checked_sub(segment.offset).is_some_and(|at| at < segment.size))
            .map(|segment| segment.address.wrapping_add(offset - segment.offset))
    }

    /// Where the file's address zero lies in memory if the part of the file from `offset` on is mapped
    /// at `memory`; wrapped around if that is below zero.
    pub(crate) fn zero(&self, memory: Range<u64>, offset: u64) -> Option<u64> {
        // A mapping begins where a page does. Its first bytes, and its last, may belong to the
        // segments beside, whose addresses do not follow each other as in the file.
        let middle = memory.end.checked_sub(memory.start)? / 2;
        let of = |within: u64| {
            let address = self.address(offset.checked_add(within)?)?;
            Some(memory.start.wrapping_add(within).wrapping_sub(address))
        };
        of(middle).or_else(|| of(0))
    }
}
