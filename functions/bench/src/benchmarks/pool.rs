//! `pool-sequential` and `pool-random`: filling files through a buffer pool, with a file for each task.
//!
//! They are the twins of `write-sequential` and `write-random`, which fill the kernel's page cache. All
//! tasks are threads that share one pool. It is smaller than their files, so that for each new page an
//! old one has to be written: the kernel's cache is below it, and does what it does for its own twin.

use std::error::Error;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use kilocore_buffer_pool::{BufferPool, Options, PageId, Store};

use super::write::{FILE_BYTES, STRIDE};
use crate::resources::{check_file_size, task_file};
use crate::{Benchmark, Info, Kind, Refusal, Resources, Seat, Shared, Task};

/// Pages one after the other.
pub(super) struct Sequential;

const SEQUENTIAL: Info = Info {
    name: "pool-sequential",
    title: "buffer pool: parallel sequential writes, a file for each task",
    operation: "64 KiB written to a file of 32 MiB of the task's own, through a pool of half that size",
    source: "the twin of write-sequential in user space",
    default: Kind::Threads,
    only: Some(SHARED),
    keeps_core: false,
    hidden: false,
};

/// Pages anywhere in the file.
pub(super) struct Random;

const RANDOM: Info = Info {
    name: "pool-random",
    title: "buffer pool: parallel random writes of 4 KiB on tmpfs",
    operation: "4 KiB written anywhere in 32 MiB of a file of the task's own, through a pool of half that size",
    source: "the twin of write-random in user space",
    default: Kind::Threads,
    only: Some(SHARED),
    keeps_core: false,
    hidden: false,
};

const SHARED: &str = "all tasks share a pool in memory";

const PAGE_BYTES: usize = 4 << 10;
/// Pages of a file.
const FILE_PAGES: u64 = FILE_BYTES / PAGE_BYTES as u64;
/// Pages of the pool for each task: half of its file, so that a page has gone before it comes again.
const POOL_PAGES: u32 = (FILE_PAGES / 2) as u32;
/// Blocks of the sequential writes, in pages.
const BLOCK_PAGES: u64 = 16;

impl Benchmark for Sequential {
    fn info(&self) -> &'static Info {
        &SEQUENTIAL
    }

    fn prepare(&self, resources: &mut Resources<'_>) -> Result<Shared, Refusal> {
        check_file_size(FILE_BYTES)?;
        let (tasks, room) = (resources.tasks(), room(resources));
        Ok(Shared {
            folder: Some(resources.folder(room)?),
            size: tasks.into(),
            ..Shared::default()
        })
    }

    fn task(&self, shared: &Shared, seat: &Seat) -> Result<Box<dyn Task>, Refusal> {
        Writing::boxed(shared, seat, BLOCK_PAGES, 1)
    }
}

impl Benchmark for Random {
    fn info(&self) -> &'static Info {
        &RANDOM
    }

    fn prepare(&self, resources: &mut Resources<'_>) -> Result<Shared, Refusal> {
        check_file_size(FILE_BYTES)?;
        let (tasks, room) = (resources.tasks(), room(resources));
        let folder = resources.memory_folder(room)?;
        Ok(Shared { folder: Some(folder), size: tasks.into(), ..Shared::default() })
    }

    fn task(&self, shared: &Shared, seat: &Seat) -> Result<Box<dyn Task>, Refusal> {
        Writing::boxed(shared, seat, 1, STRIDE)
    }
}

fn room(resources: &Resources<'_>) -> u64 {
    u64::from(resources.tasks()) * FILE_BYTES
}

/// The files of all tasks. The upper half of a page's number says which file it is in.
struct Files(Box<[OnceLock<File>]>);

impl Files {
    fn at(&self, page: PageId) -> io::Result<(&File, u64)> {
        let (file, place) = (page.0 >> 32, page.0 & u64::from(u32::MAX));
        let file = self.0.get(file as usize).and_then(OnceLock::get);
        let file = file.ok_or_else(|| io::Error::other("the task has no file"))?;
        Ok((file, place * PAGE_BYTES as u64))
    }
}

impl Store for Files {
    fn read(&self, page: PageId, into: &mut [u8]) -> io::Result<()> {
        let (file, at) = self.at(page)?;
        file.read_exact_at(into, at)
    }

    fn write(&self, page: PageId, from: &[u8]) -> io::Result<()> {
        let (file, at) = self.at(page)?;
        file.write_all_at(from, at)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.iter().filter_map(OnceLock::get).try_for_each(File::sync_data)
    }
}

type Pool = BufferPool<Files>;

/// The pool of the tasks that there are now. With the last of them it goes away.
static POOL: Mutex<Weak<Pool>> = Mutex::new(Weak::new());

/// Returns the pool of this sample, which grows with each task.
fn pool(shared: &Shared) -> Result<Arc<Pool>, Refusal> {
    let mut place = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let pool = match place.upgrade() {
        Some(pool) => pool,
        None => {
            let files = (0..shared.size).map(|_| OnceLock::new()).collect();
            let most = u64::from(POOL_PAGES) * shared.size;
            let most = u32::try_from(most).map_err(|_| Refusal::lacking("pool of that size"))?;
            let options = Options { most, ..Options::new(0, PAGE_BYTES) };
            Arc::new(Pool::new(Files(files), options).map_err(|error| refuse(&error))?)
        }
    };
    *place = Arc::downgrade(&pool);
    pool.resize(pool.capacity() + POOL_PAGES).map_err(|error| refuse(&error))?;
    Ok(pool)
}

/// Says why the pool refuses, with what the store said about it.
fn refuse(error: &dyn Error) -> Refusal {
    let store = error.source().map(|store| format!(": {store}"));
    Refusal::System {
        call: "the buffer pool".to_owned(),
        error: format!("{error}{}", store.unwrap_or_default()),
    }
}

struct Writing {
    pool: Arc<Pool>,
    /// The number of its first page.
    first: u64,
    /// Pages of an operation.
    block: u64,
    /// The number of blocks from one that is written to the next.
    stride: u64,
    /// How many blocks were written.
    written: u64,
}

impl Writing {
    fn boxed(
        shared: &Shared,
        seat: &Seat,
        block: u64,
        stride: u64,
    ) -> Result<Box<dyn Task>, Refusal> {
        let file = task_file(&shared.folder()?.join(format!("file-{}", seat.index)))?;
        let pool = pool(shared)?;
        let place = pool.store().0.get(seat.index as usize);
        let place = place.ok_or_else(|| Refusal::lacking("file for so many tasks"))?;
        // Nobody else has this seat.
        let _ = place.set(file);
        let first = u64::from(seat.index) << 32;
        Ok(Box::new(Self { pool, first, block, stride, written: 0 }))
    }
}

impl Task for Writing {
    fn run(&mut self, operations: u64) -> Result<(), Refusal> {
        let blocks = FILE_PAGES / self.block;
        for _ in 0..operations {
            let block = self.first + self.written * self.stride % blocks * self.block;
            for page in block..block + self.block {
                let mut page = self.pool.create(PageId(page)).map_err(|error| refuse(&error))?;
                page.fill(b'k');
            }
            self.written = (self.written + 1) % blocks;
        }
        Ok(())
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        // Those who go on have no use for its pages; what the store says will be said to them.
        let _place = POOL.lock().unwrap_or_else(PoisonError::into_inner);
        let fewer = self.pool.capacity().saturating_sub(POOL_PAGES);
        let _ = self.pool.resize(fewer);
    }
}
