//! Reading the memory of a virtual machine, of which nothing is taken for granted.

/// The memory of a process.
pub trait Memory {
    /// The bytes at an address, as many as there are without a gap; none if there are none.
    fn read(&self, address: u64, length: usize) -> Vec<u8>;
}

/// The longest text that is read.
const LONGEST: usize = 256;

/// A number of `size` bytes, which are eight at most.
pub(crate) fn number(memory: &dyn Memory, address: u64, size: usize) -> Option<u64> {
    number_in(&memory.read(address, size), 0, size)
}

/// An address, unless it is that of nothing.
pub(crate) fn pointer(memory: &dyn Memory, address: u64) -> Option<u64> {
    number(memory, address, 8).filter(|to| *to != 0)
}

/// A number of `size` bytes among others.
pub(crate) fn number_in(bytes: &[u8], at: usize, size: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(size)?)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// A text that ends with a zero byte.
pub(crate) fn text(memory: &dyn Memory, address: u64) -> Option<String> {
    let mut bytes = memory.read(address, LONGEST);
    // The end of the page may come first.
    if bytes.is_empty() {
        let to_the_end = 4096 - (address % 4096) as usize;
        bytes = memory.read(address, to_the_end.min(LONGEST));
    }
    let end = bytes.iter().position(|byte| *byte == 0)?;
    Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
}
