//! Stores that do less than they say, so that a search has something to find.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use kilocore_buffer_pool::{FaultyDisk, PageId, Store};

/// A store over a disk, for the life of one program.
pub(crate) trait Under: Store {
    fn over(disk: Arc<FaultyDisk>) -> Self;
}

impl Under for Arc<FaultyDisk> {
    fn over(disk: Arc<FaultyDisk>) -> Self {
        disk
    }
}

/// A store that does what its disk does, but for this.
macro_rules! store {
    ($(#[$what:meta])* $name:ident, $this:ident, $write:expr, $sync:expr) => {
        $(#[$what])*
        pub(crate) struct $name {
            disk: Arc<FaultyDisk>,
            syncs: AtomicU32,
        }

        impl $name {
            /// Which sync this is, from 0 on.
            #[allow(dead_code, reason = "not all count")]
            fn number(&self) -> u32 {
                self.syncs.fetch_add(1, Ordering::Relaxed)
            }
        }

        impl Under for $name {
            fn over(disk: Arc<FaultyDisk>) -> Self {
                Self { disk, syncs: AtomicU32::new(0) }
            }
        }

        impl Store for $name {
            fn read(&self, page: PageId, into: &mut [u8]) -> io::Result<()> {
                self.disk.read(page, into)
            }

            fn write(&$this, page: PageId, from: &[u8]) -> io::Result<()> {
                let write: fn(&Self, PageId, &[u8]) -> io::Result<()> = $write;
                write($this, page, from)
            }

            fn sync(&$this) -> io::Result<()> {
                $sync
            }
        }
    };
}

store!(
    /// Does not sync the first time.
    SkipsFirstSync, self,
    |store, page, from| store.disk.write(page, from),
    if self.number() == 0 { Ok(()) } else { self.disk.sync() }
);

store!(
    /// Does not sync every second time.
    SkipsSecondSyncs, self,
    |store, page, from| store.disk.write(page, from),
    if self.number() % 2 == 1 { Ok(()) } else { self.disk.sync() }
);

store!(
    /// Says that a sync succeeded that failed.
    HidesFailures, self,
    |store, page, from| store.disk.write(page, from),
    self.disk.sync().or(Ok(()))
);

store!(
    /// Does not write what is there.
    SkipsSameWrites, self,
    |store, page, from| {
        let mut there = vec![0; from.len()];
        match store.disk.read(page, &mut there) {
            Ok(()) if there == from => Ok(()),
            _ => store.disk.write(page, from),
        }
    },
    self.disk.sync()
);
