//! The process's pool, which is made when it is first needed.
//!
//! A program that never asks for much memory never gets a pool. While one thread makes it, others go past
//! it, and so does that thread itself: mapping the pool's memory comes through this library too.

use core::fmt::Write as _;
use core::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

use kilocore_pages::{Backing, PAGE_BYTES, PagePool, PoolError, PoolOptions, TieredOptions};
use kilocore_preload_common::errno;

use crate::bits::Run;
use crate::memory::{Inside, Memory};
use crate::settings::{LARGEST, Settings, complain};
use crate::system;

/// Nobody has asked yet.
const UNMADE: u8 = 0;
/// A thread makes the pool now.
const MAKING: u8 = 1;
/// It is there, or there is to be none.
const DONE: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(UNMADE);
static MEMORY: AtomicPtr<Memory> = AtomicPtr::new(core::ptr::null_mut());

/// Where there is a limit on address space, the pool takes at most this part of it.
const PART_OF_LIMIT: u64 = 4;

/// Returns the pool if there is one.
#[inline]
pub(crate) fn existing() -> Option<&'static Memory> {
    // SAFETY: the pointer is null or that of a pool that is never freed. Acquire: whoever sees the
    // pointer sees the pool.
    unsafe { MEMORY.load(Ordering::Acquire).as_ref() }
}

/// Returns the pool with those of its pages that a range touches, if any.
#[inline]
pub(crate) fn touched(
    address: *mut core::ffi::c_void,
    bytes: usize,
) -> Option<(&'static Memory, Run)> {
    let memory = existing().filter(|memory| !memory.is_retired())?;
    Some((memory, memory.touched_by(address.addr(), bytes)?))
}

/// The same, and says whether that is all of the range.
#[inline]
pub(crate) fn owned(
    address: *mut core::ffi::c_void,
    bytes: usize,
) -> Option<(&'static Memory, Inside)> {
    let memory = existing().filter(|memory| !memory.is_retired())?;
    Some((memory, memory.inside(address.addr(), bytes)?))
}

/// Returns the pool, and makes it if nobody has.
#[inline]
pub(crate) fn memory() -> Option<&'static Memory> {
    existing().or_else(|| {
        // Relaxed: where it is done, `existing` has seen the pool, or will the next time.
        if STATE.load(Ordering::Relaxed) == UNMADE { make() } else { None }
    })
}

#[cold]
fn make() -> Option<&'static Memory> {
    STATE.compare_exchange(UNMADE, MAKING, Ordering::Relaxed, Ordering::Relaxed).ok()?;
    let made = errno::preserved(|| {
        let settings = Settings::read()?;
        Some(Memory::new(pool(&settings)?, (settings.least, settings.most)))
    });
    if let Some(memory) = made {
        let memory = Box::leak(Box::new(memory));
        MEMORY.store(memory, Ordering::Release);
    }
    STATE.store(DONE, Ordering::Relaxed);
    existing()
}

/// Makes no pool from now on, and retires the one that there is.
pub(crate) fn retire() {
    // A thread that makes a pool at this moment is not waited for. It takes part of a limit that was read
    // before.
    let _ = STATE.compare_exchange(UNMADE, DONE, Ordering::Relaxed, Ordering::Relaxed);
    if let Some(memory) = existing() {
        memory.retire();
    }
}

/// Makes a pool as large as the settings say, or as large as there are addresses for.
fn pool(settings: &Settings) -> Option<PagePool> {
    let most = system::address_space().map_or(u64::MAX, |limit| limit / PART_OF_LIMIT);
    let mut bytes = settings.total.min(usize::try_from(most).unwrap_or(usize::MAX));
    while bytes >= LARGEST {
        let options = PoolOptions {
            pages: u32::try_from(bytes / PAGE_BYTES).ok()?,
            tiers: tiers(),
            backing: Backing::Pages,
            node: None,
            guarded: false,
        };
        match PagePool::new(&options) {
            Ok(pool) => return Some(pool),
            Err(PoolError::Map { .. }) => bytes /= 2,
            Err(error) => {
                // A kernel with larger pages, for example.
                complain(|line| write!(line, "{error}"));
                return None;
            }
        }
    }
    None
}

/// Sizes the tiers. Only single pages go through the hot ones. What the processor says of its caches is
/// enough for them: reading all that the system knows of them would take milliseconds, in every program.
fn tiers() -> TieredOptions {
    let frames = |name, least, most| {
        // SAFETY: sysconf only reads.
        let bytes = unsafe { libc::sysconf(name) };
        u32::try_from(bytes / PAGE_BYTES as i64).unwrap_or(0).clamp(least, most)
    };
    TieredOptions::one_cache(
        system::cores(),
        frames(libc::_SC_LEVEL2_CACHE_SIZE, 16, 256),
        frames(libc::_SC_LEVEL3_CACHE_SIZE, 64, 1024),
    )
}
