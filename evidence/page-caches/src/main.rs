//! The buffer pool beside `quick_cache`, `moka` and `foyer`, used as caches of pages of 4 KiB.
//!
//! * **Hits**: threads read pages that are all in memory, in random order.
//! * **Inserts**: threads put in pages that are not, one after the other, and others have to go.
//! * **Writes**: each thread writes a file through the cache, on tmpfs and on the disk of the current folder.
//!
//! Printed are tables for `docs/guide/buffer-pool.md`: medians over rounds with their quartiles, and medians of the
//! ratios to the pool within a round.

mod caches;
mod writes;

use std::path::Path;
use std::sync::Arc;

use caches::{PageCache, foyer, moka, pool, quick};
use kilocore_comparisons::rounds::{Scattered, in_turn, table, timed};
use writes::{FILE_PAGES, Files, WRITERS};

const ROUNDS: usize = 15;
const WRITE_ROUNDS: usize = 7;
const OPERATIONS: u64 = 400_000;
/// The capacity of the caches that are hit, in pages.
const HOT: u32 = 20_000;
/// The capacity of those that pages are put into.
const SMALL: u32 = 4_000;

/// A cache without its type: a loop is a method, so that no call within is through a table.
trait Each: Sync {
    fn hits(&self, threads: u64) -> f64;
    fn inserts(&self, threads: u64, first: u64) -> f64;
    /// Puts in the pages that will be hit.
    fn warm(&self);
}

impl<C: PageCache> Each for C {
    fn hits(&self, threads: u64) -> f64 {
        timed(threads, OPERATIONS, &|thread| {
            let mut numbers = Scattered(thread + 1);
            let mut sum = 0;
            for _ in 0..OPERATIONS {
                sum += u64::from(self.hit(numbers.draw() % u64::from(HOT / 2)));
            }
            assert_eq!(sum, 0);
        })
    }

    fn inserts(&self, threads: u64, first: u64) -> f64 {
        let each = OPERATIONS / 4;
        timed(threads, each, &|thread| {
            for page in 0..each {
                self.insert(first + thread * each + page);
            }
        })
    }

    fn warm(&self) {
        (0..u64::from(HOT / 2)).for_each(|page| self.insert(page));
        assert_eq!(self.present(u64::from(HOT / 2)), u64::from(HOT / 2));
    }
}

/// Makes a cache of a capacity in pages.
type New = fn(u32) -> Box<dyn Each>;

const CACHES: [(&str, New); 4] = [
    ("buffer pool", |capacity| Box::new(pool(capacity))),
    ("quick_cache", |capacity| Box::new(quick(capacity))),
    ("moka", |capacity| Box::new(moka(capacity))),
    ("foyer", |capacity| Box::new(foyer(capacity))),
];

fn main() {
    let threads = [1, 2];
    for threads in threads {
        let caches = CACHES.map(|(_, new)| new(HOT));
        caches.iter().for_each(|cache| cache.warm());
        println!("\nHits, {threads} threads, nanoseconds for each:\n");
        report(&CACHES.map(|(name, _)| name), ROUNDS, |index, _| caches[index].hits(threads));
    }
    for threads in threads {
        let caches = CACHES.map(|(_, new)| new(SMALL));
        println!("\nInserts that evict, {threads} threads, nanoseconds for each:\n");
        report(&CACHES.map(|(name, _)| name), ROUNDS, |index, round| {
            caches[index].inserts(threads, round as u64 * 100 * OPERATIONS)
        });
    }
    for (what, folder) in [("tmpfs", "/dev/shm"), ("the disk", ".")] {
        for threads in threads {
            println!(
                "\nA file for each of {threads} threads, on {what}, microseconds for a page:\n"
            );
            report(&WRITERS.map(|(name, _)| name), WRITE_ROUNDS, |index, _| {
                write(index, threads, Path::new(folder)) / 1000.0
            });
        }
    }
}

/// Writes files through one of the writers. Returns nanoseconds for a page of each thread.
fn write(index: usize, threads: u64, folder: &Path) -> f64 {
    let folder = tempfile::tempdir_in(folder).expect("there is room");
    let files = Files::new(folder.path(), threads);
    let writer = WRITERS[index].1(Arc::clone(&files));
    let all = timed(threads, FILE_PAGES, &|thread| {
        for page in 0..FILE_PAGES {
            writer.put(thread << 32 | page);
        }
    });
    // One thread makes all durable.
    let last = timed(1, FILE_PAGES, &|_| writer.finish());
    files.check();
    all + last
}

/// Measures subjects in turn, and prints a table.
fn report(names: &[&str], rounds: usize, measure: impl Fn(usize, usize) -> f64) {
    let figures = in_turn(names.len(), rounds, measure);
    print!("{}", table(names, &figures, "× the pool's"));
}
