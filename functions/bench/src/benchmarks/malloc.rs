//! `malloc`: allocating and freeing blocks of many sizes.
//!
//! Each task keeps some blocks alive and replaces the oldest. The C library handles small blocks
//! without the kernel. Every 64th block is large enough that the library may ask the kernel.

use libc::c_void;

use crate::{Benchmark, Info, Kind, Refusal, Seat, Shared, Task};

pub(super) struct Malloc;

const INFO: Info = Info {
    name: "malloc",
    title: "the C library: allocate and free",
    operation: "a block allocated and the oldest of 64 freed; 16 to 1,023 bytes, each 64th 64 KiB",
    source: "will-it-scale: malloc1, with small blocks",
    default: Kind::Threads,
    only: None,
    keeps_core: false,
    hidden: false,
};

/// How many blocks are alive at the same time.
const ALIVE: usize = 64;
const LARGE: usize = 64 << 10;

impl Benchmark for Malloc {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn task(&self, _shared: &Shared, seat: &Seat) -> Result<Box<dyn Task>, Refusal> {
        let random = 0x9e37_79b9_7f4a_7c15 ^ u64::from(seat.index);
        Ok(Box::new(Blocks { alive: [core::ptr::null_mut(); ALIVE], oldest: 0, random }))
    }
}

struct Blocks {
    /// The blocks that are alive. An entry is null as long as it has no block yet.
    alive: [*mut c_void; ALIVE],
    oldest: usize,
    random: u64,
}

impl Blocks {
    #[inline]
    fn next_size(&mut self) -> usize {
        if self.oldest == 0 {
            return LARGE;
        }
        // A linear congruential generator: cheap, and of its high bits enough are even.
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        16 + (self.random >> 54) as usize % 1008
    }
}

impl Task for Blocks {
    fn run(&mut self, operations: u64) -> Result<(), Refusal> {
        for _ in 0..operations {
            let size = self.next_size();
            // SAFETY: the call has no preconditions. The block is freed once: below, or when the
            // task is dropped.
            let block = unsafe { libc::malloc(size) };
            if block.is_null() {
                return Err(Refusal::last("malloc"));
            }
            // SAFETY: the block has at least sixteen bytes, and belongs to this task.
            unsafe { block.cast::<u64>().write_volatile(size as u64) };
            // SAFETY: the replaced block was allocated above and not freed yet, or it is null.
            unsafe { libc::free(std::mem::replace(&mut self.alive[self.oldest], block)) };
            self.oldest = (self.oldest + 1) % ALIVE;
        }
        Ok(())
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        // SAFETY: each block was allocated by `malloc` and not freed yet, or it is null.
        self.alive.iter().for_each(|&block| unsafe { libc::free(block) });
    }
}
