//! Memory for what is simulated, that lies the same way every time.
//!
//! Which words share a line depends on where the host's allocator put them. That depends on the
//! allocator's version and on everything that the process did before, such as other simulations or a
//! progress bar. So each simulation has a region of address space to itself, with an allocator that
//! begins afresh. The thread that set the simulation up allocates there until the simulation has
//! run. What it allocates there may live longer and may be freed anywhere. The region is used again
//! once all of it is gone.
//!
//! Regions are reserved once and never given back. They are a lot larger than needed, and the host
//! backs them as they are touched. The allocator in a region is that of the crate `rlsf`.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::Cell;
use core::marker::PhantomData;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicBool, Ordering};
use std::alloc::System;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use rlsf::Tlsf;

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

struct State {
    blocks: Tlsf<'static, u32, u32, 28, 32>,
    /// Allocated and not freed.
    live: usize,
    open: bool,
}

impl State {
    const NEW: Self = Self { blocks: Tlsf::new(), live: 0, open: false };
}

impl Region {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it holds the lock, short of a broken heap.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn allocate(&self, layout: Layout) -> Option<NonNull<u8>> {
        let mut state = self.state();
        let block = state.blocks.allocate(layout)?;
        state.live += 1;
        Some(block)
    }

    /// # Safety
    /// The block is of this region, was allocated with this alignment, and is not used any more.
    unsafe fn free(&self, block: NonNull<u8>, align: usize) {
        let mut state = self.state();
        // SAFETY: by the caller's promise.
        unsafe { state.blocks.deallocate(block, align) };
        state.live -= 1;
    }

    /// # Safety
    /// The block is of this region and was allocated with the alignment of `layout`.
    unsafe fn resize(&self, block: NonNull<u8>, layout: Layout) -> Option<NonNull<u8>> {
        // SAFETY: by the caller's promise.
        unsafe { self.state().blocks.reallocate(block, layout) }
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
    *state = State { open: true, ..State::NEW };
    let whole =
        ptr::slice_from_raw_parts_mut(ptr::with_exposed_provenance_mut::<u8>(start), REGION_BYTES);
    // SAFETY: the region was reserved for good, and nothing that was allocated in it is left.
    unsafe { state.blocks.insert_free_block_ptr(NonNull::new_unchecked(whole)) };
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

// SAFETY: each block comes from `rlsf` in a region of its own or from the system, both of which
// keep the contract, and goes back to where its address says that it came from. Locks and thread
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
                region.free(NonNull::new_unchecked(block), layout.align());
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
            if let Some(moved) = region.resize(NonNull::new_unchecked(block), wanted) {
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
