// SPDX-License-Identifier: GPL-2.0
//! Stripes of the page cache's lists: which one a folio is of, and from which one reclaim takes.
//!
//! `mm/finer_lru.c` declares the functions and says who calls what. A frame is a page frame's number, of
//! which the lowest 32 bits are enough: stripes only have to be the same for the same frame.

use kilocore_lru::{FrameId, Index, Layout, Turns};

use crate::kernel::Kernel;

/// Frames of 2 MiB are of one stripe, as no folio on a list is larger: what a folio is split into stays
/// where its head was. Indices are hashed, so that groups which a program has at regular distances spread.
const GROUP_BITS: u32 = 9;

/// `struct mem_cgroup_per_node` of the kernel: it has the lists of a memory group on a node. It is only
/// referred to.
#[repr(C)]
pub struct Lists {
    opaque: [u8; 0],
}

unsafe extern "C" {
    /// Whether a list of a stripe seems to have a folio. It takes no lock.
    fn kilocore_lru_has(lists: *const Lists, stripe: u32, list: u32) -> bool;
}

// What the C source states.
const _: () = assert!(size_of::<Turns<Kernel>>() == 4 && align_of::<Turns<Kernel>>() == 4);

/// Returns the stripe of a frame, of so many stripes.
#[unsafe(no_mangle)]
pub extern "C" fn kilocore_lru_stripe(frame: u32, stripes: u32) -> u32 {
    let layout = Layout { index: Index::Hashed, group_bits: GROUP_BITS, ..Layout::finer(stripes) };
    layout.stripe(FrameId(frame))
}

/// Returns the stripe whose turn it is to give up folios of a list, of those that have any, or -1 if none
/// seems to have one.
///
/// # Safety
/// The lists have so many stripes, which is at least one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kilocore_lru_turn(
    turns: &Turns<Kernel>,
    stripes: u32,
    lists: *const Lists,
    list: u32,
) -> i32 {
    // SAFETY: by the caller's promise.
    let has_any = |stripe| unsafe { kilocore_lru_has(lists, stripe, list) };
    turns.next_that(stripes, has_any).map_or(-1, |stripe| stripe as i32)
}
