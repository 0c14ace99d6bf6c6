//! The disk that fails: each thing that it does, as its documentation has it.

use std::collections::BTreeSet;

use kilocore_buffer_pool::{BufferPool, FaultyDisk, Options, PageId, PoolError, Store};

use crate::chooser::chooser;

/// Bytes of a page: two sectors.
const PAGE: usize = 1024;
const SEEDS: u64 = 1000;

/// What the two sectors of a page are full of.
type Found = [u8; 2];

fn write(disk: &FaultyDisk, page: u64, value: u8) {
    disk.write(PageId(page), &[value; PAGE]).expect("the disk works");
}

fn read(disk: &FaultyDisk, page: u64) -> Found {
    let mut bytes = [0; PAGE];
    disk.read(PageId(page), &mut bytes).expect("the disk works");
    let (first, second) = bytes.split_at(PAGE / 2);
    assert!(first.iter().all(|byte| *byte == first[0]), "sectors are not torn");
    assert!(second.iter().all(|byte| *byte == second[0]), "sectors are not torn");
    [first[0], second[0]]
}

/// A disk on which a page is 1, durably, and was then made 2.
fn one_then_two(seed: u64) -> FaultyDisk {
    let disk = FaultyDisk::with_seed(seed);
    write(&disk, 7, 1);
    disk.sync().expect("the disk works");
    write(&disk, 7, 2);
    disk
}

fn power_fails(disk: FaultyDisk, seed: u64) -> FaultyDisk {
    disk.after_power_failure(&mut chooser(seed))
}

/// What becomes of a page with all seeds.
fn all(mut outcome: impl FnMut(u64) -> Found) -> BTreeSet<Found> {
    (0..SEEDS).map(&mut outcome).collect()
}

const OLD_NEW_AND_TORN: [Found; 4] = [[1, 1], [1, 2], [2, 1], [2, 2]];

#[test]
fn a_failed_sync_leaves_a_page_that_is_shown_and_not_there() {
    let found = all(|seed| {
        let disk = one_then_two(seed);
        disk.fail_syncs(true);
        disk.sync().expect_err("it was told to fail");
        assert_eq!(disk.losses(), 1);
        // The system takes the page for clean, even while the disk still fails.
        disk.sync().expect("nothing is dirty");
        disk.fail_syncs(false);
        disk.sync().expect("nothing is dirty");
        assert_eq!(read(&disk, 7), [2, 2], "the cache shows what was written");
        read(&power_fails(disk, seed), 7)
    });
    assert_eq!(found, BTreeSet::from(OLD_NEW_AND_TORN));
}

#[test]
fn a_lost_page_is_durable_if_it_is_written_again() {
    for seed in 0..SEEDS {
        let disk = one_then_two(seed);
        disk.fail_once_after(0);
        disk.sync().expect_err("it fails once");
        write(&disk, 7, 2);
        disk.sync().expect("the disk works");
        assert_eq!(read(&power_fails(disk, seed), 7), [2, 2]);
    }
}

#[test]
fn a_lost_page_comes_back_as_it_was_if_the_cache_forgets_it() {
    let found = all(|seed| {
        let disk = one_then_two(seed);
        disk.fail_once_after(0);
        disk.sync().expect_err("it fails once");
        disk.drop_cache();
        let found = read(&disk, 7);
        disk.sync().expect("nothing is dirty");
        assert_eq!(read(&power_fails(disk, seed), 7), found, "the sync made that durable");
        found
    });
    assert_eq!(found, BTreeSet::from(OLD_NEW_AND_TORN));
    // What is dirty, it cannot forget.
    let disk = one_then_two(0);
    disk.drop_cache();
    assert_eq!(read(&disk, 7), [2, 2]);
}

#[test]
fn of_many_pages_a_failed_sync_loses_some() {
    let (mut lost, mut outcomes) = (BTreeSet::new(), BTreeSet::new());
    for seed in 0..SEEDS {
        let disk = FaultyDisk::with_seed(seed);
        (0..4).for_each(|page| write(&disk, page, 1));
        disk.fail_once_after(0);
        disk.sync().expect_err("it fails once");
        lost.insert(disk.losses());
        // Now the others are durable.
        disk.sync().expect("the disk works");
        let disk = power_fails(disk, seed);
        outcomes.insert((0..4).filter(|page| read(&disk, *page) == [1, 1]).count());
    }
    assert_eq!(lost, (1..=4).collect());
    assert_eq!(outcomes, (0..=4).collect());
}

#[test]
fn what_the_system_could_not_write_the_next_sync_says_once() {
    let disk = one_then_two(1);
    disk.lose_writes();
    assert_eq!(disk.losses(), 1);
    disk.sync().expect_err("the system could not write the page");
    disk.sync().expect("it was said");
    // Nothing is lost if nothing is dirty.
    disk.lose_writes();
    disk.sync().expect("there was nothing to lose");
    assert_eq!(disk.losses(), 1);
}

#[test]
fn a_failure_that_nobody_was_told_of_the_next_program_is_or_nobody() {
    let told = |seed| {
        let disk = one_then_two(seed);
        disk.lose_writes();
        let disk = disk.after_kill();
        let seen = read(&disk, 7);
        let told = disk.sync().is_err();
        assert!(!told || seen == [2, 2], "the system knows of the file still");
        disk.sync().expect("it is said once");
        told
    };
    assert_eq!((0..SEEDS).map(told).collect::<BTreeSet<_>>(), BTreeSet::from([false, true]));
}

#[test]
fn a_killed_programs_writes_are_there_and_not_durable() {
    let found = all(|seed| {
        let disk = one_then_two(seed).after_kill();
        assert_eq!(read(&disk, 7), [2, 2]);
        read(&power_fails(disk, seed), 7)
    });
    assert_eq!(found, BTreeSet::from(OLD_NEW_AND_TORN));
    for seed in 0..SEEDS {
        let disk = one_then_two(seed).after_kill();
        disk.sync().expect("the disk works");
        assert_eq!(read(&power_fails(disk, seed), 7), [2, 2], "the next program made it durable");
    }
}

#[test]
fn a_write_that_does_not_come_to_its_end_leaves_a_part() {
    let fail = [
        |disk: &FaultyDisk| disk.fail_writes(true),
        |disk: &FaultyDisk| disk.fail_once_after(0),
        |disk: &FaultyDisk| disk.fail_power_after(0),
    ];
    for fail in fail {
        let found = all(|seed| {
            let disk = FaultyDisk::with_seed(seed);
            write(&disk, 7, 1);
            disk.sync().expect("the disk works");
            fail(&disk);
            disk.write(PageId(7), &[2; PAGE]).expect_err("it fails");
            read(&disk.after_kill(), 7)
        });
        assert_eq!(found, BTreeSet::from(OLD_NEW_AND_TORN));
    }
}

#[test]
fn pages_reach_the_disk_in_any_order() {
    let mut found = BTreeSet::new();
    for seed in 0..SEEDS {
        let disk = FaultyDisk::with_seed(seed);
        write(&disk, 1, 1);
        write(&disk, 2, 1);
        let disk = power_fails(disk, seed);
        found.insert((read(&disk, 1), read(&disk, 2)));
    }
    let whole = [[0, 0], [1, 1]];
    let each = whole.iter().flat_map(|one| whole.map(|other| (*one, other)));
    assert!(each.into_iter().all(|outcome| found.contains(&outcome)), "{found:?}");
}

#[test]
fn the_power_fails_again_before_anything_is_synced() {
    let found = all(|seed| {
        let disk = one_then_two(seed);
        disk.fail_power_after(0);
        disk.sync().expect_err("the power fails");
        let disk = power_fails(disk, seed);
        let once = read(&disk, 7);
        write(&disk, 7, 3);
        disk.fail_power_after(0);
        disk.sync().expect_err("the power fails again");
        let twice = read(&power_fails(disk, seed + SEEDS), 7);
        for (before, after) in once.into_iter().zip(twice) {
            assert!(after == before || after == 3, "what survived once is durable");
        }
        twice
    });
    assert!(found.contains(&[1, 1]) && found.contains(&[3, 3]) && found.contains(&[1, 3]));
}

#[test]
fn once_it_is_stopped_it_does_nothing() {
    let disk = one_then_two(1);
    disk.fail_power_after(1);
    write(&disk, 8, 1);
    disk.sync().expect_err("the power fails");
    disk.write(PageId(9), &[1; PAGE]).expect_err("there is no power");
    disk.read(PageId(7), &mut [0; PAGE]).expect_err("there is no power");
    assert_eq!(disk.operations(), 6);
    assert_eq!(read(&disk.after_kill(), 9), [0, 0]);
}

/// Why a program cannot learn from a new pool what is durable.
#[test]
fn a_new_pool_after_a_failed_sync_shows_what_is_not_durable() {
    let pool = |disk| BufferPool::new(disk, Options::new(4, PAGE)).expect("they are in range");
    let mut gone = 0;
    for seed in 0..SEEDS {
        let first = pool(FaultyDisk::with_seed(seed));
        first.write(PageId(7)).expect("there is room").fill(1);
        first.store().fail_once_after(1);
        assert!(matches!(first.sync(), Err(PoolError::Sync(_))));
        let second = pool(first.into_store().after_kill());
        let seen = second.read(PageId(7)).expect("the disk works")[0];
        second.sync().expect("the disk works");
        let disk = power_fails(second.into_store(), seed);
        gone += u32::from(seen == 1 && read(&disk, 7) != [1, 1]);
        // If the page is written again, it is.
        let third = pool(disk);
        third.write(PageId(7)).expect("there is room").fill(1);
        third.sync().expect("the disk works");
        assert_eq!(read(&power_fails(third.into_store(), seed), 7), [1, 1]);
    }
    assert!(gone > 0);
}
