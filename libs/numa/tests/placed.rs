//! Nodes and memory of this machine, and of one that is not there.

use kilocore_numa::{Nodes, Placement, Replicated, ReplicatedOn};
use kilocore_platform::{Native, NodeId};

#[test]
fn this_machine_has_a_copy_for_each_node() {
    let data = Replicated::new(vec![1, 2, 3]);
    assert!(data.copies() >= 2);
    if data.copies() == 2 && !std::path::Path::new("/sys/devices/system/node/node1").exists() {
        assert_eq!(data.placement(), Placement::Anywhere);
    }
    data.update(|copy| copy.push(4));
    assert_eq!(format!("{:?}", data.read()), "[1, 2, 3, 4]");
    assert!(format!("{data:?}").contains("[1, 2, 3, 4]"));
}

#[test]
fn memory_of_nodes_that_do_not_exist_is_refused() {
    let nodes = Nodes::new([0, 1000].map(NodeId)).with_memory();
    let data = ReplicatedOn::<Native, _>::on(&nodes, vec![0; 10_000]);
    assert_eq!((data.copies(), data.placement()), (2, Placement::Refused));
    data.update(|copy| copy.push(7));
    assert_eq!(data.read().len(), 10_001);
}

#[test]
fn memory_of_a_node_that_exists_is_granted_unless_it_is_forbidden() {
    let nodes = Nodes::new([NodeId(0)]).with_memory();
    let data = ReplicatedOn::<Native, _>::on(&nodes, [7_u8; 10_000]);
    assert_ne!(data.placement(), Placement::Anywhere);
    assert_eq!(data.copies(), 2);
    let (first, second) = (data.read(), data.read());
    let address = std::ptr::from_ref(&*first).addr();
    assert!(std::ptr::eq(&*first, &*second));
    assert_eq!(address % 4096, 0, "a copy has its own pages");
}

#[test]
fn values_of_any_size_and_alignment_have_copies() {
    #[derive(Clone)]
    #[repr(align(16384))]
    struct Aligned(u8);
    let nodes = Nodes::new([0, 3, 3].map(NodeId));
    for nodes in [nodes.clone(), nodes.with_memory()] {
        let data = ReplicatedOn::<Native, _>::on(&nodes, Aligned(7));
        data.update(|copy| copy.0 += 1);
        assert_eq!(data.read().0, 8);
        assert_eq!(std::ptr::from_ref(&*data.read()).addr() % 16384, 0);
        let nothing = ReplicatedOn::<Native, _>::on(&nodes, ());
        assert_eq!(nothing.update(|()| 5), 5);
        *nothing.read()
    }
}

#[test]
#[should_panic(expected = "a machine has a core")]
fn a_machine_without_a_core_is_none() {
    let _ = Nodes::new([]);
}
