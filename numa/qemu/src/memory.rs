//! Reading the program's memory.

use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use kilocore_qemu_plugin::guest_base;

/// The number in a word of 1, 2, 4 or 8 bytes. The program has just used the word, and nobody has given its
/// memory back since (`gate.rs`).
pub(crate) fn number(address: u64, bytes: u64) -> Option<u64> {
    let at = address.checked_add(guest_base())? as usize;
    if bytes == 0 || !at.is_multiple_of(bytes as usize) {
        return None;
    }
    // SAFETY: the word is there and aligned. Whoever is to unmap it has learned of the program's access,
    // and so waits at the gate until it was read here. The program's own writes are those of other threads,
    // which atomics allow for.
    unsafe {
        Some(match bytes {
            1 => AtomicU8::from_ptr(core::ptr::with_exposed_provenance_mut(at))
                .load(Ordering::Relaxed)
                .into(),
            2 => AtomicU16::from_ptr(core::ptr::with_exposed_provenance_mut(at))
                .load(Ordering::Relaxed)
                .into(),
            4 => AtomicU32::from_ptr(core::ptr::with_exposed_provenance_mut(at))
                .load(Ordering::Relaxed)
                .into(),
            8 => AtomicU64::from_ptr(core::ptr::with_exposed_provenance_mut(at))
                .load(Ordering::Relaxed),
            _ => return None,
        })
    }
}
