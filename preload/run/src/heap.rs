//! Memory for the locks' queue nodes.
//!
//! The memory cannot come from `malloc`. The program may have its own `malloc`, which may lock
//! mutexes, and would then call this library while this library calls it. The memory should not
//! come from the system either: a mutex has to work when no memory is left, and in a sandbox that
//! forbids every system call. So there is a reserve, which is used first. The reserve takes address
//! space, but no memory before it is used. Only programs whose threads hold some thousand mutexes
//! at once use up the reserve.
//!
//! There are blocks of a few sizes. Each size has a lock-free [stack of free blocks](FreeBlocks).
//! Memory is not returned to the system. It is bounded by the largest number of nodes that were in
//! use at one time.

use core::alloc::{GlobalAlloc, Layout};
use core::mem::MaybeUninit;
use core::ptr;

use kilocore_locks::{BLOCK_ALIGN, FreeBlocks};
use kilocore_preload_common::Reserve;

use crate::host::Host;

/// The size of the smallest block: a cache line, which is the smallest size of a node.
const SMALLEST: usize = BLOCK_ALIGN;

/// The number of block sizes: 64 B to 16 KiB in powers of two, which is more than any lock needs.
/// Anything larger gets a mapping of its own.
const SIZES: usize = 9;

/// The number of bytes that are taken from the reserve, or mapped, at a time.
const CHUNK: usize = 64 * 1024;

/// The alignment of chunks and of mappings, and the largest alignment that can be allocated.
const PAGE: usize = 4096;

/// The number of bytes in the reserve.
const RESERVE: usize = 32 * CHUNK;

/// An allocator whose memory does not come from the program's allocator.
pub(crate) struct Heap {
    free: [FreeBlocks<Host>; SIZES],
    reserve: Reserve<RESERVE>,
}

impl Heap {
    pub(crate) const fn new() -> Self {
        // SAFETY: natively, an empty stack consists of zeros.
        let free = unsafe { MaybeUninit::zeroed().assume_init() };
        Self { free, reserve: Reserve::new() }
    }

    /// Returns the class of blocks that are large enough for `layout`, and the size of these
    /// blocks.
    fn class(layout: Layout) -> (usize, usize) {
        let size = layout.size().max(layout.align()).max(SMALLEST).next_power_of_two();
        ((size / SMALLEST).trailing_zeros() as usize, size)
    }

    /// Takes a chunk, returns its first block, and puts the others on the stack of free blocks.
    /// Returns null if there is no memory.
    #[cold]
    fn refill(&self, class: usize, size: usize) -> *mut u8 {
        let chunk = self.chunk();
        if chunk.is_null() {
            return chunk;
        }
        // They are pushed from the last to the first, so that they are used in order.
        for block in (1..CHUNK / size).rev() {
            // SAFETY: the block lies within the new chunk, which is never given back. It is aligned
            // to its size or to a page, because the chunk is aligned to a page.
            unsafe { self.free[class].push(chunk.add(block * size).cast()) };
        }
        chunk
    }

    /// Returns a new chunk of zeros, or null.
    fn chunk(&self) -> *mut u8 {
        let chunk = Layout::from_size_align(CHUNK, PAGE).ok();
        chunk.and_then(|chunk| self.reserve.cut(chunk)).unwrap_or_else(|| map(CHUNK))
    }
}

/// Returns new pages of zeros, or null.
fn map(size: usize) -> *mut u8 {
    kilocore_preload_common::errno::preserved(|| {
        // SAFETY: this makes a new private mapping at an address that the kernel chooses.
        let pages = unsafe {
            libc::mmap(
                ptr::null_mut(),
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if pages == libc::MAP_FAILED { ptr::null_mut() } else { pages.cast() }
    })
}

// SAFETY: the size of a block is a power of two and no smaller than the requested size and
// alignment. A block is aligned to its size or, if that is more than a page, to a page. It belongs
// to one caller between alloc and dealloc.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() > PAGE {
            return ptr::null_mut(); // nothing here asks for that
        }
        let (class, size) = Self::class(layout);
        let Some(free) = self.free.get(class) else {
            return map(size);
        };
        let block = free.pop();
        if block.is_null() { self.refill(class, size) } else { block.cast() }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let (class, size) = Self::class(layout);
        match self.free.get(class) {
            // SAFETY: the block belongs to this class, and its user has finished with it.
            Some(free) => unsafe { free.push(block.cast()) },
            None => kilocore_preload_common::errno::preserved(|| {
                // SAFETY: `alloc` has mapped the block with this size, and it is no longer used.
                unsafe { libc::munmap(block.cast(), size) };
            }),
        }
    }
}
