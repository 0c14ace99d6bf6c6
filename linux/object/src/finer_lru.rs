// SPDX-License-Identifier: GPL-2.0
//! Stripes of the page cache's lists: which one a folio is of, and from which one reclaim takes.
//!
//! `mm/finer_lru.c` declares the functions and says who calls what. A frame is a page frame's number, of
//! which the lowest 32 bits are enough: stripes only have to be the same for the same frame.

use kilocore_lru::{FrameId, Index, Layout, Round, Turns};

use crate::kernel::Kernel;

/// Frames of 2 MiB are of one stripe, as no folio on a list is larger: what a folio is split into stays
/// where its head was. Indices are hashed, so that groups which a program has at regular distances spread.
const GROUP_BITS: u32 = 9;

// What the C source states.
const _: () = assert!(size_of::<Turns<Kernel>>() == 4 && align_of::<Turns<Kernel>>() == 4);
const _: () = assert!(size_of::<Round>() == 8 && align_of::<Round>() == 4);

/// Returns the stripe of a frame, of so many stripes.
#[unsafe(no_mangle)]
pub extern "C" fn kilocore_lru_stripe(frame: u32, stripes: u32) -> u32 {
    let layout = Layout { index: Index::Hashed, group_bits: GROUP_BITS, ..Layout::finer(stripes) };
    layout.stripe(FrameId(frame))
}

/// Returns the next stripe of a round, of so many, which are at least one; or -1 if the round has been at each.
#[unsafe(no_mangle)]
pub extern "C" fn kilocore_lru_next(turns: &Turns<Kernel>, round: &mut Round, stripes: u32) -> i32 {
    turns.next_in(round, stripes).map_or(-1, |stripe| stripe as i32)
}

/// The stripe that had its turn last has the next one, too.
#[unsafe(no_mangle)]
pub extern "C" fn kilocore_lru_repeat(turns: &Turns<Kernel>) {
    turns.repeat();
}
