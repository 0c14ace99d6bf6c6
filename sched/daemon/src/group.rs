//! The files of a cgroup with a cpuset, in both versions.

use std::io;
use std::path::{Path, PathBuf};

use kilocore_sched_policy::CpuSet;

use crate::cpu_list;
use crate::hierarchy::{Version, has_word};
use crate::host::Host;

const SUBTREE: &str = "cgroup.subtree_control";

/// Makes a cgroup with these cores, into which threads of the one above may be moved.
///
/// # Errors
/// Those of the system. Then the cgroup is not there.
pub(crate) fn make(
    host: &mut dyn Host,
    version: Version,
    path: &Path,
    cpus: &CpuSet,
) -> io::Result<()> {
    host.make_folder(path)?;
    let filled = fill(host, version, path, cpus);
    if filled.is_err() {
        let _ = host.remove_folder(path);
    }
    filled
}

fn fill(host: &mut dyn Host, version: Version, path: &Path, cpus: &CpuSet) -> io::Result<()> {
    match version {
        // A new cpuset has no memory, and takes no thread until it has.
        Version::One => {
            let home = path.parent().unwrap_or(path);
            let memory = first_of(host, home, &["cpuset.effective_mems", "cpuset.mems"])?;
            host.write_file(&path.join("cpuset.mems"), memory.trim_end())?;
        }
        // Threads of one process may be in different cgroups only if those are threaded. The cgroup above
        // becomes their common domain by that, and may keep threads of its own.
        Version::Two => host.write_file(&path.join("cgroup.type"), "threaded")?,
    }
    host.write_file(&path.join("cpuset.cpus"), &cpus.to_string())
}

fn first_of(host: &mut dyn Host, folder: &Path, names: &[&str]) -> io::Result<String> {
    let mut result = Err(io::ErrorKind::NotFound.into());
    for name in names {
        result = host.read_file(&folder.join(name));
        if result.is_ok() {
            break;
        }
    }
    result
}

/// The cores that a cgroup's threads may use; `None` if the system does not tell.
pub(crate) fn cores(
    host: &mut dyn Host,
    version: Version,
    path: &Path,
    top: &Path,
) -> Option<CpuSet> {
    let names: &[&str] = match version {
        Version::One => &["cpuset.effective_cpus", "cpuset.cpus"],
        Version::Two => &["cpuset.cpus.effective"],
    };
    // In version 2, a cgroup without a cpuset has that of the nearest one above.
    let above = path.ancestors().take_while(|folder| folder.starts_with(top));
    let text = above.into_iter().find_map(|folder| first_of(host, folder, names).ok())?;
    cpu_list::parse(text.trim_end())
}

/// Moves a thread into a cgroup.
///
/// # Errors
/// `ESRCH` if it is gone; `EPERM` or `EACCES` if it is somebody else's.
pub(crate) fn take_in(
    host: &mut dyn Host,
    version: Version,
    path: &Path,
    tid: u32,
) -> io::Result<()> {
    host.write_file(&path.join(version.threads()), &tid.to_string())
}

/// The threads of a cgroup. 0 stands for one that has no number here.
///
/// # Errors
/// `NotFound` if there is no such cgroup.
pub(crate) fn threads(host: &mut dyn Host, version: Version, path: &Path) -> io::Result<Vec<u32>> {
    let text = host.read_file(&path.join(version.threads()))?;
    Ok(text.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect())
}

/// The cgroups of version 2 that have to give the controller to those below them, so that those below
/// `home` have it; the highest first. `None` if no cgroup up to `top` has it.
pub(crate) fn without_controller(
    host: &mut dyn Host,
    home: &Path,
    top: &Path,
) -> Option<Vec<PathBuf>> {
    let mut lacking = Vec::new();
    for folder in home.ancestors().take_while(|folder| folder.starts_with(top)) {
        if has_word(host, &folder.join(SUBTREE), "cpuset") {
            return Some(lacking);
        }
        lacking.insert(0, folder.to_owned());
        if has_word(host, &folder.join("cgroup.controllers"), "cpuset") {
            return Some(lacking);
        }
    }
    None
}

/// Gives the controller to the cgroups below one.
///
/// # Errors
/// `EBUSY` or `EOPNOTSUPP` if the cgroup has threads and gives others, too, that want none there.
pub(crate) fn give_controller(host: &mut dyn Host, path: &Path) -> io::Result<()> {
    host.write_file(&path.join(SUBTREE), "+cpuset")
}

/// Takes the controller away again, unless somebody has come to use it.
pub(crate) fn take_controller(host: &mut dyn Host, path: &Path) -> io::Result<()> {
    for below in host.folders(path) {
        let used =
            host.read_file(&below.join("cpuset.cpus")).is_ok_and(|text| !text.trim().is_empty());
        if used || has_word(host, &below.join(SUBTREE), "cpuset") {
            return Ok(());
        }
    }
    if has_word(host, &path.join(SUBTREE), "cpuset") {
        host.write_file(&path.join(SUBTREE), "-cpuset")?;
    }
    Ok(())
}

/// Whether the kernel forgets what masks threads have asked for when they are moved.
pub(crate) fn forgets_masks(host: &mut dyn Host) -> bool {
    let text = host.read_file(Path::new("/proc/sys/kernel/osrelease")).unwrap_or_default();
    let mut numbers = text.split(|letter: char| !letter.is_ascii_digit()).map(str::parse::<u32>);
    let mut next = || numbers.next().and_then(Result::ok).unwrap_or(0);
    (next(), next()) < (6, 2)
}
