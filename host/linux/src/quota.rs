//! What control groups allow their processes of the cores' time.
//!
//! A container with a limit of half a core sees all cores of its host. Its threads run on all of them
//! until the time of a *period* (mostly 100 ms) is used up, and then all of them are held up until the
//! next one. What such a program does says little of how it scales with cores.
//!
//! Each group on the way up may have a limit, and each of these may hold the program up: a group of many
//! processes that allows four cores does so when all of them together want more.
//!
//! What the files say is read as far as some room reaches, and what makes no sense counts as no limit.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A file of a group holds a few numbers.
const SMALL: u64 = 64 << 10;
/// A host of many containers has thousands of mounts.
const MOUNTS: u64 = 16 << 20;
/// Linux allows no deeper groups by default than some hundreds.
const DEEPEST: usize = 256;

/// A limit on a process's groups.
#[derive(Debug, Clone, PartialEq)]
pub struct Quota {
    /// How many cores' time its processes may use together.
    pub cores: f64,
    /// The group that limits them, as a folder of the kernel's.
    pub group: PathBuf,
    /// The group's name, from the top of what is seen here: `/box`.
    pub name: String,
}

/// How often the processes of a group were held up since it exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Throttling {
    /// The periods in which any of them wanted to run.
    pub periods: u64,
    /// The periods in which they were held up.
    pub throttled: u64,
    /// How long they were held up, summed over the cores on which they wanted to run. Nothing if the kernel
    /// does not tell.
    pub time: Option<Duration>,
}

impl Quota {
    /// Returns the tightest limit on a process, or nothing if there is none or it cannot be read.
    #[must_use]
    pub fn of(pid: u32) -> Option<Self> {
        let limits = Self::of_each([pid]).into_iter();
        limits.reduce(|tightest, one| if one.cores < tightest.cores { one } else { tightest })
    }

    /// Returns the limits of all groups that these processes are in, on the whole way up, each once.
    #[must_use]
    pub fn of_each(processes: impl IntoIterator<Item = u32>) -> Vec<Self> {
        Self::of_each_below(Path::new("/"), processes)
    }

    fn of_each_below(root: &Path, processes: impl IntoIterator<Item = u32>) -> Vec<Self> {
        let mounts = text(&root.join("proc/self/mountinfo"), MOUNTS).unwrap_or_default();
        let mut limits: Vec<Self> = Vec::new();
        for pid in processes {
            for limit in Self::of_groups(root, &mounts, pid) {
                if limits.iter().all(|known| known.group != limit.group) {
                    limits.push(limit);
                }
            }
        }
        limits
    }

    /// The limits of a process's group and of those above it.
    fn of_groups(root: &Path, mounts: &str, pid: u32) -> Vec<Self> {
        let groups = text(&root.join(format!("proc/{pid}/cgroup")), SMALL).unwrap_or_default();
        let mut limits = Vec::new();
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
                for part in mount.groups(path) {
                    let group = below(root, &mount.place.join(&part));
                    let cores = if is_unified { unified(&group) } else { first_version(&group) };
                    let name = || format!("/{}", part.display());
                    limits.extend(cores.map(|cores| Self { cores, group, name: name() }));
                }
            }
        }
        limits
    }

    /// Returns how often its processes were held up, if the kernel says so.
    #[must_use]
    pub fn throttling(&self) -> Option<Throttling> {
        Throttling::parse(&text(&self.group.join("cpu.stat"), SMALL)?)
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
    /// Reads a group's `cpu.stat`. The second version counts in microseconds, and the first in nanoseconds.
    fn parse(text: &str) -> Option<Self> {
        let value = |name: &str| -> Option<u64> {
            let mut words = text.lines().map(|line| line.split_once(' '));
            words.find_map(|line| line.filter(|(key, _)| *key == name))?.1.trim().parse().ok()
        };
        let time = value("throttled_usec").map(Duration::from_micros);
        let time = time.or_else(|| value("throttled_time").map(Duration::from_nanos));
        Some(Self { periods: value("nr_periods")?, throttled: value("nr_throttled")?, time })
    }

    /// What came after `before`.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        let time = self.time.zip(before.time).map(|(now, before)| now.saturating_sub(before));
        Self {
            periods: self.periods.saturating_sub(before.periods),
            throttled: self.throttled.saturating_sub(before.throttled),
            time,
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
        is_wanted.then(|| Self { root: unescaped(root), place: unescaped(place) })
    }

    /// A group and all above it, as far as they are seen here: their folders below the place.
    fn groups(&self, group: &str) -> Vec<PathBuf> {
        // Within a namespace of groups, the mount begins at its top, and so does the group's path.
        let path = Path::new(group);
        let relative = path.strip_prefix(&self.root).or_else(|_| path.strip_prefix("/"));
        let relative = relative.unwrap_or(Path::new(""));
        // A group outside of what is seen here is written with `..`.
        let is_seen = !relative.components().any(|part| part.as_os_str() == "..");
        let relative = if is_seen { relative } else { Path::new("") };
        relative.ancestors().take(DEEPEST).map(Path::to_owned).collect()
    }
}

/// A path of `mountinfo`, in which blanks and the like are written as `\040`.
fn unescaped(path: &str) -> PathBuf {
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let code = (first == b'\\').then(|| behind.get(..3)).flatten();
        let code =
            code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 8).ok());
        match code {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[3..];
            }
            None => {
                bytes.push(first);
                rest = behind;
            }
        }
    }
    OsString::from_vec(bytes).into()
}

/// The text of a file, as far as it is no longer than `most` bytes.
fn text(path: &Path, most: u64) -> Option<String> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(most).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// A path below another root.
fn below(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// The second version: `cpu.max` is `200000 100000`, or `max 100000`.
fn unified(group: &Path) -> Option<f64> {
    let text = text(&group.join("cpu.max"), SMALL)?;
    let mut words = text.split_whitespace();
    cores(words.next()?, words.next()?)
}

/// The first version: two files, and -1 for no limit.
fn first_version(group: &Path) -> Option<f64> {
    let word = |name: &str| text(&group.join(name), SMALL);
    cores(&word("cpu.cfs_quota_us")?, &word("cpu.cfs_period_us")?)
}

/// How many cores' time that is, in microseconds of a period.
fn cores(quota: &str, period: &str) -> Option<f64> {
    let number = |text: &str| text.trim().parse::<u64>().ok().filter(|&number| number > 0);
    Some(number(quota)? as f64 / number(period)? as f64)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

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
    fn each_group_on_the_way_up_may_have_a_limit() {
        let root = system(&[
            ("proc/self/mountinfo", SECOND),
            ("proc/7/cgroup", "0::/a.slice/b.scope\n"),
            ("proc/8/cgroup", "0::/a.slice/c.scope\n"),
            ("sys/fs/cgroup/a.slice/cpu.max", "50000 100000\n"),
            (
                "sys/fs/cgroup/a.slice/cpu.stat",
                "usage_usec 7\nnr_periods 89\nnr_throttled 85\nthrottled_usec 1500\n",
            ),
            ("sys/fs/cgroup/a.slice/b.scope/cpu.max", "400000 100000\n"),
            ("sys/fs/cgroup/a.slice/c.scope/cpu.max", "max 100000\n"),
        ]);
        let limits = Quota::of_each_below(root.path(), [7, 8, 9]);
        let told: Vec<_> = limits.iter().map(|limit| (limit.cores, &*limit.name)).collect();
        assert_eq!(told, [(4.0, "/a.slice/b.scope"), (0.5, "/a.slice")]);
        let time = Some(Duration::from_micros(1500));
        assert_eq!(limits[1].throttling(), Some(Throttling { periods: 89, throttled: 85, time }));
        assert_eq!(limits[0].throttling(), None, "it has no such file");
    }

    #[test]
    fn both_versions_say_how_long_they_held_up_and_an_old_kernel_does_not() {
        let time = |text: &str| Throttling::parse(text).and_then(|throttling| throttling.time);
        let counts = "nr_periods 9\nnr_throttled 3\n";
        assert_eq!(
            time(&format!("{counts}throttled_time 50688318\n")),
            Some(Duration::from_nanos(50_688_318))
        );
        assert_eq!(
            time(&format!("{counts}throttled_usec 50688\n")),
            Some(Duration::from_micros(50_688))
        );
        assert_eq!(Throttling::parse(counts).map(|told| told.time), Some(None));
        assert_eq!(Throttling::parse("nr_periods 9\nnr_throttled -3\n"), None);
        assert_eq!(Throttling::parse("nr_periods 99999999999999999999\n"), None);
    }

    #[test]
    fn a_limit_that_makes_no_sense_is_none() {
        for (quota, period, told) in [
            ("100000", "100000", Some(1.0)),
            ("-1", "100000", None),
            ("max", "100000", None),
            ("0", "100000", None),
            ("100000", "0", None),
            ("nan", "1", None),
            ("inf", "inf", None),
            ("1e3", "1", None),
            ("", "", None),
            ("18446744073709551616", "1", None),
        ] {
            assert_eq!(cores(quota, period), told, "{quota} {period}");
        }
    }

    #[test]
    fn names_with_blanks_are_read_and_half_an_escape_is_itself() {
        for (written, meant) in
            [("/a\\040b", "/a b"), ("/a\\04", "/a\\04"), ("\\", "\\"), ("/\\777x", "/\\777x")]
        {
            assert_eq!(unescaped(written), PathBuf::from(meant), "{written}");
        }
    }

    proptest! {
        // Each case makes files.
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
        #[test]
        fn whatever_the_files_say_is_read(
            mounts in "([0-9]{1,2} )?[0-9]:[0-9] (/[a-z.\\\\0-9]{0,6}){1,3} ?/sys/fs/cgroup rw - cgroup2? x (cpu|rw)\n|\\PC{0,80}",
            groups in "(0::(/[a-z.]{0,4}){0,9}|[0-9]:cpu(,cpuacct)?:(/?[.]{0,3}){0,5}|\\PC{0,40})\n?",
            limit in "[-0-9a-z. \\n]{0,40}",
        ) {
            let root = system(&[
                ("proc/self/mountinfo", &mounts),
                ("proc/7/cgroup", &groups),
                ("sys/fs/cgroup/cpu.max", &limit),
                ("sys/fs/cgroup/cpu.stat", &limit),
            ]);
            for quota in Quota::of_each_below(root.path(), [7]) {
                prop_assert!(quota.cores > 0.0 && quota.cores.is_finite(), "{:?}", quota);
                prop_assert!(quota.group.starts_with(root.path()), "{:?}", quota);
                let _ = quota.throttling();
            }
        }
    }

    #[test]
    fn a_limit_is_warned_of_if_it_allows_less_or_held_up() {
        let quota = Quota { cores: 1.5, group: PathBuf::new(), name: "/".to_owned() };
        let held_up = |throttled| Throttling { periods: 20, throttled, time: None };
        let said = |cores, throttled| quota.warning(cores, held_up(throttled));
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
