//! Memory for the locks' queue nodes.
//!
//! It cannot come from `malloc`: that may be the program's own, may lock mutexes, and so may call
//! this library while this library calls it. Nor should it need the system: a mutex works when no
//! memory is left and where a sandbox forbids every system call. So there is a reserve, which is
//! used up first; it takes address space and, until it is used, no memory. Only programs whose
//! threads hold some thousand mutexes at once get beyond it.
//!
//! Blocks come in a few sizes, each with a [stack of free ones](FreeBlocks) that takes no locks.
//! Memory is never given back to the system; it is bounded by the most nodes that were in use at
//! once.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering};

use kilocore_locks::{BLOCK_ALIGN, FreeBlocks};

use crate::host::Host;

/// The smallest block: a cache line, the least that a node asks for.
const SMALLEST: usize = BLOCK_ALIGN;

/// Block sizes: 64 B to 16 KiB in powers of two, which is more than any lock grows to. What is larger
/// is mapped by itself.
const SIZES: usize = 9;

/// How much is taken from the reserve or mapped at a time.
const CHUNK: usize = 64 * 1024;

/// What everything here is aligned to that is not smaller.
const PAGE: usize = 4096;

/// Bytes in the reserve.
const RESERVE: usize = 32 * CHUNK;

#[repr(C, align(4096))] // [`PAGE`]
struct Reserve(UnsafeCell<MaybeUninit<[u8; RESERVE]>>);

// SAFETY: only its address is used; chunks of it are dealt out once each.
unsafe impl Sync for Reserve {}

static RESERVED: Reserve = Reserve(UnsafeCell::new(MaybeUninit::zeroed()));

/// An allocator whose memory does not come from the program's.
pub(crate) struct Heap {
    free: [FreeBlocks<Host>; SIZES],
    /// Bytes of the reserve that are dealt out, or more.
    dealt: AtomicUsize,
}

impl Heap {
    pub(crate) const fn new() -> Self {
        // SAFETY: natively an empty stack is all zero.
        let free = unsafe { MaybeUninit::zeroed().assume_init() };
        Self { free, dealt: AtomicUsize::new(0) }
    }

    /// The class whose blocks hold `layout`, and the size of its blocks.
    fn class(layout: Layout) -> (usize, usize) {
        let size = layout.size().max(layout.align()).max(SMALLEST).next_power_of_two();
        ((size / SMALLEST).trailing_zeros() as usize, size)
    }

    /// Takes a chunk, keeps its first block for the caller and frees the others.
    #[cold]
    fn refill(&self, class: usize, size: usize) -> *mut u8 {
        let chunk = self.chunk();
        if chunk.is_null() {
            return chunk;
        }
        // From the last to the first, so that they are used in order.
        for block in (1..CHUNK / size).rev() {
            // SAFETY: within the new chunk, aligned to its size or to a page, as the chunk is,
            // and never given back.
            unsafe { self.free[class].push(chunk.add(block * size).cast()) };
        }
        chunk
    }

    /// Fresh zeroed memory, or null.
    fn chunk(&self) -> *mut u8 {
        // Looked at first, so that the sum cannot run over.
        if self.dealt.load(Ordering::Relaxed) < RESERVE {
            let at = self.dealt.fetch_add(CHUNK, Ordering::Relaxed);
            if at < RESERVE {
                // SAFETY: within the reserve, of which nobody else gets this part.
                return unsafe { RESERVED.0.get().cast::<u8>().add(at) };
            }
        }
        map(CHUNK)
    }
}

/// Fresh zeroed pages, or null.
fn map(size: usize) -> *mut u8 {
    kilocore_preload_common::errno::preserved(|| {
        // SAFETY: a new private mapping at an address of the kernel's choice.
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

// SAFETY: blocks are aligned to a page, or to their size if that is less, which is a power of two no
// smaller than what was asked for, and belong to one caller between alloc and dealloc.
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
            // SAFETY: a block of this class, which its user has done with.
            Some(free) => unsafe { free.push(block.cast()) },
            None => kilocore_preload_common::errno::preserved(|| {
                // SAFETY: mapped by `alloc` with this size and no longer used.
                unsafe { libc::munmap(block.cast(), size) };
            }),
        }
    }
}
