//! Resizing and moving memory of the pool (`mremap`).
//!
//! What becomes smaller stays where it is. What is to become larger, or to lie elsewhere, moves out of the
//! pool: the kernel moves its pages, with their protection and all else that the program did to them, and
//! leaves an empty mapping behind (`MREMAP_DONTUNMAP`), so that nobody else's mapping can come between. So
//! nothing is copied, and what the program gets is one mapping of the kernel's, whatever it does with that
//! later.

use core::ffi::{c_int, c_void};

use kilocore_pages::PAGE_BYTES;
use kilocore_preload_common::errno;

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
    if is_wrong(old.addr(), old_bytes, new_bytes, flags, new.addr()) {
        return pass(); // the kernel says what is wrong, and leaves all as it is
    }
    let from = owned(old, old_bytes.max(1));
    if let Some((memory, inside)) = from
        && !(matches!(inside, Inside::All(_)) && memory.is_held(inside.run()))
    {
        return failure::map_failed(libc::EFAULT);
    }
    // SAFETY: the caller's promise.
    let go = || unsafe { remap_from(from, (old, old_bytes), (new, new_bytes), flags) };
    if flags & libc::MREMAP_FIXED == 0 { go() } else { replacing(new, new_bytes, go) }
}

/// Returns whether the kernel refuses arguments, wherever the addresses are.
fn is_wrong(old: usize, old_bytes: usize, new_bytes: usize, flags: c_int, new: usize) -> bool {
    const KNOWN: c_int = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED | libc::MREMAP_DONTUNMAP;
    let sizes = (
        old_bytes.checked_next_multiple_of(PAGE_BYTES),
        new_bytes.checked_next_multiple_of(PAGE_BYTES),
    );
    let (Some(old_size), Some(new_size)) = sizes else { return true };
    let has = |flag| flags & flag != 0;
    let moves = has(libc::MREMAP_MAYMOVE);
    let ends = (old.checked_add(old_size), new.checked_add(new_size));
    let (Some(old_end), Some(new_end)) = ends else { return true };
    let place_is_wrong = !new.is_multiple_of(PAGE_BYTES) || new < old_end && old < new_end;
    !old.is_multiple_of(PAGE_BYTES)
        || new_size == 0
        || flags & !KNOWN != 0
        || has(libc::MREMAP_FIXED) && (!moves || place_is_wrong)
        || has(libc::MREMAP_DONTUNMAP) && (!moves || old_size != new_size)
}

/// Moves something in place of what is at an address. Pages of the pool there are the program's first, so that
/// the pool gives them to nobody else.
fn replacing(new: *mut c_void, new_bytes: usize, go: impl FnOnce() -> *mut c_void) -> *mut c_void {
    // Of a mapping of huge pages, the kernel moves whole ones. Nothing says whether it is one; but then it
    // begins where a huge page does.
    const HUGE: usize = 2 << 20;
    let huge = if new.addr().is_multiple_of(HUGE) { HUGE } else { PAGE_BYTES };
    let whole = new_bytes.checked_next_multiple_of(huge).unwrap_or(new_bytes);
    let Some((memory, inside)) = owned(new, whole) else { return go() };
    let Some(taken) = errno::preserved(|| memory.take_over(inside.run())) else {
        return failure::map_failed(libc::ENOMEM);
    };
    let moved = go();
    let behind = match memory.inside(new.addr(), new_bytes) {
        Some(used) if moved != libc::MAP_FAILED => used.run().first + used.run().pages,
        _ => 0,
    };
    errno::preserved(|| memory.undo_from(&taken, behind));
    moved
}

/// Resizes or moves a mapping, whose pages are all of the pool and the program's if any are of the pool.
///
/// # Safety
/// The contract is that of `mremap`, and the kernel refuses none of the arguments.
unsafe fn remap_from(
    from: Option<(&'static Memory, Inside)>,
    (old, old_bytes): (*mut c_void, usize),
    (new, new_bytes): (*mut c_void, usize),
    flags: c_int,
) -> *mut c_void {
    let Some(next) = next::mremap() else { return failure::map_failed(libc::ENOSYS) };
    // Where the old range stays, the kernel does all that is to be done.
    let stays = flags & libc::MREMAP_DONTUNMAP != 0;
    let Some((memory, inside)) = from.filter(|_| !stays && old_bytes != 0) else {
        // SAFETY: this passes on the caller's arguments.
        return unsafe { next(old, old_bytes, new_bytes, flags, new) };
    };
    let (run, fixed) = (inside.run(), flags & libc::MREMAP_FIXED != 0);
    let new_size = new_bytes.next_multiple_of(PAGE_BYTES);
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
        let code = errno::current();
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
