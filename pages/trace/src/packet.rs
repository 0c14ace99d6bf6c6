//! The packets of a trace of pages.

use kilocore_trace_file::Format;

pub(crate) const FORMAT: Format = Format {
    magic: *b"KC-PAGES",
    version: 1,
    is_none: "this is no trace of pages; `kilocore record pages` makes one",
};

/// No header is longer.
pub(crate) const LONGEST_HEADER: usize = 1 << 20;

/// How hard zstd tries. Beyond this, files of real programs shrink by another hundredth and take
/// several times as long.
pub(crate) const LEVEL: i32 = 9;

/// A packet, with its count of events; the header is the first one.
pub(crate) type Packet = kilocore_trace_file::Packet<1>;
