//! Reading and writing the memory of QEMU's process, which the program's is a part of.

use crate::guest_base;

/// The size of a page.
const PAGE: u64 = 4096;

/// Reads this process's memory by the system, which refuses where there is none. `at` is an address of this
/// process: one of the program's, and [`guest_base()`](crate::guest_base()).
#[must_use]
pub fn read(at: u64, to: &mut [u8]) -> Option<()> {
    let local = libc::iovec { iov_base: to.as_mut_ptr().cast(), iov_len: to.len() };
    let remote = remote(at, to.len());
    // SAFETY: `local` may be written, and the system checks `remote`.
    let length = unsafe {
        libc::process_vm_readv(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0)
    };
    (length == to.len() as isize).then_some(())
}

/// Writes this process's memory by the system, which refuses where there is none, or where it may not be written.
/// Returns whether all of it was written.
#[must_use]
pub fn write(at: u64, bytes: &[u8]) -> bool {
    let local = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let remote = remote(at, bytes.len());
    // SAFETY: `local` is only read, and the system checks `remote`.
    let length = unsafe {
        libc::process_vm_writev(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0)
    };
    length == bytes.len() as isize
}

fn remote(at: u64, bytes: usize) -> libc::iovec {
    libc::iovec { iov_base: core::ptr::without_provenance_mut(at as usize), iov_len: bytes }
}

/// The text at an address of the program's, up to a zero byte. There is none if there is no memory.
#[must_use]
pub fn text(address: u64) -> Option<String> {
    let mut text = Vec::new();
    let mut at = address.checked_add(guest_base())?;
    while text.len() < libc::PATH_MAX as usize {
        // Up to the end of a page, because the next one may not be there.
        let mut bytes = [0_u8; PAGE as usize];
        let length = (PAGE - at % PAGE) as usize;
        read(at, &mut bytes[..length])?;
        if let Some(end) = bytes[..length].iter().position(|byte| *byte == 0) {
            text.extend(&bytes[..end]);
            return Some(String::from_utf8_lossy(&text).into_owned());
        }
        text.extend(&bytes[..length]);
        at += length as u64;
    }
    None
}
