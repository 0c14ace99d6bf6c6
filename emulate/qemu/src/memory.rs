//! The program's memory, as words that the plugin reads and changes.

use std::sync::atomic::{AtomicU32, Ordering};

use kilocore_qemu_plugin::{guest_base, read};

/// Where an address of the program is in this process.
fn here(address: u64) -> Option<u64> {
    (address != 0).then(|| address.wrapping_add(guest_base()))
}

/// The numbers in so many words of eight bytes, if there is memory.
pub(crate) fn read_u64s<const N: usize>(address: u64) -> Option<[u64; N]> {
    let at = here(address)?;
    let mut words = [0; N];
    for (index, word) in words.iter_mut().enumerate() {
        let mut bytes = [0; 8];
        read(at + 8 * index as u64, &mut bytes)?;
        *word = u64::from_ne_bytes(bytes);
    }
    Some(words)
}

/// Writes bytes, if there is memory that the program may write. Whether it did.
pub(crate) fn write(address: u64, bytes: &[u8]) -> bool {
    let Some(at) = here(address) else { return false };
    let local = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let remote = libc::iovec {
        iov_base: core::ptr::without_provenance_mut(at as usize),
        iov_len: bytes.len(),
    };
    // SAFETY: `local` is only read, and the system checks `remote`.
    let length = unsafe {
        libc::process_vm_writev(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0)
    };
    length == bytes.len() as isize
}

/// A word of the program that the plugin reads and changes as other threads do.
fn word_at<T>(address: u64) -> Option<*mut T> {
    let at = here(address)?;
    let aligned = at.is_multiple_of(size_of::<T>() as u64);
    // That there is memory, the system says.
    let mut byte = [0];
    read(at, &mut byte)?;
    aligned.then(|| core::ptr::with_exposed_provenance_mut(at as usize))
}

/// Reads a futex.
pub(crate) fn load(address: u64) -> Option<u32> {
    // SAFETY: there is memory, aligned, and others use it by atomics only, or by the program's instructions.
    word_at::<u32>(address).map(|word| unsafe { AtomicU32::from_ptr(word) }.load(Ordering::SeqCst))
}

/// Changes a futex.
pub(crate) fn store(address: u64, value: u32) {
    if let Some(word) = word_at::<u32>(address) {
        // SAFETY: as above; the program may write its futexes.
        unsafe { AtomicU32::from_ptr(word) }.store(value, Ordering::SeqCst);
    }
}

/// The text at an address, up to a zero byte, if that comes before `most` bytes are over.
pub(crate) fn text(address: u64, most: usize) -> Option<Vec<u8>> {
    let at = here(address)?;
    let mut text = Vec::new();
    while text.len() < most {
        let mut byte = [0];
        read(at + text.len() as u64, &mut byte)?;
        if byte == [0] {
            return Some(text);
        }
        text.extend(byte);
    }
    None
}
