//! Files that are written through each cache, a file for each thread, beside plain writes.
//!
//! The caches are not made for this: what is evicted is written by their listeners, as their documentation
//! has it, and at the end what is left. Nothing is said of failures: a listener cannot keep a page whose
//! write failed.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use foyer::{CacheBuilder, Event, EventListener};
use kilocore_buffer_pool::{BufferPool, Options, PageId, Store};
use quick_cache::{DefaultHashBuilder, Lifecycle, UnitWeighter};

use crate::caches::PAGE;

type Page = Arc<[u8; PAGE]>;

/// The capacity of each cache, in pages.
const CAPACITY: u32 = 4096;
/// The pages of each file.
pub(crate) const FILE_PAGES: u64 = 16_384;

/// The files. The upper half of a page's number says which file it is in.
pub(crate) struct Files(Vec<File>);

impl Files {
    pub(crate) fn new(folder: &Path, files: u64) -> Arc<Self> {
        let open = |index| {
            let mut options = File::options();
            options.read(true).write(true).create(true).truncate(true);
            options.open(folder.join(format!("file-{index}"))).expect("there is room")
        };
        Arc::new(Self((0..files).map(open).collect()))
    }

    fn put(&self, page: u64, from: &[u8]) -> std::io::Result<()> {
        let place = (page & u64::from(u32::MAX)) * PAGE as u64;
        self.0[(page >> 32) as usize].write_all_at(from, place)
    }

    fn sync_all(&self) -> std::io::Result<()> {
        self.0.iter().try_for_each(File::sync_data)
    }

    /// Checks that each page has what was written into it.
    pub(crate) fn check(&self) {
        let mut bytes = [0; PAGE];
        for (index, file) in self.0.iter().enumerate() {
            for page in (0..FILE_PAGES).step_by(61) {
                file.read_exact_at(&mut bytes, page * PAGE as u64).expect("it was written");
                assert!(bytes.iter().all(|byte| *byte == fill(page)), "file {index}, page {page}");
            }
        }
    }
}

/// What a page is filled with.
pub(crate) fn fill(page: u64) -> u8 {
    page as u8 | 1
}

/// Something through which files are written.
pub(crate) trait Writer: Sync {
    fn put(&self, page: u64);
    /// Everything is in the files then, and durable.
    fn finish(&self);
}

/// Straight into the kernel's cache.
struct Plain(Arc<Files>);

impl Writer for Plain {
    fn put(&self, page: u64) {
        self.0.put(page, &[fill(page); PAGE]).expect("there is room");
    }

    fn finish(&self) {
        self.0.sync_all().expect("there is room");
    }
}

impl Store for Files {
    fn read(&self, page: PageId, into: &mut [u8]) -> std::io::Result<()> {
        let place = (page.0 & u64::from(u32::MAX)) * PAGE as u64;
        self.0[(page.0 >> 32) as usize].read_exact_at(into, place)
    }

    fn write(&self, page: PageId, from: &[u8]) -> std::io::Result<()> {
        self.put(page.0, from)
    }

    fn sync(&self) -> std::io::Result<()> {
        self.sync_all()
    }
}

impl Writer for BufferPool<Arc<Files>> {
    fn put(&self, page: u64) {
        self.create(PageId(page)).expect("there is room").fill(fill(page));
    }

    fn finish(&self) {
        self.sync().expect("there is room");
    }
}

/// Writes what leaves a cache.
#[derive(Clone)]
struct Listener(Arc<Files>);

impl Listener {
    fn leaves(&self, page: u64, bytes: &Page) {
        self.0.put(page, &**bytes).expect("there is room");
    }
}

impl Lifecycle<u64, Page> for Listener {
    type RequestState = ();

    fn on_evict(&self, (): &mut (), page: u64, bytes: Page) {
        self.leaves(page, &bytes);
    }
}

struct Quick {
    cache: quick_cache::sync::Cache<u64, Page, UnitWeighter, DefaultHashBuilder, Listener>,
    files: Arc<Files>,
}

impl Writer for Quick {
    fn put(&self, page: u64) {
        self.cache.insert(page, Arc::new([fill(page); PAGE]));
    }

    fn finish(&self) {
        self.cache.iter().for_each(|(page, bytes)| {
            self.files.put(page, &*bytes).expect("there is room");
        });
        self.files.sync_all().expect("there is room");
    }
}

struct Moka {
    cache: moka::sync::Cache<u64, Page>,
    files: Arc<Files>,
}

impl Writer for Moka {
    fn put(&self, page: u64) {
        self.cache.insert(page, Arc::new([fill(page); PAGE]));
    }

    fn finish(&self) {
        self.cache.run_pending_tasks();
        self.cache.iter().for_each(|(page, bytes)| {
            self.files.put(*page, &*bytes).expect("there is room");
        });
        self.files.sync_all().expect("there is room");
    }
}

impl EventListener for Listener {
    type Key = u64;
    type Value = Page;

    fn on_leave(&self, _: Event, page: &u64, bytes: &Page) {
        self.leaves(*page, bytes);
    }
}

struct Foyer {
    cache: foyer::Cache<u64, Page>,
    files: Arc<Files>,
}

impl Writer for Foyer {
    fn put(&self, page: u64) {
        drop(self.cache.insert(page, Arc::new([fill(page); PAGE])));
    }

    fn finish(&self) {
        self.cache.clear();
        self.files.sync_all().expect("there is room");
    }
}

/// Makes a writer for files.
pub(crate) type NewWriter = fn(Arc<Files>) -> Box<dyn Writer>;

pub(crate) const WRITERS: [(&str, NewWriter); 5] = [
    ("buffer pool", |files| {
        let options = Options::new(CAPACITY, PAGE);
        Box::new(BufferPool::new(files, options).expect("the options are in range"))
    }),
    ("plain writes", |files| Box::new(Plain(files))),
    ("quick_cache", |files| {
        let (pages, listener) = (CAPACITY as usize, Listener(Arc::clone(&files)));
        let cache = quick_cache::sync::Cache::with(
            pages,
            pages as u64,
            UnitWeighter,
            DefaultHashBuilder::default(),
            listener,
        );
        Box::new(Quick { cache, files })
    }),
    ("moka", |files| {
        let listener = Listener(Arc::clone(&files));
        let cache = moka::sync::Cache::builder()
            .max_capacity(u64::from(CAPACITY))
            .eviction_policy(moka::policy::EvictionPolicy::lru())
            .eviction_listener(move |page, bytes, _| listener.leaves(*page, &bytes))
            .build();
        Box::new(Moka { cache, files })
    }),
    ("foyer", |files| {
        let listener = Arc::new(Listener(Arc::clone(&files)));
        let cache = CacheBuilder::new(CAPACITY as usize).with_event_listener(listener).build();
        Box::new(Foyer { cache, files })
    }),
];
