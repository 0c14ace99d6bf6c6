//! A lock-free stack of free blocks of memory (Treiber, 'Systems programming: coping with
//! parallelism', 1986). Since it takes no lock, a child that is forked at any moment finds it
//! intact.
//!
//! The links lie in the blocks themselves. Suppose that a thread has read the head and is about to
//! exchange it for the link of the first block. Meanwhile other threads may take that block, use
//! it, and put it back in front of different blocks. The link that the thread read is then wrong
//! although the head points to the same block (the ABA problem). So the head also contains a count
//! that changes with every exchange, and the exchange of that thread fails. The thread may read a
//! link in a block that is in use. This is harmless: blocks remain memory for ever, and the value
//! read is discarded when the exchange fails.

use core::fmt;
use core::ptr;

use kilocore_platform::{Atomic, Ordering, Platform};

/// The alignment of blocks in bytes.
pub const BLOCK_ALIGN: usize = 64;

/// Number of the low bits of the head that hold the address of a block, divided by [`BLOCK_ALIGN`].
/// 42 bits reach 2^48 bytes. That is all of user space on x86-64, and on AArch64 unless a program
/// asks for more.
const ADDRESS_BITS: u32 = 42;

/// The stack. On the native platform it is empty when all its bits are zero.
pub struct FreeBlocks<P: Platform> {
    head: P::U64,
}

/// The beginning of a free block. On the native platform, any eight bytes are a valid value.
pub struct FreeBlock<P: Platform> {
    /// The address of the next block, or 0 if this is the last one.
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
    /// Takes the block that was pushed last. Returns null if there is none.
    #[must_use]
    pub fn pop(&self) -> *mut FreeBlock<P> {
        // Acquire makes visible to us the link, and what the last user of the block wrote to it.
        let mut old = self.head.load(Ordering::Acquire);
        loop {
            let block = address(old);
            if block == 0 {
                return ptr::null_mut();
            }
            // SAFETY: blocks remain memory and, on the native platform, any content of a block can
            // be read as a link. If the block was taken meanwhile, the count makes the exchange
            // fail.
            let next = unsafe { &*ptr::with_exposed_provenance::<FreeBlock<P>>(block) }
                .next
                .load(Ordering::Relaxed);
            // Relaxed: if the exchange succeeds, the head is the one that we read before, with
            // acquire.
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

    /// Puts `block` on top of the stack.
    ///
    /// # Safety
    /// The block is aligned to [`BLOCK_ALIGN`], belongs to the caller, and remains memory for ever.
    pub unsafe fn push(&self, block: *mut FreeBlock<P>) {
        let mut old = self.head.load(Ordering::Relaxed);
        loop {
            // SAFETY: the block belongs to this thread until the exchange publishes it.
            unsafe { &*block }.next.store(address(old), Ordering::Relaxed);
            let new = succeed(old, block.expose_provenance());
            // Release publishes the link and everything that the user of the block did before.
            match self.head.compare_exchange_weak(old, new, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => old = now,
            }
        }
    }
}

/// Returns the address of the block that a head points to, or zero if there is none.
const fn address(head: u64) -> usize {
    ((head & ((1 << ADDRESS_BITS) - 1)) as usize) * BLOCK_ALIGN
}

/// Returns the head that follows `old` and points to `block`.
const fn succeed(old: u64, block: usize) -> u64 {
    let count = (old >> ADDRESS_BITS).wrapping_add(1);
    // If the link was overwritten, `block` may be any number, so it is cut to its bits.
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
