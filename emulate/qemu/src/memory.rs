//! The program's memory, as words that the plugin reads and changes.

use std::sync::atomic::{AtomicU32, Ordering};

use kilocore_qemu_plugin::{guest_base, read};

/// Where an address of the program is in this process.
fn here(address: u64) -> Option<u64> {
    (address != 0).then(|| address.wrapping_add(guest_base()))
}

/// Reads so many bytes, if there is memory.
pub(crate) fn read_bytes(address: u64, to: &mut [u8]) -> Option<()> {
    read(here(address)?, to)
}

/// The numbers in so many words of eight bytes, if there is memory.
pub(crate) fn read_u64s<const N: usize>(address: u64) -> Option<[u64; N]> {
    let mut bytes = [[0; 8]; N];
    read_bytes(address, bytes.as_flattened_mut())?;
    Some(bytes.map(u64::from_ne_bytes))
}

/// Writes bytes, if there is memory that the program may write. Whether it did.
pub(crate) fn write(address: u64, bytes: &[u8]) -> bool {
    here(address).is_some_and(|at| kilocore_qemu_plugin::write(at, bytes))
}

/// The same for words of eight bytes.
pub(crate) fn write_u64s<const N: usize>(address: u64, words: [u64; N]) -> bool {
    write(address, words.map(u64::to_ne_bytes).as_flattened())
}

/// A word of the program that the plugin reads and changes as other threads do.
fn word_at(address: u64) -> Option<*mut u32> {
    let at = here(address)?;
    let aligned = at.is_multiple_of(size_of::<u32>() as u64);
    // That there is memory, the system says.
    let mut byte = [0];
    read(at, &mut byte)?;
    aligned.then(|| core::ptr::with_exposed_provenance_mut(at as usize))
}

/// Reads a futex.
pub(crate) fn load(address: u64) -> Option<u32> {
    // SAFETY: there is memory, aligned, and others use it by atomics only, or by the program's instructions.
    word_at(address).map(|word| unsafe { AtomicU32::from_ptr(word) }.load(Ordering::SeqCst))
}

/// Changes a futex.
pub(crate) fn store(address: u64, value: u32) {
    if let Some(word) = word_at(address) {
        // SAFETY: as above; the program may write its futexes.
        unsafe { AtomicU32::from_ptr(word) }.store(value, Ordering::SeqCst);
    }
}
