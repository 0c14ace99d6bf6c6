//! Reads numbers and names from untrusted bytes of either byte order.

/// Bytes that are read from the front. A read beyond the end returns `None`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bytes<'a> {
    rest: &'a [u8],
    big_endian: bool,
}

impl<'a> Bytes<'a> {
    pub(super) fn new(bytes: &'a [u8], big_endian: bool) -> Self {
        Self { rest: bytes, big_endian }
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Other bytes of the same order.
    pub(super) fn of_same_order<'b>(&self, bytes: &'b [u8]) -> Bytes<'b> {
        Bytes::new(bytes, self.big_endian)
    }

    /// Takes the next `size` bytes, if there are so many.
    pub(super) fn take(&mut self, size: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(usize::try_from(size).ok()?)?;
        self.rest = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N as u64)?.try_into().ok()
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        let bytes = self.array()?;
        Some(if self.big_endian { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        let bytes = self.array()?;
        Some(if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        let bytes = self.array()?;
        Some(if self.big_endian { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) })
    }

    /// Takes `count` numbers of 64 bits.
    pub(super) fn u64s(&mut self, count: u64) -> Option<Words<'a>> {
        let bytes = self.take(count.checked_mul(8)?)?;
        Some(Words { bytes, big_endian: self.big_endian })
    }

    /// Takes a text that has its size before it and may be padded with zeros.
    pub(super) fn text(&mut self) -> Option<String> {
        let size = self.u32()?;
        self.take(size.into()).map(text)
    }
}

/// Returns the bytes up to the first zero as text.
pub(super) fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// A list of numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Words<'a> {
    bytes: &'a [u8],
    big_endian: bool,
}

impl Words<'_> {
    pub(super) fn iter(&self) -> impl Iterator<Item = u64> {
        self.bytes.chunks_exact(8).filter_map(|chunk| Bytes::new(chunk, self.big_endian).u64())
    }

    pub(super) fn get(&self, index: usize) -> Option<u64> {
        let chunk = self.bytes.chunks_exact(8).nth(index)?;
        Bytes::new(chunk, self.big_endian).u64()
    }
}
