//! Where cgroups with cpusets are mounted, and in which of them a thread is.
//!
//! Linux has two kinds of hierarchies. Of version 1 there may be many, each with controllers of its own;
//! of version 2 there is one, and `cpuset` is a controller of the one or the other. A mount shows a
//! hierarchy from some cgroup on, its *root*, which in a container is seldom the hierarchy's own.

use std::path::{Path, PathBuf};

use crate::host::Host;

/// The version of a hierarchy of cgroups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Version {
    One,
    Two,
}

impl Version {
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }

    pub(crate) fn of(number: &str) -> Option<Self> {
        match number {
            "1" => Some(Self::One),
            "2" => Some(Self::Two),
            _ => None,
        }
    }

    /// The file that lists the threads of a cgroup, and takes those that are to be moved there.
    pub(crate) fn threads(self) -> &'static str {
        match self {
            Self::One => "tasks",
            Self::Two => "cgroup.threads",
        }
    }
}

/// A mount of a hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    pub(crate) version: Version,
    /// Where it is mounted.
    pub(crate) point: PathBuf,
    /// The cgroup that is seen there.
    root: String,
}

impl Mount {
    /// The mount with cpusets; where there are several, the one that is looked at first is the first of
    /// version 1.
    pub(crate) fn find(host: &mut dyn Host) -> Option<Self> {
        let mut mounts = Self::all(host);
        mounts.sort_by_key(|mount| mount.version);
        mounts.into_iter().find(|mount| match mount.version {
            Version::One => true,
            Version::Two => has_word(host, &mount.point.join("cgroup.controllers"), "cpuset"),
        })
    }

    /// All that may have cpusets.
    pub(crate) fn all(host: &mut dyn Host) -> Vec<Self> {
        let text = host.read_file(Path::new("/proc/self/mountinfo")).unwrap_or_default();
        text.lines().filter_map(parse).collect()
    }

    /// The folder of the cgroup in which a thread is, if it is seen in this mount.
    pub(crate) fn folder(&self, host: &mut dyn Host, (pid, tid): (u32, u32)) -> Option<PathBuf> {
        let text = host.read_file(format!("/proc/{pid}/task/{tid}/cgroup").as_ref()).ok()?;
        self.below(cgroup(&text, self.version)?)
    }

    fn below(&self, cgroup: &str) -> Option<PathBuf> {
        let rest = cgroup.strip_prefix(self.root.trim_end_matches('/'))?;
        if !rest.is_empty() && !rest.starts_with('/') {
            return None;
        }
        let rest = rest.trim_matches('/');
        if rest.is_empty() {
            return Some(self.point.clone());
        }
        // Above the root of a namespace, paths begin with `/..`.
        let inside = rest.split('/').all(|part| !matches!(part, "" | "." | ".."));
        inside.then(|| self.point.join(rest))
    }
}

/// Whether a file is there and has a word.
pub(crate) fn has_word(host: &mut dyn Host, path: &Path, word: &str) -> bool {
    host.read_file(path).is_ok_and(|text| text.split_ascii_whitespace().any(|found| found == word))
}

/// A line of `/proc/self/mountinfo`, if it is of a hierarchy that may have cpusets.
fn parse(line: &str) -> Option<Mount> {
    let (mount, system) = line.split_once(" - ")?;
    let mut mount = mount.split(' ').skip(3);
    let (root, point) = (plain(mount.next()?)?, plain(mount.next()?)?);
    let mut system = system.split(' ');
    let kind = system.next()?;
    let options = system.nth(1)?;
    let version = match kind {
        "cgroup" if options.split(',').any(|option| option == "cpuset") => Version::One,
        "cgroup2" => Version::Two,
        _ => return None,
    };
    Some(Mount { version, point: point.into(), root })
}

/// A path in which blanks, tabs, line ends and backslashes are written as `\` with three octal digits.
fn plain(path: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let [byte, after @ ..] = rest {
        rest = after;
        let (b'\\', [high, middle, low, after @ ..]) = (*byte, after) else {
            bytes.push(*byte);
            continue;
        };
        let digits = [high, middle, low].map(|digit| u32::from(digit.wrapping_sub(b'0')));
        let value =
            digits.iter().try_fold(0, |value, digit| (*digit < 8).then_some(value * 8 + digit));
        bytes.push(u8::try_from(value?).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

/// The cgroup that `/proc/PID/cgroup` names for the hierarchy with cpusets.
fn cgroup(text: &str, version: Version) -> Option<&str> {
    text.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (number, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let is_it = match version {
            Version::One => controllers.split(',').any(|controller| controller == "cpuset"),
            Version::Two => number == "0" && controllers.is_empty(),
        };
        is_it.then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn mounts_of_both_versions_are_told_from_others() {
        let one = "34 31 0:31 / /sys/fs/cgroup/cpu\\040set rw,relatime shared:9 - cgroup cgroup rw,cpuset";
        let found = parse(one).expect("it has cpusets");
        assert_eq!((found.version, found.root.as_str()), (Version::One, "/"));
        assert_eq!(found.point, Path::new("/sys/fs/cgroup/cpu set"));
        let two = "41 31 0:38 /a\\134b /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate";
        let found = parse(two).expect("it may have cpusets");
        assert_eq!((found.version, found.root.as_str()), (Version::Two, "/a\\b"));
        for other in [
            "33 31 0:30 / /sys/fs/cgroup/cpuacct rw,relatime - cgroup cgroup rw,cpuacct",
            "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755",
            "31 23 0:28 / /sys/fs/cgroup\\777 rw - cgroup2 cgroup2 rw",
        ] {
            assert_eq!(parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_thread_is_found_below_the_root_that_the_mount_shows() {
        let mount = |root: &str| Mount {
            version: Version::One,
            point: "/cpusets".into(),
            root: root.to_owned(),
        };
        let found = |root: &str, cgroup: &str| mount(root).below(cgroup);
        assert_eq!(found("/", "/"), Some("/cpusets".into()));
        assert_eq!(found("/", "/a/b"), Some("/cpusets/a/b".into()));
        assert_eq!(found("/a", "/a"), Some("/cpusets".into()));
        assert_eq!(found("/a", "/a/b"), Some("/cpusets/b".into()));
        for hidden in ["/ab", "/", "/..", "/a/../b"] {
            assert_eq!(found("/a", hidden), None, "{hidden}");
        }
        assert_eq!(found("/", "/../b"), None, "it is above the namespace's root");
    }

    #[test]
    fn the_hierarchy_with_cpusets_is_picked_among_a_threads_cgroups() {
        let text = "9:name=systemd:/s\n4:cpu,cpuset:/a:b c\n0::/two\n";
        assert_eq!(cgroup(text, Version::One), Some("/a:b c"));
        assert_eq!(cgroup(text, Version::Two), Some("/two"));
        assert_eq!(cgroup("4:cpu:/a\n", Version::One), None);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(line in any::<String>(), octal in "[\\\\0-9a ]{0,20}") {
            for version in [Version::One, Version::Two] {
                let _ = cgroup(&line, version);
            }
            let _ = (parse(&line), plain(&octal));
            let mount = parse(&format!("1 2 0:3 {octal} {line} rw - cgroup2 cgroup2 rw"));
            if let Some(mount) = mount {
                prop_assert!(mount.below(&line).is_none_or(|path| path.starts_with(&mount.point)));
            }
        }

        #[test]
        fn whatever_a_mount_point_is_called_it_is_found(point in "/[ -~\n\t]{0,20}") {
            let written: String = point
                .chars()
                .map(|letter| match letter {
                    ' ' | '\t' | '\n' | '\\' => format!("\\{:03o}", letter as u32),
                    _ => letter.to_string(),
                })
                .collect();
            let line = format!("1 2 0:3 / {written} rw - cgroup cgroup rw,cpuset");
            prop_assert_eq!(parse(&line).map(|mount| mount.point), Some(PathBuf::from(point)));
        }
    }
}
