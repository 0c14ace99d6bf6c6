//! How much memory is available: the kernel's estimate, and what the control groups leave.
//!
//! Files on a tmpfs take up memory. A process that fills more than its control group may use is
//! killed, however much memory the host has. What a group uses includes cached pages of files. The
//! kernel drops those that were not used lately when it needs memory, so they count as free here.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// The folder where systems mount the control groups.
const GROUPS: &str = "/sys/fs/cgroup";

/// Returns how many bytes of memory are available without swapping, to this process's control groups, or `None` if the
/// system does not tell.
#[must_use]
pub fn available_memory() -> Option<u64> {
    let of_host = fs::read_to_string("/proc/meminfo").ok().as_deref().and_then(of_host);
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    [of_host, of_groups(&groups, Path::new(GROUPS))].into_iter().flatten().min()
}

/// Reads the available bytes from the text of `/proc/meminfo`, which is like this:
///
/// ```text
/// MemTotal:       16314352 kB
/// MemAvailable:   14203120 kB
/// ```
fn of_host(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// The names of the files in a version of control groups.
struct Names {
    limit: &'static str,
    used: &'static str,
    /// The line in `memory.stat` for the pages of files that were not used lately.
    idle: &'static str,
}

const VERSION_1: Names = Names {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    idle: "total_inactive_file",
};
const VERSION_2: Names =
    Names { limit: "memory.max", used: "memory.current", idle: "inactive_file" };

/// Returns how many bytes the groups of this process and those above them leave: the least of all.
/// `groups` is the text of `/proc/self/cgroup`. In version 2 it is the last of these lines, in
/// version 1 it is like the others:
///
/// ```text
/// 5:cpu,cpuacct:/x
/// 4:memory:/docker/1
/// 0::/a/b
/// ```
fn of_groups(groups: &str, mounted: &Path) -> Option<u64> {
    let of_line = |line: &str| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        let (root, names) = match controllers {
            "" => (mounted.to_owned(), &VERSION_2),
            list if list.split(',').any(|one| one == "memory") => {
                (mounted.join("memory"), &VERSION_1)
            }
            _ => return None,
        };
        // In a container, the path may be that of the host. Groups that are not there are skipped.
        let parts = Path::new(path).components().filter(|p| matches!(p, Component::Normal(_)));
        let inside: PathBuf = parts.collect();
        inside.ancestors().filter_map(|group| left(&root.join(group), names)).min()
    };
    groups.lines().filter_map(of_line).min()
}

/// Returns how many bytes a group leaves, or `None` if it has no limit. Its `memory.stat` has lines
/// like these:
///
/// ```text
/// anon 400
/// inactive_file 200
/// ```
fn left(group: &Path, names: &Names) -> Option<u64> {
    let text = |file: &str| fs::read_to_string(group.join(file)).ok();
    let number = |file: &str| text(file)?.trim().parse::<u64>().ok();
    let (limit, used) = (number(names.limit)?, number(names.used)?);
    let stat = text("memory.stat").unwrap_or_default();
    let mut lines = stat.lines().filter_map(|line| line.split_once(' '));
    let idle = lines.find(|(name, _)| *name == names.idle);
    let idle = idle.and_then(|(_, bytes)| bytes.trim().parse().ok()).unwrap_or(0);
    Some(limit.saturating_sub(used.saturating_sub(idle)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, files: &[(&str, &str)]) {
        fs::create_dir_all(folder).unwrap();
        files.iter().for_each(|(name, text)| fs::write(folder.join(name), text).unwrap());
    }

    #[test]
    fn the_group_that_leaves_least_counts() {
        let mounted = tempfile::tempdir().unwrap();
        let root = mounted.path();
        write(&root.join("a/b"), &[("memory.max", "max\n"), ("memory.current", "5\n")]);
        assert_eq!(of_groups("0::/a/b\n", root), None);
        write(&root.join("a"), &[("memory.max", "1000\n"), ("memory.current", "700\n")]);
        assert_eq!(of_groups("0::/a/b\n", root), Some(300));
        write(&root.join("a"), &[("memory.stat", "anon 400\ninactive_file 200\n")]);
        assert_eq!(of_groups("0::/a/b\n", root), Some(500));
        write(&root.join("a/b"), &[("memory.max", "3\n")]);
        assert_eq!(of_groups("0::/a/b\n", root), Some(0));
        assert_eq!(of_groups("0::/../../elsewhere\nnonsense\n", root), None);
    }

    #[test]
    fn version_1_has_a_folder_of_its_own() {
        let mounted = tempfile::tempdir().unwrap();
        let files = [("memory.limit_in_bytes", "90\n"), ("memory.usage_in_bytes", "60\n")];
        write(&mounted.path().join("memory"), &files);
        let groups = "5:cpu,cpuacct:/x\n4:memory:/docker/1\n";
        assert_eq!(of_groups(groups, mounted.path()), Some(30));
    }

    #[test]
    fn the_kernel_tells_in_kib() {
        assert_eq!(of_host("MemTotal: 9 kB\nMemAvailable:   2 kB\n"), Some(2048));
        assert_eq!(of_host("MemTotal: 9 kB\n"), None);
    }
}
