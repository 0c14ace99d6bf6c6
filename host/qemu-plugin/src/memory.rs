//! Reading the memory of QEMU's process, which the program's is a part of.

/// Reads this process's memory by the system, which refuses where there is none. `at` is an address of this
/// process: one of the program's, and [`guest_base()`](crate::guest_base()).
#[must_use]
pub fn read(at: u64, to: &mut [u8]) -> Option<()> {
    let local = libc::iovec { iov_base: to.as_mut_ptr().cast(), iov_len: to.len() };
    let remote =
        libc::iovec { iov_base: core::ptr::without_provenance_mut(at as usize), iov_len: to.len() };
    // SAFETY: `local` may be written, and the system checks `remote`.
    let length = unsafe {
        libc::process_vm_readv(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0)
    };
    (length == to.len() as isize).then_some(())
}
