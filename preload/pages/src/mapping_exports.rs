//! The functions that map and unmap memory.

use core::ffi::{c_int, c_void};

use kilocore_pages::PAGE_BYTES;
use kilocore_preload_common::errno;

use crate::memory::Want;
use crate::placing::Request;
use crate::settings::LARGEST;
use crate::shares::Count;
use crate::{failure, make, moving, next, placing};

/// Returns a range of zeros from the pool, if the pool serves such requests.
///
/// Only plain memory is served: private, anonymous, to be read and written, at any address. What is to be
/// locked, filled, grown or shared, or is a stack, is the kernel's. `MAP_NORESERVE` makes no difference to
/// memory that is there, so it is served.
#[inline]
fn served(
    address: *mut c_void,
    bytes: usize,
    protection: c_int,
    flags: c_int,
) -> Option<*mut c_void> {
    const PLAIN: c_int = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    let plain = flags & !libc::MAP_NORESERVE == PLAIN
        && protection == libc::PROT_READ | libc::PROT_WRITE
        && address.is_null();
    if !plain || bytes == 0 || bytes > LARGEST {
        return None;
    }
    let memory = make::memory().filter(|memory| memory.serves(bytes))?;
    let pages = bytes.div_ceil(PAGE_BYTES) as u32;
    let run = errno::preserved(|| memory.allocate(pages, Want::Zero))?;
    memory.shares().own().add(Count::Mappings, 1);
    Some(memory.address_of(run.first) as *mut c_void)
}

/// Maps memory. What is to lie at an address of the pool's gets the pages there first, so that the pool gives
/// them to nobody else.
///
/// # Safety
/// The contract is that of `mmap`.
unsafe fn map(
    address: *mut c_void,
    bytes: usize,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: i64,
) -> *mut c_void {
    if let Some(served) = served(address, bytes, protection, flags) {
        return served;
    }
    let request = Request { address, bytes, protection, flags, file, offset };
    // SAFETY: the caller's promise.
    unsafe { placing::map(request).unwrap_or_else(|| request.pass()) }
}

/// Maps memory.
///
/// # Safety
/// The contract is that of the POSIX function.
#[unsafe(no_mangle)]
unsafe extern "C" fn mmap(
    address: *mut c_void,
    bytes: usize,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: i64,
) -> *mut c_void {
    // SAFETY: this passes on the caller's arguments.
    unsafe { map(address, bytes, protection, flags, file, offset) }
}

/// Maps memory. It is the same function on machines of 64 bits.
///
/// # Safety
/// The contract is that of `mmap`.
#[unsafe(no_mangle)]
unsafe extern "C" fn mmap64(
    address: *mut c_void,
    bytes: usize,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: i64,
) -> *mut c_void {
    // SAFETY: this passes on the caller's arguments.
    unsafe { map(address, bytes, protection, flags, file, offset) }
}

/// Unmaps memory, of the pool or of the kernel or of both. As with the kernel, there need not be any.
///
/// # Safety
/// The contract is that of the POSIX function.
#[unsafe(no_mangle)]
unsafe extern "C" fn munmap(address: *mut c_void, bytes: usize) -> c_int {
    let whole = || {
        let Some(next) = next::munmap() else { return failure::minus_one(libc::ENOSYS) };
        // SAFETY: this passes on the caller's arguments.
        unsafe { next(address, bytes) }
    };
    let Some(memory) = make::existing() else { return whole() };
    let start = address.addr();
    let Some(inside) = memory.inside(start, bytes) else { return whole() };
    if !start.is_multiple_of(PAGE_BYTES) || memory.is_retired() {
        return whole();
    }
    for (from, to) in memory.outside(start, bytes, inside) {
        if from < to {
            let Some(next) = next::munmap() else { return failure::minus_one(libc::ENOSYS) };
            // SAFETY: this is a part of what the caller wants to be unmapped.
            let result = unsafe { next(address.with_addr(from), to - from) };
            if result != 0 {
                return result;
            }
        }
    }
    errno::preserved(|| memory.release(inside.run()));
    0
}

/// Resizes or moves a mapping. The last argument means something only with some of the flags; the C function
/// has a variable number of them, which are passed in the same way.
///
/// # Safety
/// The contract is that of the function of Linux.
#[unsafe(no_mangle)]
unsafe extern "C" fn mremap(
    old: *mut c_void,
    old_bytes: usize,
    new_bytes: usize,
    flags: c_int,
    new: *mut c_void,
) -> *mut c_void {
    // SAFETY: this passes on the caller's arguments.
    unsafe { moving::remap(old, old_bytes, new_bytes, flags, new) }
}
