//! Making and destroying a pool.

use core::ffi::c_int;

use kilocore_pages::{BATCH, Backing, PagePool, PoolError, PoolOptions};
use kilocore_platform::NodeId;

use crate::pages::KcPages;

/// The options of a pool; `struct kc_pages_options` of the header.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct KcPagesOptions {
    pages: u32,
    backing: i32,
    node: i32,
    private_pages: u32,
    shared_pages: u32,
    guarded: bool,
}

/// The value of `KC_PAGES_AUTO` in the header.
const AUTO: u32 = u32::MAX;

impl KcPagesOptions {
    fn read(&self) -> Option<PoolOptions> {
        if self.pages == 0 {
            return None;
        }
        let mut options = PoolOptions::new(self.pages);
        options.backing = match self.backing {
            0 => Backing::Pages,
            1 => Backing::Transparent,
            2 => Backing::HugeTlb,
            _ => return None,
        };
        options.node = match self.node {
            -1 => None,
            node => Some(NodeId(u32::try_from(node).ok()?)),
        };
        options.guarded = self.guarded;
        let tiers = &mut options.tiers;
        // A list is not longer than the pool, so that its table stays small whatever is asked for.
        if self.private_pages != AUTO {
            tiers.private_frames = self.private_pages.min(self.pages);
            tiers.batch = BATCH.min(tiers.private_frames.div_ceil(4).max(1));
        }
        if self.shared_pages != AUTO {
            tiers.shared_frames = self.shared_pages.min(self.pages);
        }
        Some(options)
    }
}

/// Makes a pool.
///
/// # Safety
/// Both pointers are those of the header's types; the first can be written, and the second can be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_pages_new(
    pool: *mut *mut KcPages,
    options: *const KcPagesOptions,
) -> c_int {
    // SAFETY: by the caller's promise.
    let Some(options) = unsafe { &*options }.read() else { return -libc::EINVAL };
    match PagePool::new(&options) {
        Ok(made) => {
            // SAFETY: by the caller's promise.
            unsafe { pool.write(Box::into_raw(Box::new(KcPages(made)))) };
            0
        }
        Err(PoolError::TooManyPages { .. }) => -libc::EINVAL,
        Err(PoolError::Map { .. } | PoolError::HugeTlb { .. }) => -libc::ENOMEM,
        Err(PoolError::PageSize { .. } | PoolError::Transparent(_)) => -libc::ENOTSUP,
        Err(PoolError::Node { .. }) => -libc::ENODEV,
        Err(_) => -libc::EIO,
    }
}

/// Gives all memory of a pool back.
///
/// # Safety
/// `pool` came from [`kc_pages_new`], and nobody uses it or any page of it any more. Null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_pages_destroy(pool: *mut KcPages) {
    if !pool.is_null() {
        // SAFETY: by the caller's promise.
        drop(unsafe { Box::from_raw(pool) });
    }
}
