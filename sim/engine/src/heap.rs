//! Memory for what is simulated, that lies the same way every time.
//!
//! Which words share a line must not depend on where an allocator puts objects. A host's allocator
//! decides that by its version and by everything that the process did before, such as other
//! simulations or a progress bar. So each simulation has a region of address space to itself. The
//! thread that set the simulation up allocates there until the simulation has run. What it allocates
//! there may live longer and may be freed anywhere. The region is used again once all of it is gone.
//!
//! # Which words share a line
//! * **Each allocation begins with a line and shares none**, so that its type alone decides which of
//!   its words share one. Lines go in pairs here, as they do for [`Padded`].
//! * **An allocation gets the lines that were freed last** by one of about its size, or else new ones.
//!   So memory that goes to and fro stays in the caches, as it does with allocators that programs use.
//!   A block that is allocated and freed in between, which a compiler may leave out, changes nothing.
//!
//! Regions are reserved once and never given back. They are a lot larger than needed, and the host
//! backs them as they are touched.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::Cell;
use core::marker::PhantomData;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::alloc::System;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use kilocore_platform::Padded;

/// Bytes of a region. A simulation that needs more gets the rest from the host's allocator.
const REGION_BYTES: usize = 1 << 32;
/// Simulations whose memory is in use at the same time. Those beyond use the host's allocator.
const REGIONS: usize = 256;
/// Bytes of a region that stay with the process when it is used again.
const KEPT_BYTES: usize = 1 << 26;
/// Simulations that a thread can have set up at the same time.
const NESTED: usize = 4;

/// A program's allocator, with which its simulations print the same bytes every time.
///
/// Without it, simulations of code that allocates while it runs differ a little from one run to the
/// next, as words come to share lines or not. Outside simulations it is the system's allocator.
///
/// ```
/// #[global_allocator]
/// static HEAP: kilocore_sim::SimHeap = kilocore_sim::SimHeap;
/// # fn main() {}
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct SimHeap;

/// Whether [`SimHeap`] is the program's allocator. Relaxed: only its own thread relies on it.
static IN_USE: AtomicBool = AtomicBool::new(false);

/// Where the regions begin, once they are reserved. `None` if the host did not allow it.
static BASE: OnceLock<Option<usize>> = OnceLock::new();

/// All regions. They are a static and their memory is never unmapped, so that both are there for as
/// long as the process lives.
static ALL: [Region; REGIONS] = [const { Region(Mutex::new(State::NEW)) }; REGIONS];

thread_local! {
    /// The regions that were opened on this thread, the latest last.
    static OPEN: Cell<([u16; NESTED], usize)> = const { Cell::new(([0; NESTED], 0)) };
}

struct Region(Mutex<State>);

/// What each block is a multiple of, in bytes.
const UNIT: usize = align_of::<Padded<u8>>();
/// Lists of free blocks by size, with four sizes for each doubling.
const SIZES: usize = 4 * (REGION_BYTES / UNIT).ilog2() as usize;
/// Lists of free blocks of more than a unit's alignment. Their sizes are powers of two, to which they
/// are aligned.
const POWERS: usize = REGION_BYTES.ilog2() as usize;

/// A free block, and the one of its list that was freed before.
struct Free(*mut Free);

/// Which list a block belongs to, how large it is and how it is aligned.
struct Class {
    list: usize,
    bytes: usize,
    align: usize,
}

impl Class {
    /// The class of blocks for a layout. `None` if it is larger than a region.
    #[inline]
    fn of(layout: Layout) -> Option<Self> {
        if layout.size().max(layout.align()) > REGION_BYTES / 2 {
            return None;
        }
        if layout.align() > UNIT {
            let bytes = layout.size().max(layout.align()).next_power_of_two();
            return Some(Self { list: SIZES + bytes.ilog2() as usize, bytes, align: bytes });
        }
        let last = layout.size().saturating_sub(1) / UNIT;
        let shift = last.max(4).ilog2() - 2;
        let step = last >> shift;
        let bytes = ((step + 1) << shift) * UNIT;
        Some(Self { list: 4 * shift as usize + step, bytes, align: UNIT })
    }
}

struct State {
    /// The end of what has been allocated so far, and that of the region.
    next: usize,
    end: usize,
    /// The block of each list that was freed last.
    free: [*mut Free; SIZES + POWERS],
    /// Allocated and not freed.
    live: usize,
    open: bool,
}

// SAFETY: the free blocks are nobody else's.
unsafe impl Send for State {}

impl State {
    const NEW: Self =
        Self { next: 0, end: 0, free: [ptr::null_mut(); SIZES + POWERS], live: 0, open: false };

    fn allocate(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        let Class { list, bytes, align } = Class::of(layout)?;
        let block = match NonNull::new(self.free[list]) {
            Some(block) => {
                // SAFETY: a free block, which lies in the region and begins with the one before.
                self.free[list] = unsafe { block.read() }.0;
                block.cast()
            }
            None => {
                let start = self.next.next_multiple_of(align);
                let end = start.checked_add(bytes).filter(|&end| end <= self.end)?;
                self.next = end;
                NonNull::new(ptr::with_exposed_provenance_mut(start))?
            }
        };
        self.live += 1;
        Some(block)
    }

    /// # Safety
    /// As for [`Region::free`].
    unsafe fn free(&mut self, block: NonNull<u8>, layout: Layout) {
        let Some(Class { list, .. }) = Class::of(layout) else { return };
        let block = block.cast::<Free>();
        // SAFETY: each block has room for this, is aligned for it, and is the caller's.
        unsafe { block.write(Free(self.free[list])) };
        self.free[list] = block.as_ptr();
        self.live -= 1;
    }
}

impl Region {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it holds the lock, short of a broken heap.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn allocate(&self, layout: Layout) -> Option<NonNull<u8>> {
        self.state().allocate(layout)
    }

    /// # Safety
    /// The block is of this region, was allocated with this layout, and is not used any more.
    unsafe fn free(&self, block: NonNull<u8>, layout: Layout) {
        // SAFETY: by the caller's promise.
        unsafe { self.state().free(block, layout) };
    }

    /// Makes a block larger or smaller. Returns `None` if there is no room.
    ///
    /// # Safety
    /// The block is of this region and was allocated with the layout `from`. `to` has the same
    /// alignment.
    unsafe fn resize(&self, block: NonNull<u8>, from: Layout, to: Layout) -> Option<NonNull<u8>> {
        if Class::of(from)?.list == Class::of(to)?.list {
            return Some(block);
        }
        let mut state = self.state();
        let moved = state.allocate(to)?;
        // SAFETY: both blocks are at least as large, and the new one is nobody else's. By the caller's
        // promise the old one is of this region, and it is not used any more.
        unsafe {
            moved.copy_from_nonoverlapping(block, from.size().min(to.size()));
            state.free(block, from);
        }
        Some(moved)
    }
}

/// A region in use by the thread that has it.
#[derive(Debug)]
pub(crate) struct OpenHeap {
    region: u16,
    /// It is to be dropped on the thread that opened it.
    _thread: PhantomData<*const ()>,
}

impl OpenHeap {
    /// Takes a region for what this thread allocates from now on. Returns `None` if the program has
    /// another allocator or no region is left.
    pub(crate) fn new() -> Option<Self> {
        let (mut regions, depth) = OPEN.get();
        if !IN_USE.load(Ordering::Relaxed) || depth == NESTED {
            return None;
        }
        let base = (*BASE.get_or_init(reserve))?;
        let region = ALL.iter().enumerate().position(|(index, region)| {
            let Ok(mut state) = region.0.try_lock() else { return false };
            let free = !state.open && state.live == 0;
            if free {
                begin(&mut state, base + index * REGION_BYTES);
            }
            free
        })?;
        let region = region as u16;
        regions[depth] = region;
        OPEN.set((regions, depth + 1));
        Some(Self { region, _thread: PhantomData })
    }
}

impl Drop for OpenHeap {
    fn drop(&mut self) {
        let (mut regions, depth) = OPEN.get();
        if let Some(at) = regions[..depth].iter().position(|&open| open == self.region) {
            regions.copy_within(at + 1..depth, at);
            OPEN.set((regions, depth - 1));
        }
        ALL[usize::from(self.region)].state().open = false;
    }
}

/// Makes a region empty.
fn begin(state: &mut State, start: usize) {
    let kept = start + KEPT_BYTES;
    // SAFETY: the pages are of a region that nobody uses.
    unsafe {
        libc::madvise(
            ptr::with_exposed_provenance_mut(kept),
            REGION_BYTES - KEPT_BYTES,
            libc::MADV_DONTNEED,
        );
    }
    *state =
        State { next: start + displacement(), end: start + REGION_BYTES, open: true, ..State::NEW };
}

/// By how many bytes simulated memory is displaced.
static DISPLACEMENT: AtomicUsize = AtomicUsize::new(0);

/// Displaces the heap and the stack frames of the simulations that are set up from now on by so many
/// bytes, at most a page, in the whole program. It is for tests that this changes no figure.
///
/// # Panics
/// If it is more than a page.
pub fn displace_memory(bytes: usize) {
    assert!(bytes <= 4096, "displaced by {bytes} bytes: choose at most 4096");
    DISPLACEMENT.store(bytes, Ordering::Relaxed);
}

/// By how many bytes what is set up now is displaced.
pub(crate) fn displacement() -> usize {
    DISPLACEMENT.load(Ordering::Relaxed)
}

/// Reserves the regions and returns where they begin.
fn reserve() -> Option<usize> {
    // SAFETY: a new mapping, which touches nothing that is there.
    let mapped = unsafe {
        libc::mmap(
            ptr::null_mut(),
            REGION_BYTES * (REGIONS + 1),
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    let mapped = (mapped != libc::MAP_FAILED).then_some(mapped)?;
    Some(mapped.expose_provenance().next_multiple_of(REGION_BYTES))
}

/// The region of an address, if the address is in one.
#[inline]
fn region_of(address: usize) -> Option<&'static Region> {
    let base = (*BASE.get()?)?;
    ALL.get(address.wrapping_sub(base) / REGION_BYTES)
}

/// A block of the region that this thread allocates in, if it does in one that has room.
#[inline]
fn in_region(layout: Layout) -> Option<NonNull<u8>> {
    // While a thread ends there is no simulation either.
    let (regions, depth) = OPEN.try_with(Cell::get).ok()?;
    let latest = depth.checked_sub(1)?;
    ALL[usize::from(regions[latest])].allocate(layout)
}

// SAFETY: each block comes from a region, where no other block overlaps it, or from the system, and
// goes back to where its address says that it came from. Locks and thread
// locals here do not allocate, and nothing unwinds.
unsafe impl GlobalAlloc for SimHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if let Some(block) = in_region(layout) {
            return block.as_ptr();
        }
        if !IN_USE.load(Ordering::Relaxed) {
            IN_USE.store(true, Ordering::Relaxed);
        }
        // SAFETY: by the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if let Some(block) = in_region(layout) {
            // SAFETY: the block is as large and nobody else's.
            unsafe { block.write_bytes(0, layout.size()) };
            return block.as_ptr();
        }
        // SAFETY: by the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        match region_of(block.addr()) {
            // SAFETY: by the caller's promise; the address says that it came from there.
            Some(region) => unsafe {
                region.free(NonNull::new_unchecked(block), layout);
            },
            // SAFETY: by the caller's promise.
            None => unsafe { System.dealloc(block, layout) },
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Some(region) = region_of(block.addr()) else {
            // SAFETY: by the caller's promise.
            return unsafe { System.realloc(block, layout, size) };
        };
        // SAFETY: by the caller's promise, as is the rest.
        unsafe {
            let wanted = Layout::from_size_align_unchecked(size, layout.align());
            if let Some(moved) = region.resize(NonNull::new_unchecked(block), layout, wanted) {
                return moved.as_ptr();
            }
            let moved = self.alloc(wanted);
            if !moved.is_null() {
                moved.copy_from_nonoverlapping(block, layout.size().min(size));
                self.dealloc(block, layout);
            }
            moved
        }
    }
}
