//! A stack of free blocks of memory that takes no locks (Treiber, 'Systems programming: coping
//! with parallelism', 1986), so that a child that was forked at any moment finds it intact.
//!
//! The links lie in the blocks themselves. A thread that has read the head may be overtaken by
//! others that take the block, use it and put it back in front of other blocks; the head
//! therefore carries a count against exchanging it for a link that was right once (the ABA
//! problem). Such a thread reads a link in a block that is in use: blocks stay memory for ever,
//! and what it reads is thrown away with the failed exchange.

use core::fmt;
use core::ptr;

use kilocore_platform::{Atomic, Ordering, Platform};

/// Blocks are aligned to this many bytes.
pub const BLOCK_ALIGN: usize = 64;

/// Low bits of the head that hold a block's address, counted in [`BLOCK_ALIGN`]. 42 bits reach 2^48
/// bytes, all of user space on x86-64 and on AArch64 unless a program asks for more.
const ADDRESS_BITS: u32 = 42;

/// The head of the stack; all zero is an empty one natively.
pub struct FreeBlocks<P: Platform> {
    head: P::U64,
}

/// What a free block begins with. Natively any eight bytes are one.
pub struct FreeBlock<P: Platform> {
    /// The address of the next one, or 0.
    next: P::Usize,
}

impl<P: Platform> Default for FreeBlock<P> {
    fn default() -> Self {
        Self { next: P::Usize::new(0) }
    }
}

impl<P: Platform> Default for FreeBlocks<P> {
    fn default() -> Self {
        Self { head: P::U64::new(0) }
    }
}

impl<P: Platform> FreeBlocks<P> {
    /// Takes the block that was put here last, or gives null.
    #[must_use]
    pub fn pop(&self) -> *mut FreeBlock<P> {
        // Acquire shows the link, and what the block's last user did with it.
        let mut old = self.head.load(Ordering::Acquire);
        loop {
            let block = address(old);
            if block == 0 {
                return ptr::null_mut();
            }
            // SAFETY: blocks stay memory and, natively, whatever is in one can be read as a link;
            // the count then makes the exchange fail.
            let next = unsafe { &*ptr::with_exposed_provenance::<FreeBlock<P>>(block) }
                .next
                .load(Ordering::Relaxed);
            // Relaxed: the head that it finds is the one that was read before, with acquire.
            match self.head.compare_exchange_weak(
                old,
                succeed(old, next),
                Ordering::Relaxed,
                Ordering::Acquire,
            ) {
                Ok(_) => return ptr::with_exposed_provenance_mut(block),
                Err(now) => old = now,
            }
        }
    }

    /// Puts `block` here.
    ///
    /// # Safety
    /// The block is aligned to [`BLOCK_ALIGN`], is the caller's, and remains memory for ever.
    pub unsafe fn push(&self, block: *mut FreeBlock<P>) {
        let mut old = self.head.load(Ordering::Relaxed);
        loop {
            // SAFETY: the block is this thread's until the exchange publishes it.
            unsafe { &*block }.next.store(address(old), Ordering::Relaxed);
            let new = succeed(old, block.expose_provenance());
            // Release publishes the link, and that the block's user has done with it.
            match self.head.compare_exchange_weak(old, new, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => old = now,
            }
        }
    }
}

/// The block that a head points to, zero for none.
const fn address(head: u64) -> usize {
    ((head & ((1 << ADDRESS_BITS) - 1)) as usize) * BLOCK_ALIGN
}

/// The head after `old` that points to `block`.
const fn succeed(old: u64, block: usize) -> u64 {
    let count = (old >> ADDRESS_BITS).wrapping_add(1);
    // A link that was overwritten may be any number.
    count << ADDRESS_BITS | (block / BLOCK_ALIGN) as u64 & ((1 << ADDRESS_BITS) - 1)
}

impl<P: Platform> fmt::Debug for FreeBlocks<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let empty = address(self.head.load(Ordering::Relaxed)) == 0;
        f.debug_struct("FreeBlocks").field("empty", &empty).finish_non_exhaustive()
    }
}

impl<P: Platform> fmt::Debug for FreeBlock<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FreeBlock").finish_non_exhaustive()
    }
}
