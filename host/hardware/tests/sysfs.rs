//! Reading recorded trees of `/sys/devices/system`.
#![cfg(target_os = "linux")]

use kilocore_hardware::{MeasureError, Shape, shape};
use std::path::{Path, PathBuf};

/// Lays a recorded tree out as files: each line is a path and what the file holds.
fn lay_out(tree: &str, as_name: &str, change: impl Fn(&str, &str) -> Option<String>) -> PathBuf {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(as_name);
    let _ = std::fs::remove_dir_all(&root);
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/{tree}.tree"));
    let text = std::fs::read_to_string(recorded).expect("the recorded tree is there");
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (path, content) = line.split_once(" = ").expect("a path and its content");
        let Some(content) = change(path, content) else { continue };
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder is made");
        std::fs::write(path, content + "\n").expect("a file is written");
    }
    root
}

fn read(tree: &str) -> Shape {
    shape(&lay_out(tree, tree, |_, content| Some(content.to_owned())))
        .unwrap_or_else(|error| panic!("{error}"))
}

fn counts(shape: &Shape) -> [u32; 5] {
    let t = &shape.topology;
    [t.sockets, t.nodes_per_socket, t.groups_per_node, t.cores_per_group, t.threads_per_core]
}

#[test]
fn a_virtual_machine_of_two_cores() {
    let shape = read("two-core-vm");
    assert_eq!(counts(&shape), [1, 1, 1, 2, 1]);
    assert_eq!((shape.private_kib, shape.shared_kib), (2048.0, 266_240.0));
    assert_eq!((shape.line_bytes, shape.shared_per_node), (64, 1));
    assert!(shape.topology.hops.is_empty());
}

#[test]
fn two_sockets_with_siblings_numbered_last_and_a_cache_in_each_complex() {
    let shape = read("two-sockets-smt");
    assert_eq!(counts(&shape), [2, 2, 2, 2, 2]);
    assert_eq!((shape.private_kib, shape.shared_kib), (512.0, 16_384.0));
    assert_eq!(shape.shared_per_node, 2);
    assert!(shape.topology.hops.is_empty(), "all nodes of the other socket are one hop away");
    let at = |cpu: u32| *shape.processors.iter().find(|p| p.cpu == cpu).expect("it is online");
    assert_eq!(at(5).core, at(21).core, "siblings are 16 apart");
    assert_ne!(at(5).core, at(6).core);
    assert_eq!((at(5).socket, at(5).node, at(5).group), (0, 1, 2));
    assert_eq!((at(31).socket, at(31).node, at(31).group, at(31).core), (1, 3, 7, 15));
}

#[test]
fn modules_share_the_second_level_and_distances_become_hops() {
    let shape = read("two-hops-modules");
    assert_eq!(counts(&shape), [4, 2, 2, 2, 1]);
    assert_eq!((shape.private_kib, shape.shared_kib), (1024.0, 6144.0));
    assert_eq!(shape.shared_per_node, 1, "the groups share the second level, not the last");
    assert_eq!(shape.topology.hops[0], [0, 1, 1, 2, 1, 2, 1, 2]);
    assert_eq!(shape.topology.hops[3], [2, 1, 1, 0, 2, 1, 2, 1]);
}

#[test]
fn offline_processors_leave_the_largest_counts_and_a_word_about_them() {
    let shape = read("offline-processors");
    assert_eq!(counts(&shape), [1, 1, 1, 4, 2]);
    assert_eq!(shape.processors.len(), 6);
    assert_eq!((shape.private_kib, shape.shared_kib), (1280.0, 12_288.0));
    let source = &shape.topology.source;
    assert!(source.contains("6 processors online") && source.contains("offline"), "{source}");
}

#[test]
fn a_kernel_without_numa_has_one_node_a_socket() {
    let root = lay_out("two-sockets-smt", "without-numa", |path, content| {
        (!path.starts_with("node/")).then(|| content.to_owned())
    });
    let shape = shape(&root).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(counts(&shape), [2, 1, 4, 2, 2]);
}

#[test]
fn damaged_files_are_named() {
    let damage = |name: &str, at: &'static str, with: Option<&'static str>| {
        let root = lay_out("two-core-vm", name, |path, content| match (path == at, with) {
            (true, with) => with.map(str::to_owned),
            (false, _) => Some(content.to_owned()),
        });
        shape(&root).expect_err("the damage shows")
    };
    let lost = damage("lost", "cpu/online", None);
    assert!(matches!(&lost, MeasureError::Unreadable { path, .. } if path.ends_with("cpu/online")));
    for (at, with) in [
        ("cpu/online", "0-99999999999"),
        ("cpu/online", "1-0"),
        ("cpu/cpu1/cache/index2/size", "huge"),
        ("cpu/cpu1/cache/index2/size", "4294967295M"),
        ("cpu/cpu0/topology/physical_package_id", ""),
    ] {
        let error = damage("damaged", at, Some(with));
        let message = error.to_string();
        assert!(matches!(error, MeasureError::Malformed { .. }), "{message}");
        assert!(message.contains(at) && message.contains(&format!("`{with}`")), "{message}");
    }
    assert_eq!(damage("empty", "cpu/online", Some("")), MeasureError::NoProcessor);
}
