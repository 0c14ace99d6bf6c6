//! Many threads on a small pool.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use kilocore_buffer_pool::{BufferPool, FaultyDisk, Options, PageId, PoolError, WhenPinned};

fn add_one(bytes: &mut [u8]) {
    let value = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
    bytes.fill(0);
    bytes[..8].copy_from_slice(&(value + 1).to_le_bytes());
}

fn value(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"))
}

/// Threads count in pages that do not all fit, while others write back and change the capacity. No count is
/// lost.
#[test]
fn no_change_is_lost() {
    const THREADS: u64 = 4;
    const PAGES: u64 = 40;
    const ROUNDS: u64 = 5_000;
    let options = Options { most: 30, when_pinned: WhenPinned::Wait, ..Options::new(10, 64) };
    let pool = BufferPool::new(FaultyDisk::new(), options).expect("in range");
    let running = AtomicU64::new(THREADS);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (pool, running) = (&pool, &running);
            scope.spawn(move || {
                let mut at = thread;
                for _ in 0..ROUNDS {
                    at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    add_one(&mut pool.write(PageId((at >> 33) % PAGES)).expect("it waits"));
                    drop(pool.read(PageId((at >> 43) % PAGES)).expect("it waits"));
                }
                running.fetch_sub(1, Ordering::Relaxed);
            });
        }
        scope.spawn(|| {
            while running.load(Ordering::Relaxed) > 0 {
                pool.sync().expect("the disk works");
            }
        });
        scope.spawn(|| {
            for capacity in (5..=30).cycle() {
                if running.load(Ordering::Relaxed) == 0 {
                    break;
                }
                pool.resize(capacity).expect("the disk works");
            }
        });
    });
    pool.resize(20).expect("nothing is pinned");
    let total: u64 =
        (0..PAGES).map(|page| value(&pool.read(PageId(page)).expect("there is room"))).sum();
    assert_eq!(total, THREADS * ROUNDS);
}

/// More threads than frames, each with a pin while it asks for nothing more.
#[test]
fn who_waits_for_room_gets_it() {
    let options = Options { when_pinned: WhenPinned::Wait, ..Options::new(2, 64) };
    let pool = BufferPool::new(FaultyDisk::new(), options).expect("in range");
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let pool = &pool;
            scope.spawn(move || {
                for round in 0..2_000 {
                    add_one(&mut pool.write(PageId(thread * 10_000 + round)).expect("it waits"));
                }
            });
        }
    });
    let changed = |page| value(&pool.read(PageId(page)).expect("nothing is pinned"));
    assert_eq!(changed(71_999), 1);
}

/// As many as are counted. One more is a panic, whatever was forgotten before.
#[test]
fn a_page_with_too_many_guards_gets_no_more() {
    const MOST: usize = 262_144;
    let pool = BufferPool::new(FaultyDisk::new(), Options::new(2, 64)).expect("in range");
    add_one(&mut pool.write(PageId(1)).expect("there is room"));
    let pin = pool.pin(PageId(1)).expect("it is there");
    for guard in 1..MOST {
        match guard % 2 {
            0 => std::mem::forget(pool.read(PageId(1)).expect("it is there")),
            _ => std::mem::forget(pin.read()),
        }
    }
    let asks: [&dyn Fn(); 4] = [
        &|| drop(pool.read(PageId(1))),
        &|| drop(pool.write(PageId(1))),
        &|| drop(pool.pin(PageId(1))),
        &|| drop(pin.read()),
    ];
    for ask in asks {
        let refused = catch_unwind(AssertUnwindSafe(ask)).expect_err("there are too many");
        let said = refused.downcast_ref::<String>().expect("a message");
        assert!(said.contains("262144 guards"), "{said}");
    }
    // What the pool itself does with the page is none of them.
    pool.sync().expect("the disk works");
    assert_eq!(pool.statistics().writes, 1);
    assert!(matches!(pool.discard(PageId(1)), Err(PoolError::Pinned(PageId(1)))));
    drop(pin);
    for page in [1, 2] {
        drop(pool.read(PageId(page)).expect("there is room"));
    }
}

#[test]
fn a_sleeper_wakes_when_the_last_pin_goes() {
    let options = Options { when_pinned: WhenPinned::Wait, ..Options::new(1, 64) };
    let pool = BufferPool::new(FaultyDisk::new(), options).expect("in range");
    let pin = pool.pin(PageId(1)).expect("there is room");
    std::thread::scope(|scope| {
        let sleeper = scope.spawn(|| pool.pin(PageId(2)).map(|pin| pin.page()));
        let deadline = Instant::now() + Duration::from_secs(60);
        while pool.statistics().waits == 0 && Instant::now() < deadline {
            std::thread::yield_now();
        }
        assert!(!sleeper.is_finished());
        drop(pin);
        assert_eq!(sleeper.join().expect("it does not panic").expect("it waits"), PageId(2));
    });
}

#[test]
fn who_waits_for_room_is_told_if_there_is_no_capacity_any_more() {
    let options = Options { when_pinned: WhenPinned::Wait, ..Options::new(1, 64) };
    let pool = BufferPool::new(FaultyDisk::new(), options).expect("in range");
    let pin = pool.pin(PageId(1)).expect("there is room");
    std::thread::scope(|scope| {
        let shrinking = scope.spawn(|| pool.resize(0));
        let sleeper = scope.spawn(|| pool.pin(PageId(2)).map(drop));
        while pool.statistics().waits < 2 {
            std::thread::yield_now();
        }
        drop(pin);
        shrinking.join().expect("it does not panic").expect("the page can go");
        // It came before the capacity went, or after.
        let outcome = sleeper.join().expect("it does not panic");
        assert!(matches!(outcome, Ok(()) | Err(PoolError::NoCapacity)), "{outcome:?}");
    });
}

/// Hits on one page are counted in its frame's word, which is full again and again.
#[test]
fn every_hit_is_counted() {
    const ROUNDS: u64 = 10_000;
    let pool = BufferPool::new(FaultyDisk::new(), Options::new(2, 64)).expect("in range");
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    drop(pool.read(PageId(1)).expect("nothing is pinned"));
                }
            });
        }
        // Readers that are hindered take their hit back.
        scope.spawn(|| {
            for _ in 0..ROUNDS {
                drop(pool.write(PageId(1)).expect("nothing is pinned"));
            }
        });
    });
    let counted = pool.statistics();
    assert_eq!((counted.hits + counted.misses, counted.misses), (4 * ROUNDS, 1));
}
