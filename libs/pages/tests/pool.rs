//! Pools of real pages, and many threads.

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeSet;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use kilocore_locks::Ttas;
use kilocore_pages::{
    Buddy, Cold, Contents, LargeBlocks, Linux6_12, OutOfPages, PAGE_BYTES, PagePolicy, PagePool,
    PerCore, PoolError, PoolOptions, TieredOptions,
};
use kilocore_platform::{Native, NodeId};

fn options(pages: u32) -> PoolOptions {
    PoolOptions { guarded: true, ..PoolOptions::new(pages) }
}

fn pool(pages: u32) -> PagePool {
    PagePool::new(&options(pages)).expect("there are addresses for it")
}

#[test]
fn pages_are_zero_whoever_had_them_before() {
    let mut pool = pool(40);
    for round in 0..3 {
        let mut pages: Vec<_> = (0..40).map(|_| pool.allocate().expect("one is free")).collect();
        for page in &mut pages {
            assert!(page.iter().all(|byte| *byte == 0), "round {round}");
            page.fill(0xA5);
        }
        assert_eq!(pool.allocate().err(), Some(OutOfPages));
        drop(pages);
        if round == 1 {
            pool.trim();
        }
    }
    assert_eq!(pool.validate(), 40);
}

#[test]
fn a_page_that_was_released_as_zero_is_not_initialized_again() {
    let pool = pool(4);
    let mut page = pool.allocate().expect("one is free");
    page[7] = 1;
    page[7] = 0;
    // SAFETY: all bytes are zero.
    unsafe { page.release_zero() };
    let (address, contents) = pool.allocate_raw().expect("one is free");
    assert_eq!(contents, Contents::Zero);
    // SAFETY: allocated above.
    unsafe { pool.release_raw(address.cast(), Contents::Unknown) };
    assert!(pool.statistics().zero >= 2);
}

#[test]
fn a_page_can_be_filled_instead_of_initialized() {
    let pool = pool(1);
    pool.allocate().expect("one is free").fill(0xFF);
    let page = pool.allocate_uninit().expect("one is free").copy(b"hello");
    assert_eq!(&page[..6], b"hello\0");
    assert!(page[5..].iter().all(|byte| *byte == 0));
    drop(page);
    let page = pool.allocate_uninit().expect("one is free").zero();
    assert!(page.iter().all(|byte| *byte == 0));
    drop(page);
    drop(pool.allocate_uninit().expect("one is free"));
    assert!(pool.allocate().is_ok_and(|page| page.iter().all(|byte| *byte == 0)));
}

/// A page that nobody has used is known to be zero. That ends as soon as somebody may write to it.
#[test]
fn what_was_written_before_a_page_is_initialized_is_not_taken_for_zero() {
    let pool = pool(8);
    let scribbled = || {
        let mut page = pool.allocate_uninit().expect("one is free");
        page.as_uninit().fill(MaybeUninit::new(0xAA));
        page
    };
    // Held, so that each round gets another page that nobody has used.
    let zeroed = scribbled().zero();
    assert!(zeroed.iter().all(|byte| *byte == 0), "zero() leaves what was written");
    let copied = scribbled().copy(b"hello");
    assert_eq!(&copied[..5], b"hello");
    assert!(copied[5..].iter().all(|byte| *byte == 0), "copy() leaves what was written");
    let forgotten = scribbled();
    drop(forgotten);
    assert!(pool.allocate().is_ok_and(|page| page.iter().all(|byte| *byte == 0)));
}

#[test]
fn runs_are_zero_neighbours_and_their_pieces_can_go_apart() {
    let mut pool = pool(1024);
    for pages in [1, 2, 3, 5, 17, 100, 511, 512] {
        let mut run = pool.allocate_run(pages).expect("there is room");
        assert_eq!(run.len(), pages as usize * PAGE_BYTES);
        assert!(run.iter().all(|byte| *byte == 0), "{pages}");
        run.fill(0x5A);
    }
    assert_eq!(pool.allocate_run(513).err(), Some(OutOfPages));
    let (first, pages) = pool.allocate_run(10).expect("there is room").into_raw();
    // SAFETY: the parts are ours, and add up to the run.
    unsafe {
        pool.release_run_raw(first.add(3 * PAGE_BYTES), pages - 3);
        pool.release_run_raw(first, 3);
        pool.release_run_raw(first, 0);
    }
    assert_eq!(pool.validate(), 1024);
}

#[test]
fn a_pool_without_pages_has_none() {
    let mut pool = pool(0);
    assert_eq!(pool.allocate().err(), Some(OutOfPages));
    assert_eq!(pool.allocate_run(1).err(), Some(OutOfPages));
    assert_eq!(pool.validate(), 0);
}

/// Returns the message of the panic that something ends with.
fn panic_of(run: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(run)).expect_err("it panics");
    payload.downcast_ref::<String>().cloned().unwrap_or_default()
}

#[test]
fn a_guarded_pool_finds_what_is_released_twice() {
    let pool = pool(8);
    let page = pool.allocate().expect("one is free").into_raw().cast();
    // SAFETY: the first release is in order; the second one is refused before it does anything.
    unsafe { pool.release_raw(page, Contents::Unknown) };
    // SAFETY: see above.
    let message = panic_of(|| unsafe { pool.release_raw(page, Contents::Unknown) });
    assert!(message.contains("not allocated"), "{message}");
}

#[test]
fn a_page_of_somebody_else_is_refused() {
    let pool = pool(8);
    let mut other = [0_u8; 2 * PAGE_BYTES];
    // SAFETY: it is refused before anything is done.
    let release = |at: NonNull<u8>| panic_of(|| unsafe { pool.release_raw(at, Contents::Unknown) });
    let message = release(NonNull::from(&mut other[0]));
    assert!(message.contains("not the address of a page of this pool"), "{message}");
    let page = pool.allocate().expect("one is free").into_raw().cast::<u8>();
    // SAFETY: it stays within the page.
    let inside = unsafe { page.add(1) };
    assert!(release(inside).contains("not the address"));
    assert!(pool.owns(page) && !pool.owns(inside) && !pool.owns(NonNull::from(&mut other[0])));
}

#[test]
fn idle_memory_goes_back_and_the_hot_tiers_stay() {
    let mut options = options(4000);
    options.tiers.private_frames = 64;
    options.tiers.shared_frames = 256;
    let pool = PagePool::new(&options).expect("there are addresses for it");
    let mut pages: Vec<_> = (0..4000).map(|_| pool.allocate().expect("one is free")).collect();
    pages.iter_mut().for_each(|page| page.fill(1));
    drop(pages);
    let before = pool.statistics();
    assert_eq!(pool.decay().frames, 0, "what was put back just now is not idle");
    let decayed = pool.decay();
    assert_eq!(decayed.frames, before.cold_now);
    assert!(decayed.calls < decayed.frames / 8, "neighbours go back together: {decayed:?}");
    let after = pool.statistics();
    let hot = after.private_now + after.shared_now;
    assert_eq!(hot, before.private_now + before.shared_now);
    assert_eq!(pool.decay().frames, 0, "it is back already");
    assert_eq!(pool.trim().frames, hot);
    assert!(pool.allocate().is_ok_and(|page| page.iter().all(|byte| *byte == 0)));
}

#[test]
fn counts_say_where_pages_came_from() {
    // One list for all cores, so that it does not matter where the thread runs.
    let tiers = TieredOptions { batch: 1, ..TieredOptions::one_cache(1, 4, 8) };
    let pool = PagePool::new(&PoolOptions { tiers, ..options(100) });
    let pool = pool.expect("there are addresses for it");
    let allocate =
        |count| -> Vec<_> { (0..count).map(|_| pool.allocate().expect("one is free")).collect() };
    let first = allocate(20);
    let now = pool.statistics();
    assert_eq!((now.allocated, now.zero, now.from_cold), (20, 20, 20));
    drop(first);
    // Three stay on the list, eight on the shared one, and the rest is cold again.
    let now = pool.statistics();
    assert_eq!((now.released, now.spilled), (20, 17));
    assert_eq!((now.private_now, now.shared_now, now.cold_now), (3, 8, 89));
    let second = allocate(12);
    let now = pool.statistics();
    assert_eq!((now.allocated, now.from_private(), now.from_shared, now.from_cold), (32, 3, 8, 21));
    drop(second);
}

/// Returns how many of a pool's pages have memory.
fn resident(pool: &PagePool) -> usize {
    let mut each = vec![0_u8; pool.pages() as usize];
    let bytes = each.len() * PAGE_BYTES;
    let first = pool.first_page().as_ptr().cast();
    // SAFETY: the range is mapped, and there is a byte for each of its pages.
    assert_eq!(unsafe { libc::mincore(first, bytes, each.as_mut_ptr()) }, 0);
    each.into_iter().filter(|flags| flags & 1 != 0).count()
}

#[test]
fn memory_that_goes_back_is_no_longer_the_processs() {
    let mut options = options(3000);
    options.tiers.private_frames = 64;
    options.tiers.shared_frames = 256;
    let pool = PagePool::new(&options).expect("there are addresses for it");
    assert_eq!(resident(&pool), 0, "nobody has used a page");
    let mut pages: Vec<_> = (0..3000).map(|_| pool.allocate().expect("one is free")).collect();
    pages.iter_mut().for_each(|page| page[0] = 1);
    let held = pages.split_off(2900);
    assert_eq!(resident(&pool), 3000);
    drop(pages);
    pool.decay();
    pool.decay();
    let now = pool.statistics();
    let hot = (now.private_now + now.shared_now) as usize;
    assert_eq!(resident(&pool), held.len() + hot, "the hot tiers keep theirs: {now:?}");
    pool.trim();
    assert_eq!(resident(&pool), held.len());
}

#[test]
fn more_than_there_are_addresses_for_is_an_error() {
    let too_many = PagePool::new(&options(u32::MAX)).expect_err("there are not so many");
    assert!(matches!(too_many, PoolError::TooManyPages { .. }), "{too_many}");
}

#[test]
fn nodes_that_are_there_can_be_had() {
    let on_node = |node| PagePool::new(&PoolOptions { node: Some(NodeId(node)), ..options(16) });
    assert!(on_node(1000).is_err_and(|error| error.to_string().contains("NUMA node 1000")));
    // A kernel without NUMA has not even node 0.
    if let Ok(pool) = on_node(0) {
        assert!(pool.allocate().is_ok());
    }
}

/// Each thread writes its own number into its pages, and looks whether anybody else's is there.
pub(crate) fn look_for_others<A: PagePolicy>(mut pool: PagePool<A>, threads: u64, time: Duration) {
    let stop = AtomicBool::new(false);
    let pages = pool.pages();
    thread::scope(|scope| {
        for number in 1..=threads {
            let (pool, stop) = (&pool, &stop);
            scope.spawn(move || {
                let mut own = Vec::new();
                let mut random = number;
                while !stop.load(Ordering::Relaxed) {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(number);
                    if random >> 33 & 1 == 0 && own.len() < (u64::from(pages) / threads) as usize {
                        let Ok(mut page) = pool.allocate() else { continue };
                        let words = page.as_chunks_mut::<8>().0;
                        assert!(words.iter().all(|word| *word == [0; 8]), "somebody else's data");
                        words.fill(number.to_ne_bytes());
                        own.push(page);
                    } else if !own.is_empty() {
                        let page = own.swap_remove((random >> 34) as usize % own.len());
                        let words = page.as_chunks::<8>().0;
                        assert!(words.iter().all(|word| *word == number.to_ne_bytes()));
                    }
                    if random >> 50 == 0 {
                        pool.decay();
                    }
                }
            });
        }
        let end = Instant::now() + time;
        while Instant::now() < end {
            pool.tick();
            pool.decay();
            thread::yield_now();
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(pool.validate(), pages, "each page is free in the end");
}

pub(crate) const SHORT: Duration = Duration::from_millis(300);

#[test]
fn nobody_sees_the_data_of_others() {
    let mut small = options(600);
    small.tiers.private_frames = 16;
    small.tiers.shared_frames = 64;
    look_for_others(PagePool::new(&small).expect("there are addresses for it"), 4, SHORT);
}

#[test]
fn nobody_sees_the_data_of_others_under_linuxs_lists() {
    let pool = PagePool::with_policy(&options(600), |pages| {
        let cold =
            Cold::<Native, _>::new(Buddy::<Native, Ttas<Native>>::new(pages), Contents::Zero);
        PerCore::<Native, _, _>::new(2, Linux6_12 { batch: 4, high_min: 8, high_max: 64 }, cold)
    });
    look_for_others(pool.expect("there are addresses for it"), 4, SHORT);
}

#[test]
#[ignore = "takes minutes; `make soak` runs it"]
fn every_page_is_accounted_for_after_a_long_time() {
    let mut options = options(20_000);
    options.tiers.private_frames = 64;
    options.tiers.shared_frames = 2048;
    let pool = PagePool::new(&options).expect("there are addresses for it");
    look_for_others(pool, 8, Duration::from_secs(120));
}

#[test]
fn large_blocks_of_a_program_are_pages() {
    let blocks = LargeBlocks::from_size(System, 1000, 4096);
    let mut addresses = BTreeSet::new();
    for (size, align) in [(4096, 8), (5000, 16), (40_000, 4096), (8192, 65_536), (1 << 21, 8)] {
        let layout = Layout::from_size_align(size, align).expect("it is a layout");
        // SAFETY: the size is not zero; the block is used with its layout and freed once.
        unsafe {
            let block = NonNull::new(blocks.alloc_zeroed(layout)).expect("there is memory");
            assert!(blocks.pool().is_some_and(|pool| pool.owns(block)));
            assert!(block.addr().get().is_multiple_of(align), "{align}");
            let bytes = NonNull::slice_from_raw_parts(block, size).as_mut();
            assert!(bytes.iter().all(|byte| *byte == 0), "{size}");
            bytes.fill(7);
            addresses.insert(block);
            let more = NonNull::new(blocks.realloc(block.as_ptr(), layout, size + 10_000));
            let more = more.expect("there is memory");
            let larger = Layout::from_size_align(size + 10_000, align).expect("it is a layout");
            assert!(
                NonNull::slice_from_raw_parts(more, size).as_ref().iter().all(|byte| *byte == 7)
            );
            blocks.dealloc(more.as_ptr(), larger);
        }
    }
    assert!(!addresses.is_empty());
    let small = Layout::from_size_align(64, 8).expect("it is a layout");
    // SAFETY: as above.
    unsafe {
        let block = NonNull::new(blocks.alloc(small)).expect("there is memory");
        assert!(blocks.pool().is_some_and(|pool| !pool.owns(block)));
        blocks.dealloc(block.as_ptr(), small);
    }
    let now = blocks.pool().expect("it was made").statistics();
    assert_eq!(now.allocated - now.released, 0, "all blocks are free: {now:?}");
}
