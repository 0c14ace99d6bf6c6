//! Which paths of a journal are those of things that its daemon makes.
//!
//! What a journal says is done with the rights of whoever reads it. So nothing goes that has not a name which
//! Kilocore gives, in a place where it makes such things.

use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use crate::hierarchy::{Mount, Version};
use crate::host::Host;

/// Why a path is left alone.
pub(crate) fn left_alone(path: &Path) -> String {
    format!(
        "{}: it is left alone, as it is not where or what sched makes now; if it is a folder of recordings, set TMPDIR to \
         the folder in which it is, and else see what it is and remove the journal by hand",
        path.display()
    )
}

/// Whether a folder of recordings can be one of this daemon, where it lies: it is named after the daemon, or lies in
/// one that nobody can guess.
pub(crate) fn is_recordings(path: &Path, daemon: u32) -> bool {
    let digits = |rest: &str| {
        !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
    };
    let is = |path: &Path, prefix: &str| {
        name(path).and_then(|name| name.strip_prefix(prefix)).is_some_and(digits)
    };
    let outer = match path.parent() {
        Some(outer) if is(outer, "kilocore-recordings-") && is(path, "") => outer,
        _ if is(path, &format!("kilocore-sched-{daemon}-")) => path,
        _ => return false,
    };
    let known = ["/dev/shm", "/tmp", "/var/tmp"].map(PathBuf::from);
    let mut known = known.into_iter().chain(std::env::temp_dir().canonicalize().ok());
    // SAFETY: takes no argument.
    let user = unsafe { libc::geteuid() };
    known.any(|known| outer.parent() == Some(&*known))
        && std::fs::symlink_metadata(outer)
            // It may be gone, or never have been made.
            .map_or(true, |found| found.is_dir() && found.uid() == user)
}

/// Whether a group of resctrl, mounted there, can be one of this daemon.
pub(crate) fn is_monitor(path: &Path, mounted: &Path, daemon: u32) -> bool {
    path.parent() == Some(&*mounted.join("mon_groups"))
        && name(path) == Some(&*format!("kilocore-sched-{daemon}"))
}

/// Whether a cgroup can be one of this daemon.
pub(crate) fn is_group(path: &Path, version: Version, daemon: u32, host: &mut dyn Host) -> bool {
    let number = name(path).and_then(|name| {
        let rest = name.strip_prefix(&*format!("kilocore-sched-{daemon}-"))?;
        rest.parse::<u32>().ok().filter(|number| number.to_string() == rest)
    });
    number.is_some() && is_cgroup(path, Some(version), host)
}

/// Whether a path is of a cgroup below a mount, of this version if one is named.
pub(crate) fn is_cgroup(path: &Path, version: Option<Version>, host: &mut dyn Host) -> bool {
    let plain = |part: Component<'_>| matches!(part, Component::RootDir | Component::Normal(_));
    path.components().all(plain)
        && Mount::all(host).iter().any(|mount| {
            version.is_none_or(|version| version == mount.version) && path.starts_with(&mount.point)
        })
}

fn name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_have_the_daemons_number_and_lie_where_they_are_made() {
        let is = |path: &str| is_recordings(Path::new(path), 17);
        assert!(is("/dev/shm/kilocore-sched-17-99") && is("/tmp/kilocore-sched-17-0a-f"));
        assert!(is("/dev/shm/kilocore-recordings-0af/99"));
        for path in [
            "/",
            "/etc",
            "/tmp",
            "/tmp/kilocore-sched-17-",
            "/tmp/kilocore-sched-18-99",
            "/tmp/kilocore-sched-17-9x",
            "/etc/kilocore-sched-17-99",
            "/etc/kilocore-recordings-0af/99",
            "/tmp/kilocore-recordings-0af/x",
            "/tmp/kilocore-recordings-/99",
            "/tmp/../etc/kilocore-sched-17-99",
            "/tmp/kilocore-sched-17-99/..",
        ] {
            assert!(!is(path), "{path}");
        }
    }

    #[test]
    fn monitored_groups_have_one_place_and_one_name() {
        let mounted = Path::new("/sys/fs/resctrl");
        let is = |path: &str| is_monitor(Path::new(path), mounted, 17);
        assert!(is("/sys/fs/resctrl/mon_groups/kilocore-sched-17"));
        assert!(!is("/sys/fs/resctrl/mon_groups/kilocore-sched-1"));
        assert!(!is("/sys/fs/resctrl/kilocore-sched-17") && !is("/tmp/kilocore-sched-17"));
    }
}
