//! The functions of `malloc`.
//!
//! Large blocks are runs of pages of the pool. Which pages a block has is noted beside the pool and not in
//! front of the block, so blocks begin where pages do. All others are the program's allocator's.

use core::ffi::{c_int, c_void};
use core::ptr;

use kilocore_pages::PAGE_BYTES;
use kilocore_preload_common::errno;

use crate::allocator::{self, RESERVE, is_large};
use crate::bits::Run;
use crate::memory::{Memory, Want};
use crate::settings::LARGEST;
use crate::shares::Count;
use crate::{failure, make};

/// Returns a block from the pool, if that has one.
#[cold]
fn served(bytes: usize, align: usize, want: Want) -> Option<*mut c_void> {
    if bytes > LARGEST {
        return None; // a program that asks for nothing else needs no pool
    }
    let memory = make::memory().filter(|memory| memory.serves(bytes))?;
    let pages = bytes.div_ceil(PAGE_BYTES) as u32;
    // A run lies at a multiple of its size, rounded up to a power of two.
    if align > pages.next_power_of_two() as usize * PAGE_BYTES {
        return None;
    }
    let run = errno::preserved(|| memory.allocate(pages, want))?;
    memory.begin_block(run);
    memory.shares().own().add(Count::Blocks, 1);
    Some(memory.address_of(run.first) as *mut c_void)
}

/// Returns the pool and the first page of a block, if the block may be of the pool.
#[inline]
fn place(block: *mut c_void) -> Option<(&'static Memory, u32)> {
    let memory = make::existing()?;
    Some((memory, memory.page_at(block.addr())?))
}

/// Returns the pool and the pages of a block, if that is of the pool.
#[inline]
fn owner(block: *mut c_void) -> Option<(&'static Memory, Run)> {
    let (memory, first) = place(block)?;
    match memory.block_pages(first) {
        0 => None,
        pages => Some((memory, Run { first, pages })),
    }
}

/// Allocates a block.
///
/// # Safety
/// The contract is that of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn malloc(bytes: usize) -> *mut c_void {
    if is_large(bytes)
        && let Some(block) = served(bytes, 1, Want::Anything)
    {
        return block;
    }
    // SAFETY: this passes on the caller's arguments.
    allocator::malloc().map_or_else(|| RESERVE.block(bytes, 1), |next| unsafe { next(bytes) })
}

/// Allocates a block of zeros.
///
/// # Safety
/// The contract is that of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    let bytes = count.checked_mul(size);
    if let Some(bytes) = bytes.filter(|bytes| is_large(*bytes))
        && let Some(block) = served(bytes, 1, Want::Zero)
    {
        return block;
    }
    match allocator::calloc() {
        // SAFETY: this passes on the caller's arguments.
        Some(next) => unsafe { next(count, size) },
        None => bytes.map_or(ptr::null_mut(), |bytes| RESERVE.block(bytes, 1)),
    }
}

/// Frees a block.
///
/// # Safety
/// The contract is that of the C function.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn free(block: *mut c_void) {
    if let Some((memory, first)) = place(block)
        && let Some(run) = memory.end_block(first)
    {
        return errno::preserved(|| memory.release(run));
    }
    if RESERVE.behind(block).is_none()
        && let Some(next) = allocator::free()
    {
        // SAFETY: this passes on the caller's argument.
        unsafe { next(block) };
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
    if let Some((memory, run)) = owner(block) {
        // SAFETY: the caller's promise.
        return unsafe { resize(memory, run, block, bytes) };
    }
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
    if is_large(bytes)
        // SAFETY: the caller's promise.
        && let Some(new) = unsafe { make_large(block, bytes) }
    {
        return new;
    }
    // SAFETY: this passes on the caller's arguments. A block can only be asked for where there is none
    // yet, while the function is looked up.
    allocator::realloc()
        .map_or_else(|| RESERVE.block(bytes, 1), |next| unsafe { next(block, bytes) })
}

/// Makes a block large that is none, or is one of the program's allocator that was small. What was large there
/// already stays there: it had no room in the pool, and the kernel moves it without a copy.
///
/// # Safety
/// The block is the caller's, and not of the pool; or there is none.
#[cold]
unsafe fn make_large(block: *mut c_void, bytes: usize) -> Option<*mut c_void> {
    if block.is_null() {
        return served(bytes, 1, Want::Anything);
    }
    let (size, free) = (allocator::malloc_usable_size()?, allocator::free()?);
    // SAFETY: the caller's promise.
    let room = unsafe { size(block) };
    if is_large(room) {
        return None;
    }
    let new = served(bytes, 1, Want::Anything)?;
    // SAFETY: both blocks have so many bytes, and nobody else has either of them. The program has given the old
    // one up.
    unsafe {
        ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast(), room.min(bytes));
        free(block);
    }
    Some(new)
}

/// Resizes a block of the pool.
///
/// # Safety
/// The block is the caller's, and has these pages.
unsafe fn resize(memory: &Memory, run: Run, block: *mut c_void, bytes: usize) -> *mut c_void {
    if bytes == 0 {
        // As glibc does it.
        // SAFETY: the caller's promise.
        unsafe { free(block) };
        return ptr::null_mut();
    }
    let room = run.pages as usize * PAGE_BYTES;
    let keeps = bytes.div_ceil(PAGE_BYTES) as u32;
    if bytes <= room && is_large(bytes) {
        // A block that grew once may have room to grow again. It is cut only to half.
        if keeps <= run.pages / 2 {
            memory.begin_block(Run { pages: keeps, ..run });
            let rest = Run { first: run.first + keeps, pages: run.pages - keeps };
            errno::preserved(|| memory.release(rest));
        }
        return block;
    }
    // A block that grows has room for as much again, so that growing by small steps does not copy it
    // each time.
    let roomy =
        if bytes > room { bytes.next_power_of_two().min(LARGEST).max(bytes) } else { bytes };
    // SAFETY: the new block is as large as what is copied, and nobody else has either of them.
    unsafe {
        let new = malloc(if is_large(roomy) { roomy } else { bytes });
        if !new.is_null() {
            ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast(), room.min(bytes));
            free(block);
        }
        new
    }
}

/// Allocates a block at a multiple of a number of bytes.
///
/// # Safety
/// The contract is that of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn posix_memalign(block: *mut *mut c_void, align: usize, bytes: usize) -> c_int {
    let right = align.is_power_of_two() && align.is_multiple_of(size_of::<usize>());
    if right
        && is_large(bytes)
        && let Some(served) = served(bytes, align, Want::Anything)
    {
        // SAFETY: the caller's promise.
        unsafe { block.write(served) };
        return 0;
    }
    // SAFETY: this passes on the caller's arguments.
    allocator::posix_memalign().map_or(libc::ENOMEM, |next| unsafe { next(block, align, bytes) })
}

/// Allocates a block at a multiple of a number of bytes.
///
/// # Safety
/// The contract is that of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn aligned_alloc(align: usize, bytes: usize) -> *mut c_void {
    if align.is_power_of_two()
        && is_large(bytes)
        && let Some(block) = served(bytes, align, Want::Anything)
    {
        return block;
    }
    let Some(next) = allocator::aligned_alloc() else { return no_memory() };
    // SAFETY: this passes on the caller's arguments.
    unsafe { next(align, bytes) }
}

/// Allocates a block at a multiple of a number of bytes.
///
/// # Safety
/// The contract is that of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn memalign(align: usize, bytes: usize) -> *mut c_void {
    if align.is_power_of_two()
        && is_large(bytes)
        && let Some(block) = served(bytes, align, Want::Anything)
    {
        return block;
    }
    let Some(next) = allocator::memalign() else { return no_memory() };
    // SAFETY: this passes on the caller's arguments.
    unsafe { next(align, bytes) }
}

fn no_memory() -> *mut c_void {
    failure::set(libc::ENOMEM);
    ptr::null_mut()
}

/// Returns how many bytes a block has room for.
///
/// # Safety
/// The contract is that of glibc's function.
#[unsafe(no_mangle)]
unsafe extern "C" fn malloc_usable_size(block: *mut c_void) -> usize {
    if let Some((_, run)) = owner(block) {
        return run.pages as usize * PAGE_BYTES;
    }
    if RESERVE.behind(block).is_some() {
        return 0; // nobody may use more than was asked for
    }
    // SAFETY: this passes on the caller's argument.
    allocator::malloc_usable_size().map_or(0, |next| unsafe { next(block) })
}
