//! The packets of a file of references.

use kilocore_trace_file::{Format, Wrong};

/// Version 1 knew neither blocks nor callers; all that it has means the same.
pub(crate) const FORMAT: Format = Format {
    magic: *b"KC-REFER",
    version: 2,
    is_none: "this is no trace of references; `kilocore record references` makes one",
};

/// Neither the header nor what stands behind the events is longer.
pub(crate) const LONGEST_DOCUMENT: usize = 1 << 20;

/// How hard zstd tries. Writing must not hold up the program, and the columns pack well as it is.
pub(crate) const LEVEL: i32 = 3;

/// A packet, with its [`Kind`]'s code and a count.
pub(crate) type Packet = kilocore_trace_file::Packet<2>;

/// What is in a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    About,
    Events,
    Contents,
}

impl Kind {
    pub(crate) const fn code(self) -> u32 {
        match self {
            Self::About => 1,
            Self::Events => 2,
            Self::Contents => 3,
        }
    }

    pub(crate) fn of(packet: &Packet) -> Result<Self, Wrong> {
        let code = packet.numbers[0];
        let known = [Self::About, Self::Events, Self::Contents];
        let kind = known.into_iter().find(|kind| kind.code() == code);
        kind.ok_or_else(|| Wrong::damaged("there is no such packet"))
    }
}
