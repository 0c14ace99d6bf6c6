//! How a pool is made.

use crate::error::OptionsError;
use crate::frames::NO_FRAME;

/// What to do if a page is asked for while every frame has one that is pinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WhenPinned {
    /// Return [`PoolError::AllPinned`](crate::PoolError::AllPinned). If the pool itself is writing a page that
    /// nobody has pinned, this still sleeps until that is done.
    #[default]
    Fail,
    /// Sleep until a page is not pinned any more. If all who could drop a guard wait themselves, they do so
    /// for ever.
    Wait,
}

/// How a pool is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// The size of a page in bytes, at least 1. A page begins at a multiple of the largest power
    /// of two by which this can be divided, up to 4096: direct input and output need that.
    pub page_bytes: usize,
    /// How many pages are in memory at most. 0 is allowed: then no page can be had until
    /// [`resize`](crate::BufferPool::resize).
    pub capacity: u32,
    /// How large the capacity may ever become, at least `capacity`. Each costs at most 61 bytes from the
    /// beginning; the memory of the page itself is taken when it is first used, in whatever pieces the system
    /// gives. There are numbers for 1,073,741,822 frames.
    pub most: u32,
    /// The number of cores of the machine, at least 1.
    pub cores: u32,
    /// What to do if all pages are pinned.
    pub when_pinned: WhenPinned,
}

impl Options {
    /// Returns options for a pool of so many pages of so many bytes on this machine. Its capacity cannot be
    /// raised; see [`most`](Self::most).
    #[must_use]
    pub fn new(capacity: u32, page_bytes: usize) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
        Options { page_bytes, capacity, most: capacity, cores, when_pinned: WhenPinned::Fail }
    }

    pub(crate) fn check(&self) -> Result<(), OptionsError> {
        if self.page_bytes == 0 {
            return Err(OptionsError::NoPageBytes);
        }
        if self.cores == 0 {
            return Err(OptionsError::NoCores);
        }
        if self.most >= NO_FRAME {
            return Err(OptionsError::Frames(self.most));
        }
        if self.capacity > self.most {
            return Err(OptionsError::CapacityBeyondMost);
        }
        Ok(())
    }
}
