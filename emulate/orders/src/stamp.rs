//! By what a file is known to be as it was.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// By what a file is known to be as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stamp {
    /// Its device.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
    /// What it is, and who may do what with it.
    pub mode: u32,
    /// Its user.
    pub user: u32,
    /// Its group.
    pub group: u32,
    /// Its size.
    pub bytes: u64,
    /// When its content changed, in seconds and nanoseconds.
    pub modified: (i64, i64),
    /// When anything of it changed.
    pub changed: (i64, i64),
}

/// The clock by which files get their times goes on after this at the latest.
const STEP: Duration = Duration::from_millis(20);
/// The same on a file system that notes whole seconds, or every second one.
const LONG_STEP: Duration = Duration::from_millis(2_100);
impl Stamp {
    /// That of a file.
    #[must_use]
    pub fn of(file: &Metadata) -> Self {
        Self {
            device: file.dev(),
            inode: file.ino(),
            mode: file.mode(),
            user: file.uid(),
            group: file.gid(),
            bytes: file.size(),
            modified: (file.mtime(), file.mtime_nsec()),
            changed: (file.ctime(), file.ctime_nsec()),
        }
    }

    /// Whether a file with this stamp has another one at `now` as soon as it changes.
    pub(crate) fn is_settled(&self, now: SystemTime) -> bool {
        let (seconds, ns) = self.changed;
        let step = if ns == 0 { LONG_STEP } else { STEP };
        let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        match (u64::try_from(seconds), u32::try_from(ns)) {
            (Ok(seconds), Ok(ns)) => {
                Duration::new(seconds, ns).checked_add(step).is_some_and(|then| then < since)
            }
            // From before 1970.
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn stamp(changed: (i64, i64)) -> Stamp {
        let is = Path::new("/").metadata().expect("there is a root");
        Stamp { changed, ..Stamp::of(&is) }
    }

    #[test]
    fn a_stamp_counts_once_the_clock_has_gone_on() {
        let at = |ms: u64| UNIX_EPOCH + Duration::from_secs(1_000) + Duration::from_millis(ms);
        assert!(stamp((1_000, 5_000_000)).is_settled(at(30)));
        assert!(!stamp((1_000, 5_000_000)).is_settled(at(20)));
        // Whole seconds may be all that the file system notes.
        assert!(!stamp((1_000, 0)).is_settled(at(2_000)));
        assert!(stamp((1_000, 0)).is_settled(at(2_200)));
        assert!(!stamp((2_000, 1)).is_settled(at(0)), "from the future");
        assert!(!stamp((i64::MAX, 1)).is_settled(at(0)));
        assert!(stamp((-1, 0)).is_settled(at(0)));
    }
}
