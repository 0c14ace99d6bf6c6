//! What a file begins with.

use std::io::{self, Read, Write};

use crate::{ReadError, TracePosition, Wrong, fill};

/// A kind of traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    /// What a file of this kind begins with.
    pub magic: [u8; 8],
    /// The version that is written, and the last that is read; at least 1.
    pub version: u32,
    /// What to say of a file that does not begin so.
    pub is_none: &'static str,
}

impl Format {
    /// So many bytes the beginning has.
    pub const BYTES: u64 = 12;

    /// Writes the beginning of a file.
    ///
    /// # Errors
    /// The system's.
    pub fn begin(&self, to: &mut impl Write) -> io::Result<()> {
        to.write_all(&self.magic)?;
        to.write_all(&self.version.to_le_bytes())
    }

    /// Reads the beginning of a file, which has [`BYTES`](Self::BYTES).
    ///
    /// # Errors
    /// If it is the beginning of something else, or of a version that is not known.
    pub fn check(&self, from: &mut impl Read) -> Result<(), ReadError> {
        let mut magic = [0; 8];
        fill(from, &mut magic).map_err(|wrong| match wrong {
            Wrong::Truncated => Wrong::NoTrace(self.is_none).at(TracePosition::Whole),
            wrong => wrong.at(TracePosition::Whole),
        })?;
        if magic != self.magic {
            return Err(Wrong::NoTrace(self.is_none).at(TracePosition::Whole));
        }
        let at = TracePosition::Byte(self.magic.len() as u64);
        let mut version = [0; 4];
        fill(from, &mut version).map_err(|wrong| wrong.at(at))?;
        match u32::from_le_bytes(version) {
            0 => Err(Wrong::damaged("there is no version 0").at(at)),
            version if version <= self.version => Ok(()),
            version => Err(Wrong::TooNew { version, known: self.version }.at(at)),
        }
    }
}
