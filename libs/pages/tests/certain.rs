//! Pages that somebody asks for by their addresses, and pages whose contents are known.

use std::ptr::NonNull;

use kilocore_pages::{Contents, PAGE_BYTES, PagePool, PoolOptions, TieredOptions};

fn pool(pages: u32) -> PagePool {
    let mut options = PoolOptions::new(pages);
    options.tiers = TieredOptions::one_cache(2, 16, 64);
    PagePool::new(&options).expect("there are addresses")
}

fn page(pool: &PagePool, number: u32) -> NonNull<u8> {
    // SAFETY: the pool has such a page.
    unsafe { pool.first_page().add(number as usize * PAGE_BYTES) }
}

#[test]
fn certain_pages_are_found_wherever_they_are_free() {
    let mut pool = pool(1000);
    // Some are on a core's list and on the shared one.
    let pages: Vec<_> = (0..60).map(|_| pool.allocate().expect("a page")).collect();
    drop(pages);
    for (first, count) in [(0, 1), (0, 60), (3, 200), (63, 2), (64, 64), (999, 1), (0, 1000)] {
        assert!(pool.allocate_these(page(&pool, first), count), "{first} {count}");
        // They are taken now, and so is any part of them.
        assert!(!pool.allocate_these(page(&pool, first), count), "{first} {count}");
        assert!(!pool.allocate_these(page(&pool, first + count - 1), 1), "{first} {count}");
        // SAFETY: they were allocated above.
        unsafe { pool.release_run_raw(page(&pool, first), count) };
    }
    assert_eq!(pool.validate(), 1000);
}

#[test]
fn none_are_taken_if_one_is_not_free() {
    let mut pool = pool(512);
    assert!(pool.allocate_these(page(&pool, 300), 1));
    assert!(!pool.allocate_these(page(&pool, 10), 400));
    assert!(pool.allocate_these(page(&pool, 10), 290));
    // SAFETY: they were allocated above.
    unsafe {
        pool.release_run_raw(page(&pool, 10), 290);
        pool.release_run_raw(page(&pool, 300), 1);
    }
    assert_eq!(pool.validate(), 512);
}

#[test]
fn what_is_known_of_pages_is_told() {
    let pool = pool(64);
    let contents = |pages| {
        let mut told = Vec::new();
        let first = pool.allocate_run_with(pages, |_, contents| told.push(contents));
        (first.expect("there are pages"), told)
    };
    let (first, told) = contents(40);
    assert_eq!(told, [Contents::Zero; 40]);
    // SAFETY: the pages were allocated above, and are released once.
    unsafe {
        pool.release_run_as(first, 10, Contents::Zero);
        first.add(10 * PAGE_BYTES).write_bytes(1, 30 * PAGE_BYTES);
        pool.release_run_as(first.add(10 * PAGE_BYTES), 30, Contents::Unknown);
    }
    let (first, told) = contents(64);
    let unknown = told.iter().filter(|contents| **contents == Contents::Unknown).count();
    assert_eq!((told.len(), unknown), (64, 30));
    // SAFETY: as above.
    unsafe { pool.release_run_raw(first, 64) };
}
