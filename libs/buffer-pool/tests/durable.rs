//! Whether a store's sync comes after the writes that it makes durable. What a store does is its own matter, so
//! here it uses a cell that loom watches, and nothing that orders the uses.

use std::io;
use std::sync::Arc;

use kilocore_buffer_pool::{BufferPool, Options, PageId, Store, WhenPinned};
use kilocore_checking::{Altered, Thorough, Threads, model};
use kilocore_locks::Ttas;
use kilocore_lru::{Layout, Options as ListOptions, Striped};
use kilocore_platform::{CpuId, Loom, NodeId, Platform, SharedCell};

type Machine = Altered<Loom, Thorough>;
type Pool = BufferPool<Disk, Machine, Striped<Machine, Ttas<Machine>>>;

/// A disk for one page.
struct Disk(<Machine as Platform>::Cell<()>);

impl Store for Disk {
    fn read(&self, _: PageId, into: &mut [u8]) -> io::Result<()> {
        self.0.with(|_| ());
        into.fill(0);
        Ok(())
    }

    fn write(&self, _: PageId, _: &[u8]) -> io::Result<()> {
        self.0.with_mut(|_| ());
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.0.with(|_| ());
        Ok(())
    }
}

const PAGE: PageId = PageId(1);

fn pool() -> Pool {
    let lists = ListOptions { layout: Layout::STOCK, batch: 1, sorted: false };
    let lists = Striped::new(1, 2, lists).expect("the options are in range");
    let options =
        Options { page_bytes: 1, capacity: 1, most: 1, cores: 2, when_pinned: WhenPinned::Wait };
    let disk = Disk(SharedCell::new(()));
    Pool::with_lists(disk, lists, options).expect("the options are in range")
}

fn add(pool: &Pool) {
    pool.write(PAGE).expect("there is room")[0] += 1;
}

fn write_back(pool: &Pool) {
    pool.write_back(PAGE).expect("the disk works");
}

/// One syncs a page that was changed before, while the other does something else with it that ends before the next
/// write.
fn sync_beside(preemptions: usize, other: fn(&Pool)) {
    model(Some(preemptions), move || {
        Loom::place(CpuId(0), NodeId(0));
        let pool = Arc::new(pool());
        add(&pool);
        let others = Arc::clone(&pool);
        let thread = Machine::spawn(move || {
            Loom::place(CpuId(1), NodeId(0));
            other(&others);
        });
        pool.sync().expect("the disk works");
        Machine::join(thread);
    });
}

#[test]
fn a_sync_comes_after_a_write_by_another_thread() {
    sync_beside(2, write_back);
}

/// It is dirty again when the sync looks at it.
#[test]
fn a_sync_comes_after_a_write_of_a_page_that_was_changed_since() {
    sync_beside(2, |pool| {
        write_back(pool);
        add(pool);
    });
}
