//! What a pool has done, and what it gives back.

use kilocore_pages::{Decayed, Statistics};

use crate::pages::KcPages;
use crate::pages::single::pool;

/// What giving memory back did; `struct kc_pages_decayed` of the header.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct KcPagesDecayed {
    pages: u32,
    calls: u32,
}

impl From<Decayed> for KcPagesDecayed {
    fn from(decayed: Decayed) -> Self {
        Self { pages: decayed.frames, calls: decayed.calls }
    }
}

/// What a pool has done; `struct kc_pages_statistics` of the header.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct KcPagesStatistics {
    allocated: u64,
    zero: u64,
    released: u64,
    from_private: u64,
    from_shared: u64,
    from_cold: u64,
    spilled: u64,
    private_now: u32,
    shared_now: u32,
    cold_now: u32,
}

impl From<Statistics> for KcPagesStatistics {
    fn from(of: Statistics) -> Self {
        Self {
            allocated: of.allocated,
            zero: of.zero,
            released: of.released,
            from_private: of.from_private(),
            from_shared: of.from_shared,
            from_cold: of.from_cold,
            spilled: of.spilled,
            private_now: of.private_now,
            shared_now: of.shared_now,
            cold_now: of.cold_now,
        }
    }
}

/// Gives the memory of idle pages back.
///
/// # Safety
/// The pool lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_pages_decay(of: *mut KcPages) -> KcPagesDecayed {
    // SAFETY: by the caller's promise.
    unsafe { pool(of) }.decay().into()
}

/// Gives the memory of all free pages back.
///
/// # Safety
/// The pool lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_pages_trim(of: *mut KcPages) -> KcPagesDecayed {
    // SAFETY: by the caller's promise.
    unsafe { pool(of) }.trim().into()
}

/// Stores what the pool has done.
///
/// # Safety
/// The pool lives, and the statistics can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_pages_get_statistics(
    of: *const KcPages,
    statistics: *mut KcPagesStatistics,
) {
    // SAFETY: by the caller's promise.
    unsafe { statistics.write(pool(of).statistics().into()) };
}
