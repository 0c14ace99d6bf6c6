//! What a control group allows its processes of the cores' time.
//!
//! A container with a limit of half a core sees all cores of its host. Its threads run on all of them
//! until the time of a *period* (mostly 100 ms) is used up, and then all of them are held up until the
//! next one. What such a program does says little of how it scales with cores.

use std::fs;
use std::path::{Path, PathBuf};

/// The tightest limit on a process's groups.
#[derive(Debug, Clone, PartialEq)]
pub struct Quota {
    /// How many cores' time its processes may use together.
    pub cores: f64,
    /// The group that limits them, as a folder of the kernel's.
    pub group: PathBuf,
}

/// How often the processes of a group were held up since it exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Throttling {
    /// The periods in which any of them wanted to run.
    pub periods: u64,
    /// The periods in which they were held up.
    pub throttled: u64,
}

impl Quota {
    /// Returns the limit on a process, or nothing if there is none or it cannot be read.
    #[must_use]
    pub fn of(pid: u32) -> Option<Self> {
        Self::of_each([pid]).pop()
    }

    /// Returns the limits on those of these processes that have one, in their order.
    #[must_use]
    pub fn of_each(processes: impl IntoIterator<Item = u32>) -> Vec<Self> {
        Self::of_each_below(Path::new("/"), processes)
    }

    fn of_each_below(root: &Path, processes: impl IntoIterator<Item = u32>) -> Vec<Self> {
        let mounts = fs::read_to_string(root.join("proc/self/mountinfo")).unwrap_or_default();
        processes.into_iter().filter_map(|pid| Self::tightest(root, &mounts, pid)).collect()
    }

    fn tightest(root: &Path, mounts: &str, pid: u32) -> Option<Self> {
        let groups = fs::read_to_string(root.join(format!("proc/{pid}/cgroup"))).ok()?;
        let mut tightest: Option<Self> = None;
        for line in groups.lines() {
            let mut fields = line.splitn(3, ':');
            let (Some(_), Some(controllers), Some(path)) =
                (fields.next(), fields.next(), fields.next())
            else {
                continue;
            };
            let is_unified = controllers.is_empty();
            if !is_unified && !controllers.split(',').any(|name| name == "cpu") {
                continue;
            }
            for mount in mounts.lines().filter_map(|line| Mount::parse(line, is_unified)) {
                for group in mount.groups(path) {
                    let folder = below(root, &group);
                    let cores = if is_unified { unified(&folder) } else { first_version(&folder) };
                    if let Some(cores) = cores
                        && tightest.as_ref().is_none_or(|known| cores < known.cores)
                    {
                        tightest = Some(Self { cores, group: folder });
                    }
                }
            }
        }
        tightest
    }

    /// Returns how often its processes were held up, if the kernel says so.
    #[must_use]
    pub fn throttling(&self) -> Option<Throttling> {
        let text = fs::read_to_string(self.group.join("cpu.stat")).ok()?;
        let value = |name: &str| {
            let mut words = text.lines().map(|line| line.split_once(' '));
            words.find_map(|line| line.filter(|(key, _)| *key == name))?.1.trim().parse().ok()
        };
        Some(Throttling { periods: value("nr_periods")?, throttled: value("nr_throttled")? })
    }
}

impl Quota {
    /// Returns what it makes of figures on so many cores, if it changes them: that it allows less, or
    /// that it held the processes up while these were measured.
    #[must_use]
    pub fn warning(&self, cores: u32, held_up: Throttling) -> Option<String> {
        let allows_less = self.cores < f64::from(cores);
        let held_up = match held_up.throttled {
            0 if !allows_less => return None,
            0 => String::new(),
            times => format!(", and held it up in {times} of {} periods", held_up.periods),
        };
        Some(format!(
            "the control group allows the time of {:.2} cores, where {cores} were to be used{held_up}: \
             figures on more cores than that are those of the limit; measure without it",
            self.cores
        ))
    }
}

impl Throttling {
    /// What came after `before`.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            periods: self.periods.saturating_sub(before.periods),
            throttled: self.throttled.saturating_sub(before.throttled),
        }
    }
}

/// Where a hierarchy of groups is mounted.
struct Mount {
    /// The group that is seen at the place.
    root: PathBuf,
    place: PathBuf,
}

impl Mount {
    /// Reads a line of `mountinfo`, if it is about the hierarchy of the controller of cores.
    fn parse(line: &str, is_unified: bool) -> Option<Self> {
        let (before, behind) = line.split_once(" - ")?;
        let mut kind = behind.split(' ');
        let (kind, options) = (kind.next()?, kind.nth(1)?);
        let is_wanted = match kind {
            "cgroup2" => is_unified,
            "cgroup" => !is_unified && options.split(',').any(|option| option == "cpu"),
            _ => false,
        };
        let mut fields = before.split(' ').skip(3);
        let (root, place) = (fields.next()?, fields.next()?);
        is_wanted.then(|| Self { root: root.into(), place: place.into() })
    }

    /// The folders of a group and of all above it, as far as they are seen here.
    fn groups(&self, group: &str) -> Vec<PathBuf> {
        // Within a namespace of groups, the mount begins at its top, and so does the group's path.
        let path = Path::new(group);
        let relative = path.strip_prefix(&self.root).or_else(|_| path.strip_prefix("/"));
        let relative = relative.unwrap_or(Path::new(""));
        // A group outside of what is seen here is written with `..`.
        let is_seen = !relative.components().any(|part| part.as_os_str() == "..");
        let relative = if is_seen { relative } else { Path::new("") };
        relative.ancestors().map(|part| self.place.join(part)).collect()
    }
}

/// A path below another root.
fn below(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// The second version: `cpu.max` is `200000 100000`, or `max 100000`.
fn unified(group: &Path) -> Option<f64> {
    let text = fs::read_to_string(group.join("cpu.max")).ok()?;
    let mut numbers = text.split_whitespace().map(str::parse::<f64>);
    cores(numbers.next()?.ok()?, numbers.next()?.ok()?)
}

/// The first version: two files, and -1 for no limit.
fn first_version(group: &Path) -> Option<f64> {
    let number = |name: &str| -> Option<f64> {
        fs::read_to_string(group.join(name)).ok()?.trim().parse().ok()
    };
    cores(number("cpu.cfs_quota_us")?, number("cpu.cfs_period_us")?)
}

fn cores(quota: f64, period: f64) -> Option<f64> {
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A system of files: paths and what is in them.
    fn system(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        for (path, content) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("room");
            fs::write(path, content).expect("room");
        }
        root
    }

    const SECOND: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";
    const FIRST: &str = "31 23 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
                         32 23 0:28 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n";

    #[test]
    fn the_tightest_of_all_groups_above_counts() {
        let root = system(&[
            ("proc/self/mountinfo", SECOND),
            ("proc/7/cgroup", "0::/a.slice/b.scope\n"),
            ("sys/fs/cgroup/a.slice/cpu.max", "50000 100000\n"),
            ("sys/fs/cgroup/a.slice/cpu.stat", "usage_usec 7\nnr_periods 89\nnr_throttled 85\n"),
            ("sys/fs/cgroup/a.slice/b.scope/cpu.max", "max 100000\n"),
        ]);
        let quota = Quota::of_each_below(root.path(), [7]).pop().expect("there is one");
        assert_eq!(quota.cores, 0.5);
        assert_eq!(quota.throttling(), Some(Throttling { periods: 89, throttled: 85 }));
    }

    #[test]
    fn a_limit_is_warned_of_if_it_allows_less_or_held_up() {
        let quota = Quota { cores: 1.5, group: PathBuf::new() };
        let said = |cores, throttled| quota.warning(cores, Throttling { periods: 20, throttled });
        assert_eq!(said(1, 0), None);
        let less = said(2, 0).expect("it allows less");
        assert!(less.contains("the time of 1.50 cores, where 2 were to be used: fig"), "{less}");
        let held_up = said(1, 7).expect("it held up");
        assert!(held_up.contains("and held it up in 7 of 20 periods"), "{held_up}");
    }

    #[test]
    fn both_versions_and_namespaces_are_read() {
        for (mounts, groups, files) in [
            (FIRST, "4:cpu,cpuacct:/box\n3:pids:/\n", "sys/fs/cgroup/cpu/box"),
            // In a container, the mount shows what is below its own group only.
            (
                "31 23 0:27 /docker/1f /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n",
                "4:cpu:/docker/1f/box\n",
                "sys/fs/cgroup/cpu/box",
            ),
        ] {
            let (quota, period) =
                (format!("{files}/cpu.cfs_quota_us"), format!("{files}/cpu.cfs_period_us"));
            let root = system(&[
                ("proc/self/mountinfo", mounts),
                ("proc/7/cgroup", groups),
                (&quota, "10000\n"),
                (&period, "100000\n"),
            ]);
            assert_eq!(
                Quota::of_each_below(root.path(), [7]).pop().map(|quota| quota.cores),
                Some(0.1),
                "{mounts}"
            );
        }
    }

    #[test]
    fn no_limit_is_none() {
        let root = system(&[
            ("proc/self/mountinfo", SECOND),
            ("proc/7/cgroup", "0::/\n"),
            ("sys/fs/cgroup/cpu.max", "max 100000\n"),
        ]);
        assert_eq!(Quota::of_each_below(root.path(), [7]).pop(), None);
        assert_eq!(Quota::of_each_below(root.path(), [8]).pop(), None);
    }
}
