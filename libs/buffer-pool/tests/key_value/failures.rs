//! What becomes of the tree if a commit fails, and the program goes on, or another one does.

use std::io;

use kilocore_buffer_pool::{BufferPool, FaultyDisk, Options, PageId, PoolError, Store};

use super::program::node::{Node, PAGE};
use super::program::root::Root;
use super::program::tree::{Tree, TreeError};
use super::{Map, contents, open};
use crate::chooser::chooser;

/// Gives twenty keys a value that is full of this byte. Returns at the first error.
fn fill(tree: &Tree<FaultyDisk>, value: u8) -> Result<(), TreeError> {
    (0..20).try_for_each(|key| tree.put(&[key], &[value; 600]))
}

fn all(value: u8) -> Map {
    (0..20).map(|key| (vec![key], vec![value; 600])).collect()
}

/// A tree of which a state is durable, all ones, and another one is not yet, all twos.
fn one_then_two(seed: u64) -> Tree<FaultyDisk> {
    let tree = open(FaultyDisk::with_seed(seed));
    fill(&tree, 1).and_then(|()| tree.commit()).expect("the disk works");
    fill(&tree, 2).expect("the disk works");
    tree
}

/// How many operations the commit of the twos takes.
fn operations() -> u64 {
    let tree = one_then_two(0);
    let before = tree.pool().store().operations();
    tree.commit().expect("the disk works");
    tree.pool().store().operations() - before
}

/// How programs may end, one after the other.
const ENDS: [&str; 3] = ["killed", "power", "killed, then power"];

fn end(disk: FaultyDisk, how: &str, seed: u64) -> FaultyDisk {
    match how {
        "killed" => disk.after_kill(),
        "power" => disk.after_power_failure(&mut chooser(seed)),
        _ => disk.after_kill().after_power_failure(&mut chooser(seed)),
    }
}

#[test]
fn whatever_in_a_commit_fails_once_the_program_may_go_on() {
    for (operation, seed) in (0..operations()).flat_map(|n| (0..20).map(move |seed| (n, seed))) {
        for how in ENDS {
            let tree = one_then_two(seed);
            tree.pool().store().fail_once_after(operation);
            tree.commit().expect_err("an operation failed");
            // After a sync that failed this does, too.
            let goes_on = fill(&tree, 3).is_ok();
            let disk = end(tree.into_pool().into_store(), how, seed);
            let found = contents(&open(disk));
            let possible = [all(1), all(2)];
            assert!(possible.contains(&found), "{how} after {operation}, {seed}, {goes_on}");
        }
    }
}

#[test]
fn a_root_that_could_not_be_written_is_written_before_the_next_change() {
    let tree = one_then_two(0);
    // All but the root's sync and its write.
    tree.pool().store().fail_once_after(operations() - 2);
    assert!(matches!(tree.commit(), Err(TreeError::Pool(PoolError::Write(..)))));
    fill(&tree, 3).expect("the disk works again");
    let disk = end(tree.into_pool().into_store(), "power", 0);
    assert_eq!(contents(&open(disk)), all(2));
}

#[test]
fn after_a_failed_sync_nothing_can_be_changed() {
    for operation in [operations() - 1, operations() - 3] {
        let tree = one_then_two(0);
        tree.pool().store().fail_once_after(operation);
        assert!(matches!(tree.commit(), Err(TreeError::Pool(PoolError::Sync(_)))));
        let again = tree.commit();
        assert!(matches!(again, Err(TreeError::Pool(PoolError::SyncFailedBefore))));
        assert_eq!(contents(&tree), all(2), "it can be read");
        let disk = end(tree.into_pool().into_store(), "power", 0);
        assert!([all(1), all(2)].contains(&contents(&open(disk))));
    }
}

#[test]
fn wherever_a_program_is_killed_the_next_one_builds_on_what_is_durable() {
    for (operation, seed) in (0..operations()).flat_map(|n| (0..20).map(move |seed| (n, seed))) {
        for how in ENDS {
            let tree = one_then_two(seed);
            tree.pool().store().fail_power_after(operation);
            tree.commit().expect_err("it was killed");
            let tree = open(tree.into_pool().into_store().after_kill());
            let built_on = contents(&tree);
            fill(&tree, 3).expect("the disk works");
            let disk = end(tree.into_pool().into_store(), how, seed);
            assert_eq!(contents(&open(disk)), built_on, "{how} after {operation}, {seed}");
        }
    }
}

/// The system shows the newer root, and takes it for clean.
#[test]
fn a_root_whose_sync_failed_is_made_durable_by_who_builds_on_it() {
    let mut newer = 0;
    for seed in 0..100 {
        let tree = one_then_two(seed);
        tree.pool().store().fail_once_after(operations() - 1);
        tree.commit().expect_err("the sync failed");
        let tree = open(tree.into_pool().into_store().after_kill());
        let built_on = contents(&tree);
        newer += u32::from(built_on == all(2));
        fill(&tree, 3).expect("the disk works");
        let disk = end(tree.into_pool().into_store(), "power", seed);
        assert_eq!(contents(&open(disk)), built_on, "{seed}");
    }
    assert!(newer > 0);
}

#[test]
fn the_power_may_fail_again_while_a_tree_is_recovered() {
    let points = (0..operations()).flat_map(|n| (0..24).step_by(3).map(move |again| (n, again)));
    for (operation, again) in points {
        let ends = ENDS.iter().flat_map(|how| ENDS.map(|then| (*how, then)));
        for (seed, (how, then)) in (0..).zip(ends) {
            let tree = one_then_two(seed);
            tree.pool().store().fail_power_after(operation);
            tree.commit().expect_err("it was stopped");
            let disk = end(tree.into_pool().into_store(), how, seed);
            disk.fail_power_after(again);
            let tree = open(disk);
            let built_on = contents(&tree);
            let changed = tree.put(&[0], &[3; 600]).is_ok();
            let is_committed = fill(&tree, 3).and_then(|()| tree.commit()).is_ok();
            let disk = end(tree.into_pool().into_store(), then, seed + 1);
            let found = contents(&open(disk));
            let may_be = match (is_committed, changed) {
                (true, _) => found == all(3),
                (false, true) => found == built_on || found == all(3),
                (false, false) => found == all(1) || found == all(2),
            };
            assert!(may_be, "{how} after {operation}, {then} after {again}");
        }
    }
}

/// Makes a page a branch with two ways to the same page.
fn branch(page: &mut [u8], to: u64) {
    let children = [0, 1].map(|key| (vec![key], PageId(to)));
    Node::branch(children.to_vec()).encode(page);
}

/// The system may show an old version of a page that it lost, which leads anywhere.
#[test]
fn who_is_led_in_a_circle_is_told() {
    let tree = one_then_two(0);
    tree.commit().expect("the disk works");
    let pool = tree.pool();
    let top = [0, 1].map(|page| {
        let bytes = pool.read(PageId(page)).expect("the disk works");
        Root::decode(bytes.first_chunk().expect("a page")).expect("it is whole")
    });
    let top = top.iter().max_by_key(|root| root.generation).and_then(|root| root.top);
    let top = top.expect("the tree has keys");
    branch(&mut pool.write(top).expect("the disk works"), top.0);
    assert!(matches!(tree.get(&[5]), Err(TreeError::Corrupt(page)) if page == top));
    assert!(matches!(tree.put(&[5], &[]), Err(TreeError::Corrupt(page)) if page == top));
    let listed = tree.list(&[], &mut |_, _| ());
    assert!(matches!(listed, Err(TreeError::Corrupt(page)) if page == top));
}

/// Every page but the first two leads to the next.
struct Endless;

impl Store for Endless {
    fn read(&self, page: PageId, into: &mut [u8]) -> io::Result<()> {
        match page.0 {
            0 => Root { generation: 2, top: Some(PageId(2)), pages: u64::MAX }.encode(into),
            1 => into.fill(0),
            more => Node::branch(vec![(vec![], PageId(more + 1))]).encode(into),
        }
        Ok(())
    }

    fn write(&self, _: PageId, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_file_with_levels_without_end_is_refused() {
    let pool = BufferPool::new(Endless, Options::new(6, PAGE)).expect("in range");
    assert!(matches!(Tree::open(pool).err(), Some(TreeError::Corrupt(_))));
}
