//! The machine files that come with the crate.

use kilocore_machine::{Description, Distance, HardwareThread, builtin, find};

#[test]
fn every_built_in_machine_parses_under_its_own_name() {
    for machine in builtin() {
        let description = machine.description().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(description.name, machine.name);
        assert_eq!(find(machine.name), Ok(description));
    }
}

#[test]
fn every_file_is_in_the_table_and_the_table_is_ordered() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("machines");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    files.sort();
    let table: Vec<String> =
        builtin().iter().map(|machine| format!("{}.toml", machine.name)).collect();
    assert_eq!(files, table);
}

#[test]
fn writing_and_reading_gives_the_same_machine() {
    for machine in builtin() {
        let description = machine.description().expect("it parses");
        assert_eq!(Description::parse(&description.to_toml(), "again"), Ok(description));
    }
}

#[test]
fn sizes_are_those_of_the_machines() {
    let sizes = [
        ("core-i7-6700", 4, 8),
        ("epyc-7742-2s", 128, 256),
        ("epyc-9554-2s", 128, 256),
        ("hypothetical-1024", 1024, 1024),
        ("knl-7210", 64, 256),
        ("opteron-6344-4s", 48, 48),
        ("opteron-8356-8s", 32, 32),
        ("xeon-8375c-2s", 64, 128),
        ("xeon-e5345-2s", 8, 8),
        ("xeon-e7-4830v3-4s", 48, 48),
        ("xeon-e7-4860-4s", 40, 40),
        ("xeon-e7-8870v2-8s", 120, 120),
        ("xeon-gold-6338-1s", 32, 64),
    ];
    assert_eq!(sizes.len(), builtin().len(), "a line for each machine");
    for (name, cores, threads) in sizes {
        let topology = find(name).expect("it is built in").topology;
        assert_eq!((topology.cores(), topology.hardware_threads()), (cores, threads), "{name}");
    }
}

#[test]
fn a_machine_that_nobody_built_claims_no_source() {
    let machine = find("hypothetical-1024").expect("it is built in");
    assert!(machine.topology.nodes() <= 64);
    assert_eq!(machine.topology.hops.iter().flatten().max(), Some(&4), "a hypercube of 16 sockets");
    let text = machine.to_toml();
    assert!(text.contains(".estimated = ") && !text.contains(".source = "));
}

#[test]
fn threads_are_numbered_core_by_core_and_siblings_last() {
    let machine = find("epyc-7742-2s").expect("it is built in");
    let at = |n| machine.location(HardwareThread(n));
    assert_eq!((at(0).socket, at(0).group, at(0).core, at(0).thread), (0, 0, 0, 0));
    assert_eq!((at(63).socket, at(63).group, at(63).core, at(63).thread), (0, 15, 63, 0));
    assert_eq!((at(64).socket, at(64).node, at(64).group), (1, 1, 16));
    assert_eq!((at(128).socket, at(128).core, at(128).thread), (0, 0, 1));
    assert_eq!((at(255).socket, at(255).core, at(255).thread), (1, 127, 1));
}

#[test]
fn distances_and_latencies_follow_the_topology() {
    let machine = find("opteron-6344-4s").expect("it is built in");
    let far = |a, b| machine.distance(HardwareThread(a), HardwareThread(b));
    let expected = [
        (0, 0, Distance::SameThread, 0.0),
        (0, 1, Distance::SameGroup, 20.0),
        (0, 2, Distance::SameNode, 39.0),
        (0, 6, Distance::SameSocket, 77.0),
        (0, 12, Distance::Sockets { hops: 1 }, 86.0),
        (0, 18, Distance::Sockets { hops: 2 }, 126.0),
        (6, 18, Distance::Sockets { hops: 1 }, 86.0),
    ];
    for (a, b, distance, ns) in expected {
        assert_eq!(far(a, b), distance, "{a} to {b}");
        assert_eq!(machine.latency(HardwareThread(a), HardwareThread(b)), ns, "{a} to {b}");
    }
    let siblings = find("knl-7210").expect("it is built in");
    assert_eq!(siblings.distance(HardwareThread(3), HardwareThread(67)), Distance::SameCore);
}

#[test]
fn latency_is_symmetric_and_never_falls_with_distance() {
    for machine in builtin() {
        let machine = machine.description().expect("it parses");
        let threads = machine.hardware_threads();
        let mut by_distance = std::collections::BTreeMap::new();
        for a in (0..threads).step_by(3) {
            for b in 0..threads {
                let (a, b) = (HardwareThread(a), HardwareThread(b));
                assert_eq!(machine.distance(a, b), machine.distance(b, a));
                by_distance.insert(machine.distance(a, b), machine.latency(a, b));
            }
        }
        assert!(by_distance.values().is_sorted(), "{}: {by_distance:?}", machine.name);
    }
}

#[test]
#[should_panic(expected = "hardware thread 48 of 48")]
fn a_thread_beyond_the_machine_is_refused() {
    let machine = find("opteron-6344-4s").expect("it is built in");
    let _ = machine.location(HardwareThread(48));
}
