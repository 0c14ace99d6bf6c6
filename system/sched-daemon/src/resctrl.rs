//! Whether Linux's *resctrl* file system tells how full caches are and what memory is asked for.
//!
//! It tells so for groups of tasks, and a group has to be made for that, which takes one of few numbers
//! of the processor from others. So it is found and named, not used.

use std::fs;
use std::path::Path;

/// Where it is mounted.
pub(crate) const MOUNTED: &str = "/sys/fs/resctrl";

/// What it offers, in words.
pub(crate) fn describe(mounted: &Path) -> String {
    if !mounted.exists() {
        return "this processor or kernel has no resctrl".to_owned();
    }
    if !mounted.join("schemata").exists() {
        let mounted = mounted.display();
        return format!("resctrl is not mounted: `mount -t resctrl resctrl {mounted}`");
    }
    let domains = fs::read_dir(mounted.join("mon_data")).into_iter().flatten().flatten();
    let files = domains.filter_map(|domain| fs::read_dir(domain.path()).ok()).flatten().flatten();
    let mut offered: Vec<String> =
        files.filter_map(|file| file.file_name().into_string().ok()).collect();
    offered.sort();
    offered.dedup();
    if offered.is_empty() || !mounted.join("mon_groups").exists() {
        "resctrl is there but does not monitor".to_owned()
    } else {
        format!("resctrl is there and offers {}, but is not read", offered.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_told_apart() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("resctrl");
        let made = |path: &str| fs::create_dir_all(root.join(path)).expect("room");
        assert!(describe(&root).contains("has no resctrl"));
        made("");
        assert!(describe(&root).contains("not mounted"));
        fs::write(root.join("schemata"), "L3:0=fff\n").expect("room");
        assert!(describe(&root).contains("does not monitor"));
        for domain in ["mon_groups", "mon_data/mon_L3_00", "mon_data/mon_L3_01"] {
            made(domain);
        }
        for (domain, file) in
            [("00", "mbm_total_bytes"), ("00", "llc_occupancy"), ("01", "llc_occupancy")]
        {
            fs::write(root.join(format!("mon_data/mon_L3_{domain}/{file}")), "0\n").expect("room");
        }
        assert!(describe(&root).contains("offers llc_occupancy, mbm_total_bytes, but"));
    }
}
