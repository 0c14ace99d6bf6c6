//! The pool of real memory.

mod blocks;
mod caches;
mod giving_back;
mod guard;
mod options;
mod page;
mod pool;
mod region;

pub use blocks::LargeBlocks;
pub use options::{Backing, OutOfPages, PoolError, PoolOptions};
pub use page::{Page, PageRun, UninitPage};
pub use pool::PagePool;

/// The size of a page in bytes.
pub const PAGE_BYTES: usize = 4096;

/// The bytes of a page.
pub type PageBytes = [u8; PAGE_BYTES];
