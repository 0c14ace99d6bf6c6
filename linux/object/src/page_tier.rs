// SPDX-License-Identifier: GPL-2.0
//! Lists of free pages that are presumably in a last-level cache, for one zone and migrate type of the
//! kernel's.
//!
//! `mm/page_tier.c` declares the functions and says who calls what. A frame is a page's number less that of
//! the first one of its zone.

use core::ptr::NonNull;

use kilocore_pages::{
    CORES_PER_STRIPE, Contents, Decayed, Entry, FrameId, Level, MOST_FRAMES, Order, Shared, Tier,
};
use kilocore_platform::CpuId;

use crate::kernel::{Kernel, bug};

/// `struct page_tier` of the kernel: what the lists of a zone are together. It is only referred to.
#[repr(C)]
pub struct Zone {
    opaque: [u8; 0],
}

/// `struct page_lot` of the kernel: pages that come from or go to a list of a processor's.
#[repr(C)]
pub struct Lot {
    opaque: [u8; 0],
}

/// `struct page` of the kernel.
#[repr(C)]
struct Page {
    opaque: [u8; 0],
}

unsafe extern "C" {
    /// Takes the oldest page off the processor's list, which has one.
    fn kilocore_page_next(lot: *mut Lot) -> u32;
    /// Puts a page onto the processor's list, behind those that were put there before.
    fn kilocore_page_got(lot: *mut Lot, frame: u32);
    /// Puts a page in front of a chain, and returns it.
    fn kilocore_page_chain(zone: NonNull<Zone>, frame: u32, next: *mut Page) -> *mut Page;
    /// Gives a chain of so many pages to the buddy lists, with their lock taken once.
    fn kilocore_pages_give_back(zone: NonNull<Zone>, chain: *mut Page, pages: u32);
}

/// The buddy lists of a zone. They only take: who needs pages that the lists above do not have goes there
/// in the kernel's own way.
pub struct Buddy {
    zone: NonNull<Zone>,
}

// SAFETY: the kernel's functions may be called by any thread.
unsafe impl Send for Buddy {}
// SAFETY: as above.
unsafe impl Sync for Buddy {}

// SAFETY: it gives no frame out.
unsafe impl Level for Buddy {
    fn frames(&self) -> u32 {
        MOST_FRAMES
    }
    fn take(&self, _: CpuId, _: u32, _: impl FnMut(Entry)) -> (u32, Tier) {
        (0, Tier::Cold)
    }
    unsafe fn put(&self, _: CpuId, count: u32, entries: impl Iterator<Item = Entry>) {
        let (mut chain, mut pages) = (core::ptr::null_mut(), 0);
        for entry in entries.take(count as usize) {
            // SAFETY: the page is the caller's, which is free and on no list, and so is the chain.
            chain = unsafe { kilocore_page_chain(self.zone, entry.frame().0, chain) };
            pages += 1;
        }
        if pages > 0 {
            // SAFETY: as above.
            unsafe { kilocore_pages_give_back(self.zone, chain, pages) };
        }
    }
    fn take_run(&self, _: CpuId, _: Order, _: &mut dyn FnMut(Entry)) -> Option<FrameId> {
        None
    }
    unsafe fn put_run(&self, _: CpuId, _: FrameId, _: Order, _: Contents) {
        // Nobody puts runs into lists of single pages.
        bug()
    }
    unsafe fn put_back(&self, _: CpuId, _: FrameId, _: Order) {
        bug()
    }
    fn drain(&self, _: CpuId) {}
    fn decay(&self, _: &mut dyn FnMut(FrameId, u32)) -> Decayed {
        Decayed::default()
    }
    fn counts(&self) -> (u32, u32) {
        (0, 0)
    }
    fn validate(&mut self, _: &mut dyn FnMut(Entry)) {}
}

/// `struct page_lists` of the kernel.
type Lists = Shared<Kernel, Buddy>;

// What the C source states.
const _: () = assert!(size_of::<Lists>() == 64 && align_of::<Lists>() == 8);
const _: () = assert!(MOST_FRAMES == (1 << 31) - 1);

/// Makes lists for the pages of a zone. `caches` says for each of `cpus` processors which last-level cache
/// it is below, or [`NO_CACHE`](kilocore_pages::NO_CACHE), `PAGE_TIER_NO_CACHE` of C. Each cache has room for `room`
/// pages. Returns false if there is no memory for them.
///
/// # Safety
/// `lists` is memory for them, `caches` points to as many numbers, and `zone` lives as long as the lists.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kilocore_pages_make(
    lists: *mut Lists,
    zone: NonNull<Zone>,
    caches: *const u32,
    cpus: u32,
    room: u32,
) -> bool {
    // SAFETY: by the caller's promise.
    let caches = unsafe { core::slice::from_raw_parts(caches, cpus as usize) };
    match Shared::try_new(caches, room, CORES_PER_STRIPE, Buddy { zone }) {
        Ok(made) => {
            // SAFETY: by the caller's promise.
            unsafe { lists.write(made) };
            true
        }
        Err(_) => false,
    }
}

/// Frees what lists have allocated. Pages that are still there are lost.
///
/// # Safety
/// The lists were made, nobody uses them, and nobody will.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kilocore_pages_unmake(lists: *mut Lists) {
    // SAFETY: by the caller's promise.
    unsafe { lists.drop_in_place() };
}

/// Moves `pages` of a processor's list, the oldest, onto a list of its cache. Returns false, and has moved
/// none, if others hold all of these.
///
/// # Safety
/// The lot has so many pages, which are free, of this zone, and the caller's. Their frames are below
/// `MOST_FRAMES`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kilocore_pages_put(
    lists: &Lists,
    cpu: u32,
    pages: u32,
    lot: *mut Lot,
) -> bool {
    // SAFETY: the lot has `pages` pages, and no more are taken from it.
    let frames = (0..pages).map(|_| FrameId(unsafe { kilocore_page_next(lot) }));
    let entries = frames.map(|frame| Entry::new(frame, Contents::Unknown));
    // SAFETY: by the caller's promise.
    unsafe { lists.put_near(CpuId(cpu), pages, entries) }
}

/// Moves up to `most` pages from a list of the processor's cache onto its own, the newest first. Returns
/// how many, or -1 if others hold each list that has any.
///
/// # Safety
/// The lot is the caller's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kilocore_pages_take(
    lists: &Lists,
    cpu: u32,
    most: u32,
    lot: *mut Lot,
) -> i32 {
    // SAFETY: the frame is now the caller's, whose lot it is.
    let got = |entry: Entry| unsafe { kilocore_page_got(lot, entry.frame().0) };
    lists.take_near(CpuId(cpu), most, got).map_or(-1, |pages| pages as i32)
}

/// Gives all pages back, and returns how many. Waits for who holds a list.
///
/// The caller is not in an interrupt: it may have interrupted a holder.
#[unsafe(no_mangle)]
pub extern "C" fn kilocore_pages_drain(lists: &Lists, cpu: u32) -> u32 {
    lists.drain_all(CpuId(cpu))
}

/// Returns how many pages the lists have, as it was at some moment.
#[unsafe(no_mangle)]
pub extern "C" fn kilocore_pages_inside(lists: &Lists) -> u32 {
    lists.counts().0
}
