//! The lock names of the measured data set in `data/litl`: each means exactly one lock here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use kilocore_locks::LockId;

/// The lock of each row of a file of the data set.
fn names(file: &str) -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/litl").join(file);
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let column = header.iter().position(|&name| name == "lock").expect("a column `lock`");
    lines.map(|line| line.split(',').nth(column).expect("a lock").to_owned()).collect()
}

#[test]
fn every_name_of_the_data_set_finds_one_lock() {
    let names: BTreeSet<String> =
        ["A48.csv", "I48.csv"].iter().flat_map(|file| names(file)).collect();
    assert_eq!(names.len(), 28);
    for name in &names {
        let bearers: Vec<&LockId> = LockId::ALL
            .iter()
            .filter(|lock| lock.name() == name || lock.info().aliases.contains(&name.as_str()))
            .collect();
        assert!(bearers.len() == 1, "{name} means {bearers:?}");
        assert_eq!(name.parse(), Ok(*bearers[0]));
    }
    // Locks that the data set measured in two implementations.
    let mut lock_names: BTreeMap<LockId, Vec<&str>> = BTreeMap::new();
    for name in &names {
        lock_names.entry(name.parse().expect("found above")).or_default().push(name);
    }
    lock_names.retain(|_, names| names.len() > 1);
    let twice: Vec<Vec<&str>> = lock_names.into_values().collect();
    let expected = [
        vec!["spinlock", "spinlock-ls"],
        vec!["ttas", "ttas-ls"],
        vec!["mcs-ls", "mcs_spin"],
        vec!["clh-ls", "clh_spin"],
    ];
    assert_eq!(twice, expected);
}
