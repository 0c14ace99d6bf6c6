//! Resizing and moving memory of the pool (`mremap`).
//!
//! What becomes smaller stays where it is. What is to become larger, or to lie elsewhere, moves out of the
//! pool: the kernel moves its pages, with their protection and all else that the program did to them, and
//! leaves an empty mapping behind (`MREMAP_DONTUNMAP`), so that nobody else's mapping can come between. So
//! nothing is copied, and what the program gets is one mapping of the kernel's, whatever it does with that
//! later.

use core::ffi::{c_int, c_void};

use kilocore_pages::PAGE_BYTES;

use crate::bits::Run;
use crate::make::owned;
use crate::memory::{Inside, Memory};
use crate::{failure, next, system};

/// # Safety
/// The contract is that of `mremap`.
pub(crate) unsafe fn remap(
    old: *mut c_void,
    old_bytes: usize,
    new_bytes: usize,
    flags: c_int,
    new: *mut c_void,
) -> *mut c_void {
    let Some(next) = next::mremap() else { return failure::map_failed(libc::ENOSYS) };
    // SAFETY: this passes on the caller's arguments.
    let pass = || unsafe { next(old, old_bytes, new_bytes, flags, new) };
    let fixed = flags & libc::MREMAP_FIXED != 0;
    if fixed
        && let Some((memory, inside)) = owned(new, new_bytes)
        && !memory.take_over(inside.run())
    {
        return failure::map_failed(libc::ENOMEM);
    }
    let Some((memory, inside)) = owned(old, old_bytes.max(1)) else { return pass() };
    let aligned = old.addr().is_multiple_of(PAGE_BYTES);
    let known = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
    let stays = flags & libc::MREMAP_DONTUNMAP != 0;
    // The kernel says what is wrong, or, where the old range stays, does all that is to be done.
    if !aligned || old_bytes == 0 || new_bytes == 0 || stays || flags & !known != 0 {
        return pass();
    }
    let (Inside::All(run), true) = (inside, memory.is_held(inside.run())) else {
        return failure::map_failed(libc::EFAULT);
    };
    let Some(new_size) = new_bytes.checked_next_multiple_of(PAGE_BYTES) else {
        return failure::map_failed(libc::EINVAL);
    };
    // What is too much goes first, wherever the rest will be.
    let pages = run.pages.min(u32::try_from(new_size / PAGE_BYTES).unwrap_or(u32::MAX));
    let (kept, surplus) = (
        Run { first: run.first, pages },
        Run { first: run.first + pages, pages: run.pages - pages },
    );
    let grows = new_size > run.pages as usize * PAGE_BYTES;
    if fixed {
        // SAFETY: the caller's promise.
        return unsafe { move_to(memory, kept, surplus, new, new_size) };
    }
    if !grows {
        memory.release(surplus);
        return old;
    }
    if flags & libc::MREMAP_MAYMOVE == 0 {
        return failure::map_failed(libc::ENOMEM);
    }
    // SAFETY: the caller's promise.
    unsafe { move_out(memory, kept, new_size) }
}

const LEAVE: c_int = libc::MREMAP_MAYMOVE | libc::MREMAP_DONTUNMAP;

/// Moves pages out of the pool, to wherever there is room for so many bytes.
///
/// # Safety
/// The pages are the program's, which wants them to move.
unsafe fn move_out(memory: &Memory, run: Run, new_bytes: usize) -> *mut c_void {
    let Some(next) = next::mremap() else { return failure::map_failed(libc::ENOSYS) };
    let bytes = run.pages as usize * PAGE_BYTES;
    let old = memory.address_of(run.first) as *mut c_void;
    let none = core::ptr::null_mut();
    // SAFETY: the caller's promise. The kernel chooses an address where nothing is.
    let moved = unsafe { next(old, bytes, bytes, LEAVE, none) };
    if moved == libc::MAP_FAILED {
        return moved;
    }
    // SAFETY: the moved pages are the program's, which does not know their address yet.
    let grown = unsafe { next(moved, bytes, new_bytes, libc::MREMAP_MAYMOVE, none) };
    if grown == libc::MAP_FAILED {
        let code = kilocore_preload_common::errno::current();
        // The program must find its pages where they were.
        let back = LEAVE & !libc::MREMAP_DONTUNMAP | libc::MREMAP_FIXED;
        memory.alter(run);
        // SAFETY: the old range is the program's, and empty.
        unsafe { next(moved, bytes, bytes, back, old) };
        return failure::map_failed(code);
    }
    memory.give_up_moved(run);
    grown
}

/// Moves pages out of the pool, in place of what is at an address, where so many bytes are wanted.
///
/// # Safety
/// The pages are the program's, and so is what is at the address.
unsafe fn move_to(
    memory: &Memory,
    kept: Run,
    surplus: Run,
    new: *mut c_void,
    new_bytes: usize,
) -> *mut c_void {
    let Some(next) = next::mremap() else { return failure::map_failed(libc::ENOSYS) };
    let bytes = kept.pages as usize * PAGE_BYTES;
    let old = memory.address_of(kept.first);
    let overlaps = new.addr() < old + bytes && old < new.addr().saturating_add(new_bytes);
    if overlaps || !new.addr().is_multiple_of(PAGE_BYTES) {
        return failure::map_failed(libc::EINVAL);
    }
    if new_bytes > bytes {
        // SAFETY: the range is the program's, which wants it to be replaced.
        if !unsafe { system::replace(new.addr() + bytes, new_bytes - bytes) } {
            return failure::map_failed(libc::ENOMEM);
        }
    }
    // SAFETY: as above.
    let moved = unsafe { next(old as *mut c_void, bytes, bytes, LEAVE | libc::MREMAP_FIXED, new) };
    if moved != libc::MAP_FAILED {
        memory.give_up_moved(kept);
        memory.release(surplus);
    }
    moved
}
