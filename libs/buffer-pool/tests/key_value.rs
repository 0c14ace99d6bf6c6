//! The example's tree: beside a map, under a disk that is full, and with a failure at every point.

#[path = "../examples/key_value/main.rs"]
mod program;

mod failures;
mod files;
mod lives;

use std::collections::BTreeMap;

use kilocore_buffer_pool::{BufferPool, FaultyDisk, Options, PageId, Store};
use proptest::prelude::*;

use crate::chooser::chooser;
use program::node::{self, LONGEST_KEY, LONGEST_VALUE, PAGE};
use program::root;
use program::tree::{Tree, TreeError};

type Map = BTreeMap<Vec<u8>, Vec<u8>>;

/// Fewer frames than there are pages.
fn open(disk: FaultyDisk) -> Tree<FaultyDisk> {
    let pool = BufferPool::new(disk, Options::new(6, PAGE)).expect("the options are in range");
    Tree::open(pool).expect("the tree is whole")
}

/// Reads all keys and values.
fn read_all<S: Store>(tree: &Tree<S>) -> Result<Map, TreeError> {
    let mut map = Map::new();
    let mut insert = |key: &[u8], value: &[u8]| {
        assert!(map.last_key_value().is_none_or(|(last, _)| &**last < key), "they are in order");
        map.insert(key.to_vec(), value.to_vec());
    };
    tree.list(&[], &mut insert)?;
    Ok(map)
}

fn contents(tree: &Tree<FaultyDisk>) -> Map {
    read_all(tree).expect("the disk works")
}

/// Changes in four transactions. Returns what was committed, and what may have been instead.
fn work(tree: &Tree<FaultyDisk>, seed: u64) -> [Map; 2] {
    let mut choose = chooser(seed);
    let (mut committed, mut present) = (Map::new(), Map::new());
    for _ in 0..4 {
        for _ in 0..12 {
            let key = vec![b'a' + choose(20) as u8; 1 + choose(LONGEST_KEY)];
            let value = vec![choose(256) as u8; choose(LONGEST_VALUE + 1)];
            let change = match choose(4) {
                0 => tree.remove(&key).map(|()| drop(present.remove(&key))),
                _ => tree.put(&key, &value).map(|()| drop(present.insert(key, value))),
            };
            if change.is_err() {
                return [committed.clone(), committed];
            }
        }
        if tree.commit().is_err() {
            return [committed, present];
        }
        committed = present.clone();
    }
    [committed, present]
}

#[test]
fn whenever_the_power_fails_the_tree_is_one_that_was_committed() {
    let tree = open(FaultyDisk::new());
    work(&tree, 1);
    let operations = tree.into_pool().store().operations();
    assert!(operations > 50, "{operations}");
    let mut newer = 0;
    for power in 0..=operations {
        for seed in 0..4 {
            let disk = FaultyDisk::new();
            disk.fail_power_after(power);
            let tree = open(disk);
            let possible = work(&tree, 1);
            let disk = tree.into_pool().into_store();
            let tree = open(disk.after_power_failure(&mut chooser(seed * 1000 + power)));
            let found = contents(&tree);
            assert!(possible.contains(&found), "power for {power} operations, seed {seed}");
            newer += u32::from(found != possible[0]);
            // It can be changed as any other.
            tree.put(b"after", b"it").expect("the power is back");
            tree.commit().expect("the power is back");
            assert_eq!(tree.get(b"after").expect("it is there").as_deref(), Some(&b"it"[..]));
        }
    }
    assert!(newer > 0, "a root may be durable though its sync was never reported");
}

#[test]
fn a_full_disk_changes_nothing_that_was_there() {
    let tree = open(FaultyDisk::new());
    let [committed, _] = work(&tree, 2);
    let mut pool = tree.into_pool();
    pool.store().fail_writes(true);
    let tree = Tree::open(pool).expect("it can be read");
    let failures = (0..40u8).filter(|key| tree.put(&[*key], &[*key; 700]).is_err()).count();
    assert!(failures > 0, "the pool is smaller than the changes");
    assert!(matches!(tree.commit(), Err(TreeError::Pool(_))));
    pool = tree.into_pool();
    pool.store().fail_writes(false);
    let tree = open(pool.into_store());
    assert_eq!(contents(&tree), committed);
}

#[test]
fn a_commit_that_failed_can_be_repeated() {
    let tree = open(FaultyDisk::new());
    tree.put(b"one", b"1").expect("the disk works");
    tree.pool().store().fail_writes(true);
    assert!(matches!(tree.commit(), Err(TreeError::Pool(_))));
    tree.pool().store().fail_writes(false);
    tree.put(b"two", b"2").expect("the disk works");
    tree.commit().expect("the disk works");
    let tree = open(tree.into_pool().into_store());
    assert_eq!(contents(&tree).len(), 2);
}

#[test]
fn keys_and_values_that_are_too_long_are_refused() {
    let tree = open(FaultyDisk::new());
    let long = vec![0; LONGEST_VALUE + 1];
    assert!(matches!(tree.put(b"key", &long), Err(TreeError::TooLong)));
    assert!(matches!(tree.put(&long[..=LONGEST_KEY], b"value"), Err(TreeError::TooLong)));
    tree.put(&long[..LONGEST_KEY], &long[..LONGEST_VALUE]).expect("that fits");
}

#[test]
fn a_file_that_is_something_else_is_refused() {
    let disk = FaultyDisk::new();
    disk.write(PageId(0), &[b'x'; PAGE]).expect("the disk works");
    let pool = BufferPool::new(disk, Options::new(6, PAGE)).expect("the options are in range");
    assert!(matches!(Tree::open(pool).err(), Some(TreeError::Corrupt(PageId(0)))));
    let pool = BufferPool::new(FaultyDisk::new(), Options::new(6, 512)).expect("in range");
    assert!(matches!(Tree::open(pool).err(), Some(TreeError::PageSize)));
}

#[test]
fn pages_are_used_again() {
    let tree = open(FaultyDisk::new());
    for round in 0..200u32 {
        tree.put(&[(round % 7) as u8], &round.to_le_bytes()).expect("the disk works");
        tree.commit().expect("the disk works");
    }
    let pool = tree.into_pool();
    let root = |page| {
        let bytes = pool.read(PageId(page)).expect("the disk works");
        root::Root::decode(bytes.first_chunk().expect("a page")).expect("it is whole").pages
    };
    assert!(root(0).max(root(1)) < 10);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_page_of_any_bytes_is_a_node_or_is_not(bytes in prop::collection::vec(any::<u8>(), PAGE)) {
        if let Ok(node) = node::Node::decode(&bytes) {
            let mut page = vec![0; PAGE];
            node.encode(&mut page);
            prop_assert_eq!(node::Node::decode(&page), Ok(node));
        }
    }

    #[test]
    fn it_has_what_a_map_has(seed in any::<u64>()) {
        let tree = open(FaultyDisk::new());
        let [committed, _] = work(&tree, seed);
        prop_assert_eq!(&contents(&tree), &committed);
        let tree = open(tree.into_pool().into_store());
        prop_assert_eq!(&contents(&tree), &committed);
        for (key, value) in &committed {
            let found = tree.get(key).expect("the disk works");
            prop_assert_eq!(found.as_ref(), Some(value));
        }
    }
}
