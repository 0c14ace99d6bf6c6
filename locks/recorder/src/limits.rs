//! Limits that control groups set on a program, and how often they held it up.

use std::collections::BTreeMap;
use std::path::PathBuf;

use kilocore_linux::{Quota, Throttling};
use kilocore_lock_profile::CpuLimit;

/// What was seen of a group.
#[derive(Debug, Clone, Copy)]
struct GroupLimit {
    cores: f64,
    first: Throttling,
    last: Throttling,
}

/// The groups of a program's processes.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    groups: BTreeMap<PathBuf, GroupLimit>,
}

impl Limits {
    /// Looks at the groups of these processes.
    pub(crate) fn look(&mut self, processes: impl Iterator<Item = u32>) {
        /// The processes of a program are mostly in one group.
        const MOST: usize = 8;
        for quota in Quota::of_each(processes.take(MOST)) {
            let now = quota.throttling().unwrap_or_default();
            let seen = GroupLimit { cores: quota.cores, first: now, last: now };
            let seen = self.groups.entry(quota.group).or_insert(seen);
            (seen.cores, seen.last) = (quota.cores, now);
        }
    }

    /// Forgets how often the program was held up so far.
    pub(crate) fn begin_anew(&mut self) {
        self.groups.values_mut().for_each(|seen| seen.first = seen.last);
    }

    /// The limit that held the program up most, or the tightest.
    pub(crate) fn limit(&self) -> Option<CpuLimit> {
        let limits = self.groups.values().map(|seen| {
            let Throttling { periods, throttled } = seen.last.since(seen.first);
            CpuLimit { cores: seen.cores, periods, throttled }
        });
        limits.max_by(|a, b| a.throttled.cmp(&b.throttled).then(b.cores.total_cmp(&a.cores)))
    }
}
