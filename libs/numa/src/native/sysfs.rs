//! What the system says of its nodes.

use std::fs;
use std::path::Path;
use std::vec::Vec;

use kilocore_platform::{NodeId, cpu_list};

/// Returns the node of each core that this machine may have.
pub(crate) fn nodes_of_cores() -> Vec<NodeId> {
    described_in(Path::new("/sys/devices/system"))
}

/// The same from another folder. A core that no node lists is on the first node. Without a description
/// there is one core, whose seat all others use.
fn described_in(folder: &Path) -> Vec<NodeId> {
    let read = |path: std::path::PathBuf| -> Option<Vec<u32>> {
        Some(cpu_list(&fs::read_to_string(path).ok()?)?.map(|cpu| cpu.0).collect())
    };
    let cores = read(folder.join("cpu/possible")).and_then(|cores| cores.last().copied());
    let nodes = read(folder.join("node/online")).unwrap_or_default();
    let first = nodes.first().copied().unwrap_or(0);
    let mut of_cores = Vec::new();
    of_cores.resize(cores.unwrap_or(0) as usize + 1, NodeId(first));
    for node in nodes {
        // A node without cores has an empty list.
        let cores = read(folder.join(std::format!("node/node{node}/cpulist")));
        for core in cores.unwrap_or_default() {
            if let Some(of_core) = of_cores.get_mut(core as usize) {
                *of_core = NodeId(node);
            }
        }
    }
    of_cores
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    fn described(name: &str, files: &[(&str, &str)]) -> Vec<u32> {
        let name = std::format!("kilocore-nodes-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        for (path, text) in files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().expect("it has one")).expect("a new folder");
            fs::write(path, String::from(*text) + "\n").expect("a new file");
        }
        let nodes = described_in(&folder).into_iter().map(|node| node.0).collect();
        if !files.is_empty() {
            fs::remove_dir_all(&folder).expect("it was made above");
        }
        nodes
    }

    #[test]
    fn nodes_are_as_sysfs_describes_them() {
        let files = [
            ("cpu/possible", "0-5"),
            ("node/online", "1,4-5"),
            ("node/node1/cpulist", "0,2,4"),
            ("node/node4/cpulist", "1,3"), // core 5 is off
            ("node/node5/cpulist", ""),    // only memory
        ];
        assert_eq!(described("some", &files), [1, 4, 1, 4, 1, 1]);
    }

    #[test]
    fn a_machine_that_says_nothing_has_one_node() {
        assert_eq!(described("none", &[]), [0]);
        assert_eq!(described("cores", &[("cpu/possible", "0-2")]), [0, 0, 0]);
        assert_eq!(described("wrong", &[("cpu/possible", "0-4000000000")]), [0]);
    }

    #[test]
    fn this_machine_has_a_node_for_each_core() {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        assert!(nodes_of_cores().len() >= cores);
    }
}
