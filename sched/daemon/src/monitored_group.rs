//! A monitored group of resctrl: where it can be made, and its end. What it tells is in
//! [`resctrl`](crate::resctrl).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Where it is mounted.
pub(crate) const MOUNTED: &str = "/sys/fs/resctrl";

/// Why there is no group, in words; or where it can be made.
pub(crate) fn find(mounted: &Path) -> Result<PathBuf, String> {
    if !mounted.exists() {
        return Err("this processor or kernel has no resctrl".to_owned());
    }
    if !mounted.join("schemata").exists() {
        let mounted = mounted.display();
        return Err(format!("resctrl is not mounted: `mount -t resctrl resctrl {mounted}`"));
    }
    let domains = domains(mounted);
    let monitors = domains.iter().any(|domain| domain.join("llc_occupancy").exists());
    let groups = mounted.join("mon_groups");
    if !monitors || !groups.exists() {
        return Err("resctrl is there but does not monitor".to_owned());
    }
    Ok(groups.join(format!("kilocore-sched-{}", std::process::id())))
}

/// Removes a group, whose tasks then are again where they came from.
///
/// # Errors
/// Why it stays, in words. It is none if the group is gone.
pub(crate) fn remove(group: &Path) -> Result<(), String> {
    match fs::remove_dir(group) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(format!("{}: it cannot be removed: {error}", group.display()))
        }
        _ => Ok(()),
    }
}

/// The folders of a group's caches.
pub(crate) fn domains(group: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(group.join("mon_data")).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_told_apart() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("resctrl");
        let why = || find(&root).expect_err("there is no group to be had");
        assert!(why().contains("has no resctrl"));
        fs::create_dir(&root).expect("room");
        assert!(why().contains("not mounted"));
        fs::write(root.join("schemata"), "L3:0=fff\n").expect("room");
        assert!(why().contains("does not monitor"));
        let caches = root.join("mon_data").join("mon_L3_00");
        fs::create_dir_all(&caches).expect("room");
        fs::write(caches.join("llc_occupancy"), "0\n").expect("room");
        fs::create_dir(root.join("mon_groups")).expect("room");
        let group = find(&root).expect("it monitors");
        assert_eq!(group.parent(), Some(&*root.join("mon_groups")));
        assert!(!group.exists(), "nothing is made yet");
    }
}
