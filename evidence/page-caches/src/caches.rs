//! The caches that are compared, each used for pages of 4 KiB as its own documentation has it.

use std::sync::Arc;

use foyer::{CacheBuilder, EvictionConfig, S3FifoConfig};
use kilocore_buffer_pool::{BufferPool, Options, PageId, Store};

/// The size of a page in bytes.
pub(crate) const PAGE: usize = 4096;

/// What the other caches hold.
type Page = Arc<[u8; PAGE]>;

/// A cache of pages.
pub(crate) trait PageCache: Sync {
    /// Returns the first byte of a page that is in memory.
    fn hit(&self, page: u64) -> u8;
    /// Puts a page of zeros in, for which another may have to go.
    fn insert(&self, page: u64);
    /// Returns how many of the pages below this one are in memory.
    fn present(&self, pages: u64) -> u64;
}

/// A store whose pages are all zeros.
pub(crate) struct Zeros;

impl Store for Zeros {
    fn read(&self, _page: PageId, into: &mut [u8]) -> std::io::Result<()> {
        into.fill(0);
        Ok(())
    }

    fn write(&self, _page: PageId, _from: &[u8]) -> std::io::Result<()> {
        Ok(())
    }

    fn sync(&self) -> std::io::Result<()> {
        Ok(())
    }
}

impl PageCache for BufferPool<Zeros> {
    #[inline]
    fn hit(&self, page: u64) -> u8 {
        self.read(PageId(page)).expect("it is there")[0]
    }

    #[inline]
    fn insert(&self, page: u64) {
        drop(self.read(PageId(page)).expect("nothing is pinned"));
    }

    fn present(&self, pages: u64) -> u64 {
        (0..pages).map(|page| u64::from(self.contains(PageId(page)))).sum()
    }
}

pub(crate) fn pool(capacity: u32) -> BufferPool<Zeros> {
    BufferPool::new(Zeros, Options::new(capacity, PAGE)).expect("the options are in range")
}

impl PageCache for quick_cache::sync::Cache<u64, Page> {
    #[inline]
    fn hit(&self, page: u64) -> u8 {
        self.get(&page).expect("it is there")[0]
    }

    #[inline]
    fn insert(&self, page: u64) {
        self.insert(page, Arc::new([0; PAGE]));
    }

    fn present(&self, pages: u64) -> u64 {
        (0..pages).map(|page| u64::from(self.peek(&page).is_some())).sum()
    }
}

pub(crate) fn quick(capacity: u32) -> quick_cache::sync::Cache<u64, Page> {
    quick_cache::sync::Cache::new(capacity as usize)
}

impl PageCache for moka::sync::Cache<u64, Page> {
    #[inline]
    fn hit(&self, page: u64) -> u8 {
        self.get(&page).expect("it is there")[0]
    }

    #[inline]
    fn insert(&self, page: u64) {
        self.insert(page, Arc::new([0; PAGE]));
    }

    fn present(&self, pages: u64) -> u64 {
        self.run_pending_tasks();
        (0..pages).map(|page| u64::from(self.contains_key(&page))).sum()
    }
}

pub(crate) fn moka(capacity: u32) -> moka::sync::Cache<u64, Page> {
    moka::sync::Cache::builder()
        .max_capacity(u64::from(capacity))
        .eviction_policy(moka::policy::EvictionPolicy::lru())
        .build()
}

impl PageCache for foyer::Cache<u64, Page> {
    #[inline]
    fn hit(&self, page: u64) -> u8 {
        self.get(&page).expect("it is there").value()[0]
    }

    #[inline]
    fn insert(&self, page: u64) {
        drop(self.insert(page, Arc::new([0; PAGE])));
    }

    fn present(&self, pages: u64) -> u64 {
        (0..pages).map(|page| u64::from(self.contains(&page))).sum()
    }
}

pub(crate) fn foyer(capacity: u32) -> foyer::Cache<u64, Page> {
    CacheBuilder::new(capacity as usize)
        .with_eviction_config(EvictionConfig::S3Fifo(S3FifoConfig::default()))
        .build()
}
