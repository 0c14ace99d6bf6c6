//! A disk that fails, under a page cache that is like that of Linux, for tests.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::page::PageId;
use crate::store::Store;

mod disk;

use disk::Disk;

/// A disk in memory, and the system's page cache over it, which fail as real ones do. With it a program can be
/// tried at every point at which it may be stopped:
///
/// ```
/// use kilocore_buffer_pool::{BufferPool, FaultyDisk, Options, PageId};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let pool = BufferPool::new(FaultyDisk::new(), Options::new(10, 4096))?;
/// pool.write(PageId(7))?[0] = 1;
/// pool.sync()?;
/// pool.write(PageId(7))?[0] = 2;
/// // The next write or sync is the last, and does not come to its end.
/// pool.store().fail_power_after(0);
/// assert!(pool.sync().is_err());
/// let mut choose = |n| n / 2; // what random numbers are for
/// let disk = pool.into_store().after_power_failure(&mut choose);
/// let pool = BufferPool::new(disk, Options::new(10, 4096))?;
/// assert!([1, 2].contains(&pool.read(PageId(7))?[0]));
/// # Ok(())
/// # }
/// ```
///
/// # What it does
/// * **What was written is in the cache, and dirty.** A sync makes it durable. Before that, any part of it may
///   be on the disk, in pieces of 512 bytes and in any order.
/// * **A sync that fails loses pages for good.** Some pages could not be written. The cache still shows what
///   was written last and takes it for clean, so the next sync succeeds, and the disk has something older, or
///   a part of the new. So it is with `fsync` in Linux. Whoever writes such a page again makes it dirty again.
///   Other pages have reached the disk by then, or are dirty still.
/// * **The system may write pages on its own, and fail** ([`lose_writes`](Self::lose_writes)). It says so at the
///   next sync, once.
/// * **The cache forgets clean pages** at any time ([`drop_cache`](Self::drop_cache)). Then the disk's content
///   of a lost page comes back.
/// * **A write that fails may leave a part** in the cache.
/// * **Whoever opens the store again** finds what the cache has if only the program ended
///   ([`after_kill`](Self::after_kill)), and what the disk has if the power failed
///   ([`after_power_failure`](Self::after_power_failure)). Either can fail again, as often as one likes.
#[derive(Debug, Default)]
pub struct FaultyDisk(Mutex<Disk>);

impl FaultyDisk {
    /// Returns a disk that is all zeros.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a disk that is all zeros. The seed decides what it loses when it fails.
    #[must_use]
    pub fn with_seed(seed: u64) -> Self {
        Self(Mutex::new(Disk::with_seed(seed)))
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        // Nothing is half done if a thread panics here.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn into_disk(self) -> Disk {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how many writes and syncs there were, including those that failed.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.disk().operations
    }

    /// Returns how often a page was lost: the cache showed it as clean, and the disk did not have it.
    #[must_use]
    pub fn losses(&self) -> u64 {
        self.disk().losses
    }

    /// Lets the power fail, or the program be killed, after so many further writes and syncs: during the next
    /// one. Nothing succeeds after that, until [`after_power_failure`](Self::after_power_failure) or
    /// [`after_kill`](Self::after_kill) says which of the two it was.
    pub fn fail_power_after(&self, operations: u64) {
        let mut disk = self.disk();
        disk.stops_at = Some(disk.operations + operations);
    }

    /// Lets one write or sync fail, after so many further ones. The disk works again after it.
    pub fn fail_once_after(&self, operations: u64) {
        let mut disk = self.disk();
        disk.fails_at = Some(disk.operations + operations);
    }

    /// From now on, reads fail or do not.
    pub fn fail_reads(&self, fail: bool) {
        self.disk().failing_reads = fail;
    }

    /// From now on, writes fail or do not, as on a full disk.
    pub fn fail_writes(&self, fail: bool) {
        self.disk().failing_writes = fail;
    }

    /// From now on, what is dirty cannot be written, or can. A sync then fails if anything is dirty: so the
    /// second of two succeeds if nothing was written between them.
    pub fn fail_syncs(&self, fail: bool) {
        self.disk().failing_syncs = fail;
    }

    /// Lets the system write some of the dirty pages on its own, and fail. The next sync says so.
    pub fn lose_writes(&self) {
        self.disk().lose_writes();
    }

    /// Lets the cache forget all clean pages.
    pub fn drop_cache(&self) {
        self.disk().drop_cache();
    }

    /// Returns what the disk has when its power is back. What was made durable is there. Of what was written
    /// since, any part may be, in pieces of 512 bytes and in any order; `choose(n)`, which returns a
    /// number below `n`, decides. Nothing fails until it is asked to anew.
    #[must_use]
    pub fn after_power_failure(self, choose: &mut dyn FnMut(usize) -> usize) -> Self {
        Self(Mutex::new(self.into_disk().after_power_failure(choose)))
    }

    /// Returns what the next program finds if this one ended or was killed, and the power did not fail: what the
    /// cache shows. A failure that no sync has reported yet, the next program's does, or nobody's does if the
    /// system has forgotten the file meanwhile. Nothing fails until it is asked to anew.
    #[must_use]
    pub fn after_kill(self) -> Self {
        Self(Mutex::new(self.into_disk().after_kill()))
    }
}

impl Store for FaultyDisk {
    fn read(&self, page: PageId, into: &mut [u8]) -> io::Result<()> {
        self.disk().read(page, into)
    }

    fn write(&self, page: PageId, from: &[u8]) -> io::Result<()> {
        self.disk().write(page, from)
    }

    fn sync(&self) -> io::Result<()> {
        self.disk().sync()
    }
}
