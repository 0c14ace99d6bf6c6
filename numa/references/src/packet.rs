//! The packets of a file: what is in it, a count, two sizes, and packed bytes.

use std::io::{self, Read, Write};

use zstd_safe::{CCtx, CParameter, DCtx};

use crate::error::Wrong;

/// What a file begins with.
pub(crate) const MAGIC: [u8; 8] = *b"KC-REFER";
/// The version that is written, and the last that is read. Version 1 knew neither blocks nor callers; all
/// that it has means the same.
pub(crate) const VERSION: u32 = 2;
/// Neither the header nor what stands behind the events is longer.
pub(crate) const LONGEST_DOCUMENT: usize = 1 << 20;

/// How hard zstd tries. Writing must not hold up the program, and the columns pack well as it is.
const LEVEL: i32 = 3;

/// What is in a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    About,
    Events,
    Contents,
}

impl Kind {
    const fn code(self) -> u32 {
        match self {
            Self::About => 1,
            Self::Events => 2,
            Self::Contents => 3,
        }
    }

    fn of_code(code: u32) -> Option<Self> {
        [Self::About, Self::Events, Self::Contents].into_iter().find(|kind| kind.code() == code)
    }
}

/// Packs.
pub(crate) struct Packer {
    context: CCtx<'static>,
    packed: Vec<u8>,
}

impl std::fmt::Debug for Packer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Packer")
    }
}

impl Packer {
    pub(crate) fn new() -> io::Result<Self> {
        let mut context = CCtx::try_create().ok_or(io::ErrorKind::OutOfMemory)?;
        for parameter in [CParameter::CompressionLevel(LEVEL), CParameter::ChecksumFlag(true)] {
            context.set_parameter(parameter).map_err(failed)?;
        }
        Ok(Self { context, packed: Vec::new() })
    }

    /// Writes a packet.
    pub(crate) fn write(
        &mut self,
        to: &mut impl Write,
        kind: Kind,
        count: u32,
        raw: &[u8],
    ) -> io::Result<()> {
        self.packed.clear();
        self.packed.reserve(zstd_safe::compress_bound(raw.len()));
        self.context.compress2(&mut self.packed, raw).map_err(failed)?;
        for number in [kind.code(), count, raw.len() as u32, self.packed.len() as u32] {
            to.write_all(&number.to_le_bytes())?;
        }
        to.write_all(&self.packed)
    }
}

fn failed(code: usize) -> io::Error {
    io::Error::other(zstd_safe::get_error_name(code))
}

/// A packet, unpacked.
#[derive(Debug)]
pub(crate) struct Packet {
    pub(crate) kind: Kind,
    pub(crate) count: u32,
    pub(crate) raw: Vec<u8>,
}

/// Reads a packet that has no more than so many bytes, and says how many bytes of the file it took.
pub(crate) fn read(from: &mut impl Read, most: usize) -> Result<(Packet, u64), Wrong> {
    let mut numbers = [0; 4];
    for number in &mut numbers {
        let mut bytes = [0; 4];
        fill(from, &mut bytes)?;
        *number = u32::from_le_bytes(bytes);
    }
    let [code, count, raw, packed] = numbers;
    let (raw, packed) = (raw as usize, packed as usize);
    let kind = Kind::of_code(code).ok_or_else(|| Wrong::damaged("there is no such packet"))?;
    if raw > most || packed > zstd_safe::compress_bound(raw) {
        return Err(Wrong::damaged("the packet is larger than there are"));
    }
    // Grows as bytes come, because a file that was cut off has fewer than it says.
    let mut bytes = Vec::new();
    from.take(packed as u64).read_to_end(&mut bytes).map_err(Wrong::Unreadable)?;
    if bytes.len() < packed {
        return Err(Wrong::Truncated);
    }
    let mut unpacked = Vec::with_capacity(raw);
    let mut context = DCtx::try_create().ok_or_else(|| Wrong::damaged("there is no memory"))?;
    let length = context.decompress(&mut unpacked, &bytes).map_err(|code| {
        let why = zstd_safe::get_error_name(code);
        Wrong::damaged(format!("the packet cannot be unpacked ({why})"))
    })?;
    if length != raw {
        return Err(Wrong::damaged("the packet has another size than it says"));
    }
    Ok((Packet { kind, count, raw: unpacked }, 16 + packed as u64))
}

/// Reads as many bytes as there is room for.
pub(crate) fn fill(from: &mut impl Read, bytes: &mut [u8]) -> Result<(), Wrong> {
    from.read_exact(bytes).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => Wrong::Truncated,
        _ => Wrong::Unreadable(error),
    })
}
