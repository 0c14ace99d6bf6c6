//! A store in memory for the checkers: it has no words that they know of, and takes no time.

use std::collections::BTreeMap;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use kilocore_buffer_pool::{PageId, Store};

#[derive(Debug, Default)]
pub(crate) struct Memory {
    pages: Mutex<BTreeMap<PageId, u8>>,
    /// What was durable at the last sync.
    synced: Mutex<BTreeMap<PageId, u8>>,
    /// The next read, or write, fails.
    pub(crate) read_fails: AtomicBool,
    pub(crate) write_fails: AtomicBool,
}

impl Memory {
    pub(crate) fn synced(&self, page: u64) -> u8 {
        self.synced.lock().unwrap().get(&PageId(page)).copied().unwrap_or(0)
    }
}

impl Store for Memory {
    fn read(&self, page: PageId, into: &mut [u8]) -> io::Result<()> {
        if self.read_fails.swap(false, Ordering::Relaxed) {
            return Err(io::Error::other("it was told to fail"));
        }
        into[0] = self.pages.lock().unwrap().get(&page).copied().unwrap_or(0);
        Ok(())
    }

    fn write(&self, page: PageId, from: &[u8]) -> io::Result<()> {
        if self.write_fails.swap(false, Ordering::Relaxed) {
            return Err(io::Error::other("it was told to fail"));
        }
        self.pages.lock().unwrap().insert(page, from[0]);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        *self.synced.lock().unwrap() = self.pages.lock().unwrap().clone();
        Ok(())
    }
}
