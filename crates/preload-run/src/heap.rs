//! Memory for the locks' queue nodes.
//!
//! It cannot come from `malloc`: that may be the program's own, may lock mutexes, and so may call
//! this library while this library calls it. Blocks come in a few sizes, each with a stack of free
//! ones (Treiber 1986) whose head carries a counter against the ABA problem. It takes no locks, so
//! that a child forked at any moment finds it intact. Memory is never given back to the system;
//! it is bounded by the most nodes that were in use at once.

use core::alloc::{GlobalAlloc, Layout};
use core::ptr;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The smallest block: a cache line, the least that a node asks for.
const SMALLEST: usize = 64;

/// Block sizes: 64 B to 4 KiB in powers of two. What is larger is mapped by itself.
const SIZES: usize = 7;

/// How much is mapped at a time.
const CHUNK: usize = 64 * 1024;

/// Low bits of a free list's head that hold the block's address, counted in smallest blocks. 42
/// bits reach 2^48 bytes, all of user space on x86-64 and on AArch64 unless a program asks for
/// more.
const ADDRESS_BITS: u32 = 42;

/// An allocator whose memory is mapped from the kernel.
#[derive(Debug)]
pub(crate) struct Heap {
    free: [AtomicU64; SIZES],
}

impl Heap {
    pub(crate) const fn new() -> Self {
        Self { free: [const { AtomicU64::new(0) }; SIZES] }
    }

    /// The class whose blocks hold `layout`, and the size of its blocks.
    fn class(layout: Layout) -> (usize, usize) {
        let size = layout.size().max(layout.align()).max(SMALLEST).next_power_of_two();
        ((size / SMALLEST).trailing_zeros() as usize, size)
    }

    fn pop(head: &AtomicU64) -> *mut u8 {
        let mut old = head.load(Ordering::Acquire);
        loop {
            let block = address(old);
            if block == 0 {
                return ptr::null_mut();
            }
            // SAFETY: blocks are never unmapped, so even one that another thread has just taken
            // can be read; the counter then makes the exchange fail.
            let next = unsafe { &*ptr::with_exposed_provenance::<AtomicUsize>(block) }
                .load(Ordering::Relaxed);
            match head.compare_exchange_weak(
                old,
                succeed(old, next),
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => return ptr::with_exposed_provenance_mut(block),
                Err(now) => old = now,
            }
        }
    }

    /// Pushes blocks that are linked already, from `first` to `last`.
    fn push(head: &AtomicU64, first: *mut u8, last: *mut u8) {
        let mut old = head.load(Ordering::Relaxed);
        loop {
            // SAFETY: the block is this thread's until the exchange publishes it.
            unsafe { &*last.cast::<AtomicUsize>() }.store(address(old), Ordering::Relaxed);
            let new = succeed(old, first.expose_provenance());
            match head.compare_exchange_weak(old, new, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => old = now,
            }
        }
    }

    /// Maps a chunk, keeps its first block for the caller and frees the others.
    #[cold]
    fn refill(&self, class: usize, size: usize) -> *mut u8 {
        let chunk = map(CHUNK);
        if chunk.is_null() {
            return chunk;
        }
        // SAFETY: all within the new chunk, block by block, each aligned to its size because
        // chunks are aligned to pages and no block is larger than one.
        unsafe {
            let last = chunk.add(CHUNK - size);
            let mut block = chunk.add(size);
            while block < last {
                let next = block.add(size);
                block.cast::<usize>().write(next.expose_provenance());
                block = next;
            }
            Self::push(&self.free[class], chunk.add(size), last);
        }
        chunk
    }
}

/// The block that a head points to, zero for none.
const fn address(head: u64) -> usize {
    ((head & ((1 << ADDRESS_BITS) - 1)) as usize) * SMALLEST
}

/// The head after `old` that points to `block`.
const fn succeed(old: u64, block: usize) -> u64 {
    let count = (old >> ADDRESS_BITS).wrapping_add(1);
    count << ADDRESS_BITS | (block / SMALLEST) as u64
}

/// Fresh zeroed pages, or null.
fn map(size: usize) -> *mut u8 {
    kilocore_interpose::errno::preserved(|| {
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

// SAFETY: blocks are aligned to their size, which is a power of two no smaller than what was
// asked for, and belong to one caller between alloc and dealloc.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let (class, size) = Self::class(layout);
        let Some(head) = self.free.get(class) else {
            // Pages satisfy every alignment up to theirs; nothing here asks for more.
            return if layout.align() <= 4096 { map(size) } else { ptr::null_mut() };
        };
        let block = Self::pop(head);
        if block.is_null() { self.refill(class, size) } else { block }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let (class, size) = Self::class(layout);
        match self.free.get(class) {
            Some(head) => Self::push(head, block, block),
            None => kilocore_interpose::errno::preserved(|| {
                // SAFETY: mapped by `alloc` with this size and no longer used.
                unsafe { libc::munmap(block.cast(), size) };
            }),
        }
    }
}
