// SPDX-License-Identifier: GPL-2.0
//! Stripes of the page cache's lists: which one a folio is of, and from which one reclaim takes.
//!
//! `mm/finer_lru.c` declares the functions and says who calls what. A frame is a page frame's number, of
//! which the lowest 32 bits are enough: stripes only have to be the same for the same frame.

use kilocore_lru::{FrameId, Index, Layout, Round, Shares};

use crate::kernel::Kernel;

/// Frames of 2 MiB are of one stripe, as no folio on a list is larger: what a folio is split into stays
/// where its head was. Indices are hashed, so that groups which a program has at regular distances spread.
const GROUP_BITS: u32 = 9;

/// `SWAP_CLUSTER_MAX`: what reclaim wants at a time.
const BATCH: u32 = 32;

/// `struct finer_lru_scan` of the kernel.
#[repr(C)]
pub struct Scan([u8; 0]);

unsafe extern "C" {
    /// How many pages of a stripe a scan may take.
    fn kilocore_lru_pages(scan: *const Scan, stripe: u32) -> u32;
}

// What the C source states.
const _: () = assert!(size_of::<Shares<Kernel>>() == 16 && align_of::<Shares<Kernel>>() == 8);
const _: () = assert!(size_of::<Round>() == 4 && align_of::<Round>() == 4);

/// Returns the stripe of a frame, of so many stripes.
#[unsafe(no_mangle)]
pub extern "C" fn kilocore_lru_stripe(frame: u32, stripes: u32) -> u32 {
    let layout = Layout { index: Index::Hashed, group_bits: GROUP_BITS, ..Layout::finer(stripes) };
    layout.stripe(FrameId(frame))
}

/// Returns the stripe, of so many, that is to give up some of the pages that a scan still wants, and sets `gives` to how
/// many. Returns -1 if the scan has been at each. There is at least one stripe, and at least one page is wanted.
///
/// # Safety
/// `scan` is that of `round`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kilocore_lru_next(
    shares: &Shares<Kernel>,
    round: &mut Round,
    stripes: u32,
    wanted: u32,
    scan: *const Scan,
    gives: &mut u32,
) -> i32 {
    // SAFETY: by the caller's promise.
    let pages = |stripe| unsafe { kilocore_lru_pages(scan, stripe) };
    let Some((stripe, pages)) = shares.next(round, stripes, wanted, BATCH, pages) else {
        return -1;
    };
    *gives = pages;
    stripe as i32
}
