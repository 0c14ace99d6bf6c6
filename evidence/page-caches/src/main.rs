//! The buffer pool beside `quick_cache`, `moka` and `foyer` used as caches of pages of 4 KiB.
//!
//! * **Hits**: threads read pages that are all in memory, in random order.
//! * **Inserts**: threads put in pages that are not, one after the other, and others have to go.

mod caches;
mod rounds;

use caches::{PageCache, foyer, moka, pool, quick};
use rounds::{Figures, Scattered, timed};

const ROUNDS: usize = 15;
const OPERATIONS: u64 = 400_000;
/// The capacity of the caches that are hit, in pages.
const HOT: u32 = 20_000;
/// The capacity of those that pages are put into.
const SMALL: u32 = 4_000;

/// A cache, and its name.
struct Subject {
    name: &'static str,
    new: fn(u32) -> Box<dyn Each>,
}

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
                sum += u64::from(self.hit(numbers.next() % u64::from(HOT / 2)));
            }
            assert_eq!(sum, 0);
        })
    }

    fn warm(&self) {
        (0..u64::from(HOT / 2)).for_each(|page| self.insert(page));
        assert_eq!(self.present(u64::from(HOT / 2)), u64::from(HOT / 2));
    }

    fn inserts(&self, threads: u64, first: u64) -> f64 {
        let each = OPERATIONS / 4;
        timed(threads, each, &|thread| {
            for page in 0..each {
                self.insert(first + thread * each + page);
            }
        })
    }
}

const SUBJECTS: [Subject; 4] = [
    Subject { name: "buffer pool", new: |capacity| Box::new(pool(capacity)) },
    Subject { name: "quick_cache", new: |capacity| Box::new(quick(capacity)) },
    Subject { name: "moka", new: |capacity| Box::new(moka(capacity)) },
    Subject { name: "foyer", new: |capacity| Box::new(foyer(capacity)) },
];

fn main() {
    for threads in [1, 2] {
        let caches: Vec<_> = SUBJECTS.iter().map(|subject| (subject.new)(HOT)).collect();
        for cache in &caches {
            cache.warm();
        }
        report("hit", threads, |index, _| caches[index].hits(threads));
    }
    for threads in [1, 2] {
        let caches: Vec<_> = SUBJECTS.iter().map(|subject| (subject.new)(SMALL)).collect();
        report("insert", threads, |index, round| {
            caches[index].inserts(threads, round as u64 * 100 * OPERATIONS)
        });
    }
}

/// Measures, and prints nanoseconds for an operation of one thread.
fn report(what: &str, threads: u64, measure: impl Fn(usize, usize) -> f64) {
    let mut figures = vec![Figures::default(); SUBJECTS.len()];
    for round in 0..ROUNDS {
        for (index, figures) in figures.iter_mut().enumerate() {
            figures.0.push(measure(index, round));
        }
    }
    for (subject, own) in SUBJECTS.iter().zip(&figures) {
        let [low, median, high] = own.quartiles();
        let [_, ratio, _] = own.over(&figures[0]).quartiles();
        println!(
            "{what:8} {threads} threads  {:12} {median:8.1} ns ({low:.1} to {high:.1})  {ratio:.2}",
            subject.name
        );
    }
}
