//! The functions that alter a mapping or ask about one.
//!
//! Each works as in the kernel. If it changes how pages are mapped, it is noted that the program has
//! altered them, so that they get a new mapping before anybody else does. If the program does not hold
//! all the pages, the answer is that of the kernel for what is not mapped.

use core::ffi::{c_int, c_long, c_ulong, c_void};

use crate::make::{owned, touched};
use crate::{failure, make, next, placing};

/// What a call does to pages of the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// It changes their mapping.
    Alters,
    /// It does not, or in no way that lasts.
    Leaves,
}

/// Notes what a call is about to do to a range. Returns whether the program holds all of it that is of the
/// pool.
#[inline]
fn may(address: *mut c_void, bytes: usize, effect: Effect) -> bool {
    let Some((memory, run)) = touched(address, bytes) else { return true };
    match effect {
        Effect::Alters => memory.alter(run),
        Effect::Leaves => memory.is_held(run),
    }
}

/// Says what a piece of advice does. Memory that is given back, or is to be, is the pool's own business as
/// well, and harms nothing: what was zero stays so. All else stays with the mapping.
fn effect_of(advice: c_int) -> Effect {
    match advice {
        libc::MADV_WILLNEED
        | libc::MADV_DONTNEED
        | libc::MADV_FREE
        | libc::MADV_COLD
        | libc::MADV_PAGEOUT
        | libc::MADV_POPULATE_READ
        | libc::MADV_POPULATE_WRITE => Effect::Leaves,
        _ => Effect::Alters,
    }
}

/// Calls the displaced function.
macro_rules! pass {
    ($name:ident($($argument:expr),*)) => {{
        let Some(next) = next::$name() else { return failure::minus_one(libc::ENOSYS) };
        // SAFETY: this passes on the caller's arguments.
        unsafe { next($($argument),*) }
    }};
}

/// Protects memory.
///
/// # Safety
/// The contract is that of the POSIX function.
#[unsafe(no_mangle)]
unsafe extern "C" fn mprotect(address: *mut c_void, bytes: usize, protection: c_int) -> c_int {
    let usual = protection == libc::PROT_READ | libc::PROT_WRITE;
    if !may(address, bytes, if usual { Effect::Leaves } else { Effect::Alters }) {
        return failure::minus_one(libc::ENOMEM);
    }
    pass!(mprotect(address, bytes, protection))
}

/// Protects memory with a key.
///
/// # Safety
/// The contract is that of the function of Linux.
#[unsafe(no_mangle)]
unsafe extern "C" fn pkey_mprotect(
    address: *mut c_void,
    bytes: usize,
    protection: c_int,
    key: c_int,
) -> c_int {
    if !may(address, bytes, Effect::Alters) {
        return failure::minus_one(libc::ENOMEM);
    }
    pass!(pkey_mprotect(address, bytes, protection, key))
}

/// Gives advice on memory.
///
/// # Safety
/// The contract is that of the function of Linux.
#[unsafe(no_mangle)]
unsafe extern "C" fn madvise(address: *mut c_void, bytes: usize, advice: c_int) -> c_int {
    if !may(address, bytes, effect_of(advice)) {
        // SAFETY: this passes on the caller's arguments.
        unsafe { advise_what_is_there(address, bytes, advice) };
        return failure::minus_one(libc::ENOMEM);
    }
    pass!(madvise(address, bytes, advice))
}

/// Gives advice on those parts of a range that the program has mapped, as the kernel does before it says that
/// there are others.
///
/// # Safety
/// The contract is that of `madvise`.
#[cold]
unsafe fn advise_what_is_there(address: *mut c_void, bytes: usize, advice: c_int) {
    let (Some((memory, inside)), Some(next)) = (owned(address, bytes), next::madvise()) else {
        return;
    };
    let start = address.addr();
    if !placing::is_begin(address) {
        return;
    }
    // SAFETY: the caller's promise, for a part of its range.
    let advise = |from, to| unsafe { next(address.with_addr(from), to - from, advice) };
    for (from, to) in memory.outside(start, bytes, inside) {
        if from < to {
            advise(from, to);
        }
    }
    memory.each_held(inside.run(), |held| {
        if effect_of(advice) == Effect::Leaves || memory.alter(held) {
            advise(memory.address_of(held.first), memory.address_of(held.first + held.pages));
        }
    });
}

/// Gives advice on memory.
///
/// # Safety
/// The contract is that of the POSIX function.
#[unsafe(no_mangle)]
unsafe extern "C" fn posix_madvise(address: *mut c_void, bytes: usize, advice: c_int) -> c_int {
    let effect = match advice {
        libc::POSIX_MADV_WILLNEED | libc::POSIX_MADV_DONTNEED => Effect::Leaves,
        _ => Effect::Alters,
    };
    if !may(address, bytes, effect) {
        return libc::ENOMEM; // this function returns the error
    }
    let Some(next) = next::posix_madvise() else { return libc::ENOSYS };
    // SAFETY: this passes on the caller's arguments.
    unsafe { next(address, bytes, advice) }
}

/// Locks memory.
///
/// # Safety
/// The contract is that of the POSIX function.
#[unsafe(no_mangle)]
unsafe extern "C" fn mlock(address: *const c_void, bytes: usize) -> c_int {
    if !may(address.cast_mut(), bytes, Effect::Alters) {
        return failure::minus_one(libc::ENOMEM);
    }
    pass!(mlock(address, bytes))
}

/// Locks memory.
///
/// # Safety
/// The contract is that of the function of Linux.
#[unsafe(no_mangle)]
unsafe extern "C" fn mlock2(address: *const c_void, bytes: usize, flags: c_int) -> c_int {
    if !may(address.cast_mut(), bytes, Effect::Alters) {
        return failure::minus_one(libc::ENOMEM);
    }
    pass!(mlock2(address, bytes, flags))
}

/// Unlocks memory.
///
/// # Safety
/// The contract is that of the POSIX function.
#[unsafe(no_mangle)]
unsafe extern "C" fn munlock(address: *const c_void, bytes: usize) -> c_int {
    if !may(address.cast_mut(), bytes, Effect::Leaves) {
        return failure::minus_one(libc::ENOMEM);
    }
    pass!(munlock(address, bytes))
}

/// Tells which pages are in memory. Of the pool's, some are that the program has not touched yet.
///
/// # Safety
/// The contract is that of the function of Linux.
#[unsafe(no_mangle)]
unsafe extern "C" fn mincore(address: *mut c_void, bytes: usize, states: *mut u8) -> c_int {
    if !may(address, bytes, Effect::Leaves) {
        return failure::minus_one(libc::ENOMEM);
    }
    pass!(mincore(address, bytes, states))
}

/// Writes mapped files.
///
/// # Safety
/// The contract is that of the POSIX function.
#[unsafe(no_mangle)]
unsafe extern "C" fn msync(address: *mut c_void, bytes: usize, flags: c_int) -> c_int {
    if !may(address, bytes, Effect::Leaves) {
        return failure::minus_one(libc::ENOMEM);
    }
    pass!(msync(address, bytes, flags))
}

/// Sets the policy of memory for nodes. The function is `libnuma`'s, which may not be there.
///
/// # Safety
/// The contract is that of the function of Linux.
#[unsafe(no_mangle)]
unsafe extern "C" fn mbind(
    address: *mut c_void,
    bytes: c_ulong,
    mode: c_int,
    nodes: *const c_ulong,
    highest: c_ulong,
    flags: c_int,
) -> c_long {
    if !may(address, bytes as usize, Effect::Alters) {
        return failure::minus_one(libc::EFAULT).into();
    }
    // `libnuma` does nothing else. To look its function up would need the dynamic linker's lock, and most
    // programs do not have it.
    // SAFETY: this passes on the caller's arguments.
    unsafe { libc::syscall(libc::SYS_mbind, address, bytes, mode, nodes, highest, flags) }
}

/// Puts memory into a pipe. Its reader may see the memory after the program has unmapped it, so the pool
/// must not hand the same memory out again: a new mapping has other memory.
///
/// # Safety
/// The contract is that of the function of Linux.
#[unsafe(no_mangle)]
unsafe extern "C" fn vmsplice(
    pipe: c_int,
    pieces: *const libc::iovec,
    count: usize,
    flags: c_int,
) -> isize {
    if make::existing().is_some() && !pieces.is_null() && count <= 1024 {
        // SAFETY: the caller's promise.
        for piece in unsafe { core::slice::from_raw_parts(pieces, count) } {
            may(piece.iov_base, piece.iov_len, Effect::Alters);
        }
    }
    let Some(next) = next::vmsplice() else { return failure::minus_one(libc::ENOSYS) as isize };
    // SAFETY: this passes on the caller's arguments.
    unsafe { next(pipe, pieces, count, flags) }
}
