//! The lock names of the measured data set in `data/litl`: each means exactly one lock here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use kilocore_fidelity::data::DataSet;
use kilocore_locks::LockId;

#[test]
fn every_name_of_the_data_set_finds_one_lock() {
    let litl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/litl");
    let sets = DataSet::read_all(&litl).expect("the data set is whole");
    let programs = sets.iter().flat_map(|set| &set.programs);
    let names: BTreeSet<&str> =
        programs.flat_map(|program| &program.series).map(|series| series.alias.as_str()).collect();
    assert_eq!(names.len(), 28);
    for &name in &names {
        let bearers: Vec<&LockId> = LockId::ALL
            .iter()
            .filter(|lock| lock.name() == name || lock.info().aliases.contains(&name))
            .collect();
        assert!(bearers.len() == 1, "{name} means {bearers:?}");
        assert_eq!(name.parse(), Ok(*bearers[0]));
    }
    // Locks that the data set measured in two implementations.
    let mut lock_names: BTreeMap<LockId, Vec<&str>> = BTreeMap::new();
    for name in names {
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
