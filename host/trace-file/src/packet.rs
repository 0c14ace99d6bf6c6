//! The packets of a file: some numbers, two sizes, and packed bytes.

use std::fmt;
use std::io::{self, Read, Write};

use zstd_safe::{CCtx, CParameter, DCtx};

use crate::Wrong;

/// Packs what goes into a file.
pub struct Packer {
    context: CCtx<'static>,
    packed: Vec<u8>,
}

impl fmt::Debug for Packer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Packer")
    }
}

impl Packer {
    /// Returns a packer for which zstd tries so hard: 1 to 19.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn new(level: i32) -> io::Result<Self> {
        let mut context = CCtx::try_create().ok_or(io::ErrorKind::OutOfMemory)?;
        for parameter in [CParameter::CompressionLevel(level), CParameter::ChecksumFlag(true)] {
            context.set_parameter(parameter).map_err(failed)?;
        }
        Ok(Self { context, packed: Vec::new() })
    }

    /// Writes a packet: `numbers`, which tell what is in it, and `raw`, which is packed.
    ///
    /// # Errors
    /// The system's.
    ///
    /// # Panics
    /// If `raw` has 4 GiB or more.
    pub fn write<const N: usize>(
        &mut self,
        to: &mut impl Write,
        numbers: [u32; N],
        raw: &[u8],
    ) -> io::Result<()> {
        self.packed.clear();
        self.packed.reserve(zstd_safe::compress_bound(raw.len()));
        self.context.compress2(&mut self.packed, raw).map_err(failed)?;
        let size = |bytes: &[u8]| u32::try_from(bytes.len()).expect("a packet is smaller");
        for number in numbers.into_iter().chain([size(raw), size(&self.packed)]) {
            to.write_all(&number.to_le_bytes())?;
        }
        to.write_all(&self.packed)
    }
}

fn failed(code: usize) -> io::Error {
    io::Error::other(zstd_safe::get_error_name(code))
}

/// A packet that was read, with its content unpacked.
#[derive(Debug)]
pub struct Packet<const N: usize> {
    /// What tells what is in it.
    pub numbers: [u32; N],
    /// The content, as it was before it was packed.
    pub raw: Vec<u8>,
    /// So many bytes of the file it took.
    pub size: u64,
}

impl<const N: usize> Packet<N> {
    /// Reads a packet of which `most` bytes at most are made.
    ///
    /// # Errors
    /// If the file ends early, is damaged, or cannot be read.
    pub fn read(from: &mut impl Read, most: usize) -> Result<Self, Wrong> {
        let mut number = || {
            let mut bytes = [0; 4];
            fill(from, &mut bytes).map(|()| u32::from_le_bytes(bytes))
        };
        let mut numbers = [0; N];
        for one in &mut numbers {
            *one = number()?;
        }
        let (raw, packed) = (number()? as usize, number()? as usize);
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
        Ok(Self { numbers, raw: unpacked, size: 4 * (N as u64 + 2) + packed as u64 })
    }
}

/// Reads as many bytes as there is room for.
///
/// # Errors
/// If the file ends before, or cannot be read.
pub fn fill(from: &mut impl Read, bytes: &mut [u8]) -> Result<(), Wrong> {
    from.read_exact(bytes).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => Wrong::Truncated,
        _ => Wrong::Unreadable(error),
    })
}
