//! The packets of a file: a count, two sizes, and packed bytes.

use std::io::{self, Read, Write};

use zstd_safe::{CCtx, CParameter, DCtx};

use crate::error::What as Wrong;

/// What a file begins with.
pub(crate) const MAGIC: [u8; 8] = *b"KC-PAGES";
/// The version that is written, and the last that is read.
pub(crate) const VERSION: u32 = 1;
/// No header is longer.
pub(crate) const LONGEST_HEADER: usize = 1 << 20;

/// How hard zstd tries. Beyond this, files of real programs shrink by another hundredth and take
/// several times as long.
const LEVEL: i32 = 9;

/// Packs.
pub(crate) struct Packer(CCtx<'static>);

impl Packer {
    pub(crate) fn new() -> io::Result<Self> {
        let mut context = CCtx::try_create().ok_or(io::ErrorKind::OutOfMemory)?;
        for parameter in [CParameter::CompressionLevel(LEVEL), CParameter::ChecksumFlag(true)] {
            context.set_parameter(parameter).map_err(failed)?;
        }
        Ok(Self(context))
    }

    /// Writes a packet.
    pub(crate) fn write(&mut self, to: &mut impl Write, count: u32, raw: &[u8]) -> io::Result<()> {
        let mut packed = Vec::with_capacity(zstd_safe::compress_bound(raw.len()));
        self.0.compress2(&mut packed, raw).map_err(failed)?;
        for number in [count, raw.len() as u32, packed.len() as u32] {
            to.write_all(&number.to_le_bytes())?;
        }
        to.write_all(&packed)
    }
}

fn failed(code: usize) -> io::Error {
    io::Error::other(zstd_safe::get_error_name(code))
}

/// A packet, unpacked.
#[derive(Debug)]
pub(crate) struct Packet {
    pub(crate) count: u32,
    pub(crate) raw: Vec<u8>,
}

/// Reads a packet that has no more than so many bytes, and says how many bytes of the file it took.
pub(crate) fn read(from: &mut impl Read, most: usize) -> Result<(Packet, u64), Wrong> {
    let mut number = || {
        let mut bytes = [0; 4];
        fill(from, &mut bytes).map(|()| u32::from_le_bytes(bytes))
    };
    let (count, raw, packed) = (number()?, number()? as usize, number()? as usize);
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
    Ok((Packet { count, raw: unpacked }, 12 + packed as u64))
}

/// Reads as many bytes as there is room for.
pub(crate) fn fill(from: &mut impl Read, bytes: &mut [u8]) -> Result<(), Wrong> {
    from.read_exact(bytes).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => Wrong::Truncated,
        _ => Wrong::Unreadable(error),
    })
}
