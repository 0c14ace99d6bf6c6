//! A disk whose power fails, for tests.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::page::PageId;
use crate::store::Store;

/// What a disk writes as a whole or not at all, in bytes.
const SECTOR: usize = 512;

/// A disk in memory that loses what was written to it and not made durable, as real ones do when their power
/// fails. With it a program can be tried at every point at which it may be stopped:
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
#[derive(Debug, Default)]
pub struct FaultyDisk(Mutex<Disk>);

#[derive(Debug, Default)]
struct Disk {
    /// What is durable.
    durable: BTreeMap<PageId, Vec<u8>>,
    /// What was written since, in this order.
    written: Vec<(PageId, Vec<u8>)>,
    /// The writes and syncs so far.
    operations: u64,
    /// From this one on, all fail.
    power_fails_at: Option<u64>,
    failing_reads: bool,
    failing_writes: bool,
    failing_syncs: bool,
}

impl Disk {
    /// Returns whether there is power for one operation more, that changes the disk.
    fn has_power(&mut self) -> bool {
        let number = self.operations;
        self.operations += 1;
        self.power_fails_at.is_none_or(|last| number < last)
    }

    fn is_off(&self) -> bool {
        self.power_fails_at.is_some_and(|last| self.operations > last)
    }
}

impl FaultyDisk {
    /// Returns a disk that is all zeros.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        // Nothing is half done if a thread panics here.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how many writes and syncs there were.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.disk().operations
    }

    /// Lets the power fail after so many further writes and syncs: during the next one.
    pub fn fail_power_after(&self, operations: u64) {
        let mut disk = self.disk();
        disk.power_fails_at = Some(disk.operations + operations);
    }

    /// From now on, reads fail or do not.
    pub fn fail_reads(&self, fail: bool) {
        self.disk().failing_reads = fail;
    }

    /// From now on, writes fail or do not, as on a full disk.
    pub fn fail_writes(&self, fail: bool) {
        self.disk().failing_writes = fail;
    }

    /// From now on, syncs fail or do not.
    pub fn fail_syncs(&self, fail: bool) {
        self.disk().failing_syncs = fail;
    }

    /// Returns what the disk has when its power is back. What was made durable is there. Of what was written
    /// since, any part may be, in pieces of 512 bytes and in any order; `choose(n)`, which returns a
    /// number below `n`, decides.
    #[must_use]
    pub fn after_power_failure(self, choose: &mut dyn FnMut(usize) -> usize) -> Self {
        let Disk { mut durable, mut written, .. } =
            self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        // A disk may write in another order. The later of two writes of a sector may be lost, or the earlier.
        while !written.is_empty() {
            let (page, bytes) = written.swap_remove(choose(written.len()));
            let old = durable.entry(page).or_insert_with(|| vec![0; bytes.len()]);
            let sectors = old.chunks_mut(SECTOR).zip(bytes.chunks(SECTOR));
            match choose(3) {
                0 => {}
                1 => sectors.for_each(|(old, new)| old.copy_from_slice(new)),
                _ => {
                    let torn = sectors.filter(|_| choose(2) == 0);
                    torn.for_each(|(old, new)| old.copy_from_slice(new));
                }
            }
        }
        Self(Mutex::new(Disk { durable, ..Disk::default() }))
    }
}

fn failure(what: &str) -> io::Error {
    io::Error::other(what.to_owned())
}

impl Store for FaultyDisk {
    fn read(&self, page: PageId, into: &mut [u8]) -> io::Result<()> {
        let disk = self.disk();
        if disk.failing_reads || disk.is_off() {
            return Err(failure("the disk cannot read"));
        }
        let last = disk.written.iter().rev().find(|(written, _)| *written == page);
        match last.map(|(_, bytes)| bytes).or_else(|| disk.durable.get(&page)) {
            Some(bytes) => into.copy_from_slice(bytes),
            None => into.fill(0),
        }
        Ok(())
    }

    fn write(&self, page: PageId, from: &[u8]) -> io::Result<()> {
        let mut disk = self.disk();
        if disk.failing_writes {
            return Err(io::Error::new(io::ErrorKind::StorageFull, "the disk is full"));
        }
        let was_off = disk.is_off();
        let has_power = disk.has_power();
        // The power may fail when a part is written.
        if !was_off {
            disk.written.push((page, from.to_vec()));
        }
        if has_power { Ok(()) } else { Err(failure("the disk has no power")) }
    }

    fn sync(&self) -> io::Result<()> {
        let mut disk = self.disk();
        if disk.failing_syncs {
            return Err(failure("the disk cannot sync"));
        }
        if !disk.has_power() {
            return Err(failure("the disk has no power"));
        }
        for (page, bytes) in std::mem::take(&mut disk.written) {
            disk.durable.insert(page, bytes);
        }
        Ok(())
    }
}
