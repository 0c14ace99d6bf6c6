//! The pool beside a plain map of pages.

use std::collections::BTreeMap;

use kilocore_buffer_pool::{BufferPool, FaultyDisk, Options, PageId, PoolError};
use proptest::prelude::*;

const MOST: u32 = 6;

/// What a program may do.
#[derive(Debug, Clone)]
enum Step {
    Read(u64),
    Write(u64, u8),
    Create(u64, u8),
    Pin(u64),
    Unpin(usize),
    Discard(u64),
    WriteBack(u64),
    WriteBackSome(u32),
    Sync,
    Resize(u32),
    FailWrites(bool),
    FailReads(bool),
}

fn step() -> impl Strategy<Value = Step> {
    let page = 0..12u64;
    prop_oneof![
        6 => page.clone().prop_map(Step::Read),
        6 => (page.clone(), any::<u8>()).prop_map(|(page, value)| Step::Write(page, value)),
        1 => (page.clone(), any::<u8>()).prop_map(|(page, value)| Step::Create(page, value)),
        2 => page.clone().prop_map(Step::Pin),
        2 => any::<usize>().prop_map(Step::Unpin),
        1 => page.clone().prop_map(Step::Discard),
        1 => page.prop_map(Step::WriteBack),
        1 => (0..4u32).prop_map(Step::WriteBackSome),
        1 => Just(Step::Sync),
        1 => (0..=MOST).prop_map(Step::Resize),
        1 => any::<bool>().prop_map(Step::FailWrites),
        1 => any::<bool>().prop_map(Step::FailReads),
    ]
}

/// What each page may have: its last value, or, if it was discarded, an earlier one.
type Values = BTreeMap<u64, Vec<u8>>;

fn check_value(values: &mut Values, page: u64, found: u8) {
    let possible = values.entry(page).or_insert_with(|| vec![0]);
    assert!(possible.contains(&found), "page {page}: {found}, not one of {possible:?}");
    *possible = vec![found];
}

/// An error must have a reason.
fn check_error(error: &PoolError, pins: usize, capacity: u32, writes_fail: bool, reads_fail: bool) {
    match error {
        PoolError::NoCapacity => assert_eq!(capacity, 0),
        PoolError::AllPinned => assert!(pins >= capacity as usize),
        PoolError::Read(..) => assert!(reads_fail),
        PoolError::Write(..) => assert!(writes_fail),
        other => panic!("{other:?}"),
    }
}

fn run(capacity: u32, steps: &[Step]) {
    let options = Options { most: MOST, cores: 2, ..Options::new(capacity, 8) };
    let pool = BufferPool::new(FaultyDisk::new(), options).expect("they are in range");
    let mut values = Values::new();
    let mut pins = Vec::new();
    let (mut writes_fail, mut reads_fail) = (false, false);
    for step in steps {
        let capacity = pool.capacity();
        let pinned: std::collections::BTreeSet<PageId> =
            pins.iter().map(kilocore_buffer_pool::Pinned::page).collect();
        let pinned_count = pinned.len();
        let explain = |error: &PoolError| {
            check_error(error, pinned_count, capacity, writes_fail, reads_fail);
        };
        match *step {
            Step::Read(page) => match pool.read(PageId(page)) {
                Ok(guard) => check_value(&mut values, page, guard[0]),
                Err(error) => explain(&error),
            },
            Step::Write(page, value) => match pool.write(PageId(page)) {
                Ok(mut guard) => {
                    check_value(&mut values, page, guard[0]);
                    guard[0] = value;
                    values.insert(page, vec![value]);
                }
                Err(error) => explain(&error),
            },
            Step::Create(page, value) => match pool.create(PageId(page)) {
                Ok(mut guard) => {
                    assert_eq!(guard[0], 0);
                    guard[0] = value;
                    values.insert(page, vec![value]);
                }
                Err(error) => explain(&error),
            },
            Step::Pin(page) => match pool.pin(PageId(page)) {
                Ok(pin) => {
                    check_value(&mut values, page, pin.read()[0]);
                    pins.push(pin);
                }
                Err(error) => explain(&error),
            },
            Step::Unpin(which) => {
                if !pins.is_empty() {
                    drop(pins.swap_remove(which % pins.len()));
                }
            }
            Step::Discard(page) => match pool.discard(PageId(page)) {
                Ok(()) => {
                    // What was written back before is not known here.
                    values.insert(page, (0..=u8::MAX).collect());
                    assert!(!pool.contains(PageId(page)));
                }
                Err(error) => {
                    assert!(matches!(error, PoolError::Pinned(_)));
                    assert!(pinned.contains(&PageId(page)));
                }
            },
            Step::WriteBack(page) => {
                let _ = pool.write_back(PageId(page)).map_err(|error| explain(&error));
            }
            Step::WriteBackSome(most) => {
                let _ = pool.write_back_some(most).map_err(|error| explain(&error));
            }
            Step::Sync => match pool.sync() {
                Ok(()) => assert_eq!(pool.statistics().dirty, 0),
                Err(error) => explain(&error),
            },
            Step::Resize(capacity) => match pool.resize(capacity) {
                Ok(()) => assert_eq!(pool.capacity(), capacity),
                Err(PoolError::AllPinned) => assert!(pinned.len() > capacity as usize),
                Err(error) => explain(&error),
            },
            Step::FailWrites(fail) => {
                writes_fail = fail;
                pool.store().fail_writes(fail);
            }
            Step::FailReads(fail) => {
                reads_fail = fail;
                pool.store().fail_reads(fail);
            }
        }
    }
    drop(pins);
    pool.store().fail_writes(false);
    pool.store().fail_reads(false);
    pool.sync().expect("nothing fails any more");
    pool.resize(1).expect("nothing is pinned");
    for page in 0..12 {
        let found = pool.read(PageId(page)).expect("nothing fails any more")[0];
        check_value(&mut values, page, found);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn every_page_has_what_was_written_last(
        capacity in 0..=MOST,
        steps in prop::collection::vec(step(), 0..80),
    ) {
        run(capacity, &steps);
    }
}
