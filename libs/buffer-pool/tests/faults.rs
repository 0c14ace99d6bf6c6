//! Stores that fail, panic, or lose their power.

use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use kilocore_buffer_pool::{BufferPool, FaultyDisk, FileStore, Options, PageId, PoolError, Store};

use crate::chooser::chooser;

const PAGE: usize = 1024;

fn pool(capacity: u32) -> BufferPool<FaultyDisk> {
    BufferPool::new(FaultyDisk::new(), Options::new(capacity, PAGE)).expect("they are in range")
}

fn set(pool: &BufferPool<impl Store>, page: u64, value: u8) -> Result<(), PoolError> {
    pool.write(PageId(page))?.fill(value);
    Ok(())
}

#[test]
fn a_page_that_cannot_be_read_is_asked_for_again() {
    let pool = pool(1);
    pool.store().fail_reads(true);
    for _ in 0..3 {
        assert!(matches!(pool.read(PageId(1)), Err(PoolError::Read(PageId(1), _))));
    }
    pool.store().fail_reads(false);
    drop(pool.read(PageId(1)).expect("it can be read now"));
    assert_eq!(pool.statistics().failed_reads, 3);
}

#[test]
fn a_full_disk_loses_no_page() {
    let pool = pool(8);
    for page in 0..8 {
        set(&pool, page, 1).expect("there is room");
    }
    pool.store().fail_writes(true);
    // Nothing can go, and nothing does.
    assert!(matches!(pool.read(PageId(100)), Err(PoolError::Write(_, _))));
    assert!(matches!(pool.sync(), Err(PoolError::Write(_, _))));
    assert!(matches!(pool.resize(1), Err(PoolError::Write(_, _))));
    assert_eq!(pool.capacity(), 8);
    for page in 0..8 {
        assert_eq!(pool.read(PageId(page)).expect("it is there")[0], 1);
    }
    assert_eq!(pool.statistics().dirty, 8);
    pool.store().fail_writes(false);
    pool.sync().expect("it can be written now");
    assert_eq!(pool.statistics().dirty, 0);
    drop(pool.read(PageId(100)).expect("a page can go now"));
}

#[test]
fn a_clean_page_goes_while_dirty_ones_cannot_be_written() {
    let pool = pool(20);
    for page in 0..19 {
        set(&pool, page, 1).expect("there is room");
    }
    drop(pool.read(PageId(50)).expect("there is room"));
    pool.store().fail_writes(true);
    drop(pool.read(PageId(60)).expect("page 50 can go"));
    assert!(!pool.contains(PageId(50)));
    let tried = pool.statistics().failed_writes;
    assert!(tried <= 4, "a store that fails is not asked for every page: {tried}");
}

#[test]
fn after_a_failed_sync_nothing_is_reported_durable() {
    let pool = pool(4);
    set(&pool, 1, 1).expect("there is room");
    pool.store().fail_syncs(true);
    assert!(matches!(pool.sync(), Err(PoolError::Sync(_))));
    pool.store().fail_syncs(false);
    assert!(matches!(pool.sync(), Err(PoolError::SyncFailedBefore)));
    assert_eq!(pool.read(PageId(1)).expect("it is there")[0], 1);
}

/// Panics in any call if told to.
#[derive(Default)]
struct Panicking {
    disk: FaultyDisk,
    panics: AtomicBool,
}

impl Panicking {
    fn check(&self) {
        assert!(!self.panics.load(Ordering::Relaxed), "the store was told to");
    }
}

impl Store for Panicking {
    fn read(&self, page: PageId, into: &mut [u8]) -> io::Result<()> {
        self.check();
        self.disk.read(page, into)
    }

    fn write(&self, page: PageId, from: &[u8]) -> io::Result<()> {
        self.check();
        self.disk.write(page, from)
    }

    fn sync(&self) -> io::Result<()> {
        self.check();
        self.disk.sync()
    }
}

/// Sees that something panics because its store does.
fn panics(store: &Panicking, act: impl FnOnce()) {
    store.panics.store(true, Ordering::Relaxed);
    assert!(catch_unwind(AssertUnwindSafe(act)).is_err());
    store.panics.store(false, Ordering::Relaxed);
}

/// It may have failed before it panicked, as if its error had been unwrapped.
#[test]
fn after_a_sync_that_panicked_nothing_is_reported_durable() {
    let pool = BufferPool::new(Panicking::default(), Options::new(4, PAGE)).expect("in range");
    set(&pool, 1, 1).expect("there is room");
    assert!(pool.write_back(PageId(1)).expect("the disk works"));
    // Nothing is left to be written, so it is the store's sync that panics.
    panics(pool.store(), || drop(pool.sync()));
    for value in 2..4 {
        assert!(matches!(pool.sync(), Err(PoolError::SyncFailedBefore)));
        set(&pool, 1, value).expect("it is there");
        assert_eq!(pool.read(PageId(1)).expect("it is there")[0], value);
    }
}

#[test]
fn a_store_that_panics_loses_no_page_and_no_frame() {
    let pool = BufferPool::new(Panicking::default(), Options::new(4, PAGE)).expect("in range");
    let panics = |act: &dyn Fn()| panics(pool.store(), act);
    panics(&|| drop(pool.read(PageId(9))));
    for page in 0..4 {
        set(&pool, page, 7).expect("the frame of page 9 is free");
    }
    panics(&|| drop(pool.sync()));
    panics(&|| drop(pool.read(PageId(9))));
    for page in 0..8 {
        let value = pool.read(PageId(page)).expect("no frame is lost")[0];
        assert_eq!(value, if page < 4 { 7 } else { 0 });
    }
    pool.resize(0).expect("no pin is left");
}

/// Three rounds of changes, each followed by a sync. Returns how many syncs returned `Ok`.
fn three_rounds(pool: &BufferPool<FaultyDisk>) -> u8 {
    for round in 1..=3 {
        for page in 0..10 {
            if set(pool, page, round).is_err() {
                return round - 1;
            }
        }
        if pool.sync().is_err() {
            return round - 1;
        }
    }
    3
}

/// The pool is smaller than what is written, so that pages are also written to make room.
#[test]
fn whenever_the_power_fails_what_was_reported_durable_is_there() {
    let whole = pool(4);
    assert_eq!(three_rounds(&whole), 3);
    let operations = whole.store().operations();
    assert!(operations > 30, "{operations}");
    let mut outcomes = [0; 4];
    for power in 0..=operations {
        for seed in 0..20 {
            let pool = pool(4);
            pool.store().fail_power_after(power);
            let durable = three_rounds(&pool);
            outcomes[usize::from(durable)] += 1;
            let disk = pool.into_store().after_power_failure(&mut chooser(seed));
            let pool = BufferPool::new(disk, Options::new(4, PAGE)).expect("in range");
            for page in 0..10 {
                let bytes = pool.read(PageId(page)).expect("the power is back");
                assert!(
                    bytes.iter().all(|value| (durable..=durable + 1).contains(value)),
                    "page {page}, power for {power} operations, {durable} syncs reported"
                );
            }
        }
    }
    assert!(outcomes.iter().all(|count| *count > 0), "{outcomes:?}");
}

#[test]
fn a_file_has_what_was_synced() {
    let file = tempfile::tempfile().expect("there is room");
    let store = FileStore::new(file);
    let pool = BufferPool::new(store, Options::new(3, 4096)).expect("in range");
    for page in 0..10 {
        pool.write(PageId(page)).expect("there is room").fill(page as u8 + 1);
    }
    pool.sync().expect("there is room");
    let store = pool.into_store();
    assert_eq!(store.file().metadata().expect("it is open").len(), 10 * 4096);
    let mut page = [0; 4096];
    store.read(PageId(7), &mut page).expect("it is there");
    assert_eq!(page, [8; 4096]);
    store.read(PageId(70), &mut page).expect("what is beyond the end is zeros");
    assert_eq!(page, [0; 4096]);
    let too_far = store.read(PageId(u64::MAX - 1), &mut page);
    assert_eq!(too_far.expect_err("no file is so large").kind(), io::ErrorKind::InvalidInput);
}

/// The system writes at its end, whatever position it is given.
#[test]
fn a_file_that_is_open_for_appending_takes_no_page() {
    let path = tempfile::NamedTempFile::new().expect("there is room").into_temp_path();
    std::fs::write(&path, [7; 4 * PAGE]).expect("there is room");
    let file = File::options().read(true).append(true).open(&path).expect("it is there");
    let pool = BufferPool::new(FileStore::new(file), Options::new(2, PAGE)).expect("in range");
    set(&pool, 1, 9).expect("it can be read");
    let refused = pool.sync().expect_err("it would be written at the wrong place");
    let PoolError::Write(PageId(1), error) = refused else { panic!("{refused}") };
    assert!(error.to_string().contains("open for appending"), "{error}");
    assert_eq!(std::fs::read(&path).expect("it is there"), [7; 4 * PAGE]);
    assert_eq!(pool.read(PageId(1)).expect("it stays")[0], 9);
}
