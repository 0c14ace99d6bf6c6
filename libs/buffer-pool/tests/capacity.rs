//! Capacities at the edges, all pages pinned, and capacities that change.

use kilocore_buffer_pool::{
    BufferPool, FaultyDisk, Options, OptionsError, PageId, PoolError, WhenPinned,
};

fn pool(options: Options) -> BufferPool<FaultyDisk> {
    BufferPool::new(FaultyDisk::new(), options).expect("the options are in range")
}

#[test]
fn options_out_of_range_are_refused() {
    let refused = |options| BufferPool::new(FaultyDisk::new(), options).err();
    let good = Options::new(4, 512);
    assert!(matches!(refused(Options { page_bytes: 0, ..good }), Some(OptionsError::NoPageBytes)));
    assert!(matches!(refused(Options { cores: 0, ..good }), Some(OptionsError::NoCores)));
    let less = Options { most: 3, ..good };
    assert!(matches!(refused(less), Some(OptionsError::CapacityBeyondMost)));
    for most in [(1 << 30) - 1, u32::MAX] {
        let refused = refused(Options { most, ..good });
        assert!(matches!(refused, Some(OptionsError::Frames(frames)) if frames == most));
    }
    let memory = Options { page_bytes: usize::MAX / 2, ..good };
    assert!(matches!(refused(memory), Some(OptionsError::NoMemory)));
}

#[test]
fn without_capacity_there_is_no_page() {
    for when_pinned in [WhenPinned::Fail, WhenPinned::Wait] {
        let pool = pool(Options { most: 1, when_pinned, ..Options::new(0, 512) });
        assert!(matches!(pool.read(PageId(1)), Err(PoolError::NoCapacity)));
        pool.resize(1).expect("it is the most");
        assert_eq!(pool.read(PageId(1)).expect("there is room")[0], 0);
    }
}

#[test]
fn one_frame_serves_one_page_after_the_other() {
    let pool = pool(Options { cores: 64, ..Options::new(1, 512) });
    for number in 0..10 {
        pool.write(PageId(number)).expect("there is room")[0] = number as u8;
    }
    for number in 0..10 {
        assert_eq!(pool.read(PageId(number)).expect("there is room")[0], number as u8);
    }
    assert!(pool.contains(PageId(9)) && !pool.contains(PageId(8)));
}

#[test]
fn all_frames_are_used_before_a_page_has_to_go() {
    for (capacity, cores) in [(1, 1), (3, 64), (1000, 3), (100, 300)] {
        let pool = pool(Options { cores, ..Options::new(capacity, 16) });
        for page in 0..u64::from(capacity) {
            drop(pool.read(PageId(page)));
        }
        assert_eq!(pool.statistics().evictions, 0, "{capacity} frames, {cores} cores");
        drop(pool.read(PageId(1 << 40)));
        assert!(pool.statistics().evictions >= 1);
    }
}

#[test]
fn if_all_pages_are_pinned_that_is_an_error() {
    let pool = pool(Options::new(3, 512));
    let pins: Vec<_> = (0..3).map(|page| pool.pin(PageId(page)).expect("there is room")).collect();
    assert!(matches!(pool.read(PageId(3)), Err(PoolError::AllPinned)));
    // Those that are there can be had, and written, all the same.
    pool.write(PageId(1)).expect("it is there")[0] = 1;
    assert_eq!(pins[1].read()[0], 1);
    assert!(matches!(pool.discard(PageId(1)), Err(PoolError::Pinned(PageId(1)))));
    drop(pins);
    drop(pool.read(PageId(3)).expect("there is room now"));
}

#[test]
fn a_smaller_pool_keeps_what_was_written() {
    let pool = pool(Options { most: 200, ..Options::new(100, 512) });
    for number in 0..100 {
        pool.write(PageId(number)).expect("there is room")[0] = number as u8;
    }
    for capacity in [7, 200, 1, 0, 50] {
        pool.resize(capacity).expect("nothing is pinned");
        assert_eq!(pool.capacity(), capacity);
    }
    for number in 0..100 {
        assert_eq!(pool.read(PageId(number)).expect("there is room")[0], number as u8);
    }
    let beyond = pool.resize(201);
    assert!(matches!(beyond, Err(PoolError::BeyondMost { asked: 201, most: 200 })));
}

#[test]
fn a_pool_shrinks_as_far_as_pins_allow() {
    let pool = pool(Options::new(10, 512));
    let pins: Vec<_> = (0..4).map(|page| pool.pin(PageId(page)).expect("there is room")).collect();
    assert!(matches!(pool.resize(2), Err(PoolError::AllPinned)));
    assert_eq!(pool.capacity(), 4);
    drop(pins);
    pool.resize(2).expect("nothing is pinned");
}

#[test]
fn a_discarded_page_is_read_anew_and_makes_room_first() {
    let pool = pool(Options::new(4, 512));
    for number in 0..4 {
        pool.write(PageId(number)).expect("there is room")[0] = 9;
    }
    pool.discard(PageId(3)).expect("nobody has pinned it");
    pool.discard(PageId(30)).expect("it is not there");
    assert!(!pool.contains(PageId(3)));
    drop(pool.read(PageId(4)));
    assert_eq!(pool.statistics().writes, 0, "no other page had to go");
    assert_eq!(pool.read(PageId(3)).expect("there is room")[0], 0, "it was not written");
}

#[test]
fn a_created_page_is_not_read() {
    let pool = pool(Options::new(2, 512));
    pool.store().fail_reads(true);
    pool.create(PageId(5)).expect("there is room")[1] = 1;
    assert_eq!(pool.read(PageId(5)).expect("it is there")[..3], [0, 1, 0]);
    pool.create(PageId(5)).expect("it is there")[2] = 1;
    assert_eq!(pool.read(PageId(5)).expect("it is there")[..3], [0, 0, 1]);
}

#[test]
fn a_created_page_is_zeros_for_the_store_too() {
    let pool = pool(Options::new(1, 512));
    for number in 1..3 {
        pool.write(PageId(number)).expect("there is room").fill(9);
    }
    // In memory, and not.
    for number in [2, 1] {
        drop(pool.create(PageId(number)).expect("there is room"));
    }
    for number in 1..3 {
        assert_eq!(pool.read(PageId(number)).expect("there is room")[..], [0; 512]);
    }
}

#[test]
fn the_largest_number_is_no_page() {
    let pool = pool(Options::new(2, 512));
    let none = PageId(u64::MAX);
    assert!(matches!(pool.read(none), Err(PoolError::NoSuchPage)));
    assert!(!pool.contains(none) && pool.discard(none).is_ok());
    assert!(!pool.write_back(none).expect("nothing is written"));
}
