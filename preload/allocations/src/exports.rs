//! The functions of `malloc`. Each calls the program's own one, and tells what came of it.

use core::ffi::{c_int, c_void};
use core::ptr;

use kilocore_preload_common::{Reserve, errno};

use crate::{next, tell};

/// Memory for the dynamic linker, which may allocate while it looks for the allocator. In older versions of
/// glibc it does so by the functions of this library, and asks for a few bytes.
static RESERVE: Reserve<{ 64 << 10 }> = Reserve::new();

/// Allocates a block.
///
/// # Safety
/// The contract is that of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn malloc(bytes: usize) -> *mut c_void {
    let Some(next) = next::malloc() else { return RESERVE.block(bytes, 1) };
    // SAFETY: this passes on the caller's argument.
    let block = unsafe { next(bytes) };
    tell::allocated(block, bytes);
    block
}

/// Allocates a block of zeros.
///
/// # Safety
/// The contract is that of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    let bytes = count.checked_mul(size);
    let Some(next) = next::calloc() else {
        return bytes.map_or(ptr::null_mut(), |bytes| RESERVE.block(bytes, 1));
    };
    // SAFETY: this passes on the caller's arguments.
    let block = unsafe { next(count, size) };
    tell::allocated(block, bytes.unwrap_or(0));
    block
}

/// Frees a block.
///
/// # Safety
/// The contract is that of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn free(block: *mut c_void) {
    if RESERVE.behind(block).is_none()
        && let Some(next) = next::free()
    {
        tell::freed(block);
        // SAFETY: this passes on the caller's argument.
        unsafe { next(block) };
        // Something is left to do, so that this function stays among the callers: an allocator may map
        // memory when a thread frees its first block, and then it is known to be the allocator's.
        core::hint::black_box(block);
    }
}

/// Frees a block of a known size.
///
/// # Safety
/// The contract is that of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn free_sized(block: *mut c_void, _bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { free(block) };
}

/// Frees a block of a known size and alignment.
///
/// # Safety
/// The contract is that of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn free_aligned_sized(block: *mut c_void, _align: usize, _bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { free(block) };
}

/// Resizes a block.
///
/// # Safety
/// The contract is that of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn realloc(block: *mut c_void, bytes: usize) -> *mut c_void {
    if let Some(behind) = RESERVE.behind(block) {
        // SAFETY: the caller's promise. More than the old block is copied, but nothing beyond the reserve.
        return unsafe {
            let new = malloc(bytes);
            if !new.is_null() {
                ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast(), behind.min(bytes));
            }
            new
        };
    }
    let Some(next) = next::realloc() else { return RESERVE.block(bytes, 1) };
    let before = tell::freed(block);
    // SAFETY: this passes on the caller's arguments.
    let new = unsafe { next(block, bytes) };
    match before {
        // It could not be resized, and is still there.
        Some(before) if new.is_null() && bytes > 0 => tell::allocated(block, before),
        _ => tell::allocated(new, bytes),
    }
    new
}

/// Resizes a block to so many elements. The C library's own function would call its own `realloc`.
///
/// # Safety
/// The contract is that of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn reallocarray(block: *mut c_void, count: usize, size: usize) -> *mut c_void {
    match count.checked_mul(size) {
        // SAFETY: the caller's promise.
        Some(bytes) => unsafe { realloc(block, bytes) },
        None => no_memory(),
    }
}

/// Allocates a block at a multiple of a number of bytes.
///
/// # Safety
/// The contract is that of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn posix_memalign(block: *mut *mut c_void, align: usize, bytes: usize) -> c_int {
    let Some(next) = next::posix_memalign() else { return libc::ENOMEM };
    // SAFETY: this passes on the caller's arguments.
    let status = unsafe { next(block, align, bytes) };
    if status == 0 {
        // SAFETY: the function has written it.
        tell::allocated(unsafe { block.read() }, bytes);
    }
    status
}

/// Allocates a block at a multiple of a number of bytes.
///
/// # Safety
/// The contract is that of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn aligned_alloc(align: usize, bytes: usize) -> *mut c_void {
    let Some(next) = next::aligned_alloc() else { return no_memory() };
    // SAFETY: this passes on the caller's arguments.
    let block = unsafe { next(align, bytes) };
    tell::allocated(block, bytes);
    block
}

/// Allocates a block at a multiple of a number of bytes.
///
/// # Safety
/// The contract is that of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn memalign(align: usize, bytes: usize) -> *mut c_void {
    let Some(next) = next::memalign() else { return no_memory() };
    // SAFETY: this passes on the caller's arguments.
    let block = unsafe { next(align, bytes) };
    tell::allocated(block, bytes);
    block
}

fn no_memory() -> *mut c_void {
    errno::set(libc::ENOMEM);
    ptr::null_mut()
}
