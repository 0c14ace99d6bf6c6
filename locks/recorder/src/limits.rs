//! Limits that control groups set on a program, and how often they held it up.

use std::collections::BTreeMap;
use std::iter;
use std::path::PathBuf;

use kilocore_figures::Nanoseconds;
use kilocore_linux::{Quota, Throttling};
use kilocore_lock_profile::CpuLimit;
use kilocore_process::CpuId;

/// The first of these cores, as many as control groups allow this process the time of, and what it starts.
/// On more of them a program would be held up, and its time would be that of the limit.
pub(crate) fn within_limits(cores: &[CpuId]) -> &[CpuId] {
    within_limits_of(std::process::id(), cores)
}

/// The same of another process.
pub(crate) fn within_limits_of(pid: u32, cores: &[CpuId]) -> &[CpuId] {
    let limit = Quota::of(pid);
    let whole = limit.map_or(cores.len(), |limit| limit.cores.floor() as usize);
    &cores[..whole.min(cores.len())]
}

/// What is known of a group with a limit.
#[derive(Debug, Clone)]
struct GroupLimit {
    quota: Quota,
    first: Throttling,
    last: Throttling,
    /// Whether a process of the program was seen in it, or below it.
    is_its: bool,
}

/// The groups of a program's processes, on the whole way up.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    groups: BTreeMap<PathBuf, GroupLimit>,
}

impl Limits {
    /// For a program that is about to be started: it begins in the groups of this process.
    pub(crate) fn before_start() -> Self {
        let mut limits = Self::default();
        limits.add(iter::once(std::process::id()), false);
        limits
    }

    /// Looks at the groups of these processes of the program.
    pub(crate) fn look(&mut self, processes: impl Iterator<Item = u32>) {
        /// The processes of a program are mostly in one group.
        const MOST: usize = 8;
        self.add(processes.take(MOST), true);
    }

    fn add(&mut self, processes: impl Iterator<Item = u32>, is_its: bool) {
        for quota in Quota::of_each(processes) {
            let now = quota.throttling().unwrap_or_default();
            let seen = self.groups.entry(quota.group.clone()).or_insert_with(|| GroupLimit {
                quota: quota.clone(),
                first: now,
                last: now,
                is_its,
            });
            // The least that it was allowed: somebody may change the limit meanwhile.
            seen.quota.cores = seen.quota.cores.min(quota.cores);
            seen.last = now;
            seen.is_its |= is_its;
        }
    }

    /// Looks at the groups that are known, whoever is in them now.
    fn look_again(&mut self) {
        for seen in self.groups.values_mut() {
            // A group that is gone says no more.
            seen.last = seen.quota.throttling().unwrap_or(seen.last);
        }
    }

    /// Forgets how often the program was held up so far.
    pub(crate) fn begin_anew(&mut self) {
        self.look_again();
        self.groups.values_mut().for_each(|seen| seen.first = seen.last);
    }

    /// The limit that held the program up longest until now, or the tightest. Where none of the program's
    /// processes was seen, it is that of the groups in which it began.
    pub(crate) fn limit(&mut self) -> Option<CpuLimit> {
        self.look_again();
        let is_any_seen = self.groups.values().any(|seen| seen.is_its);
        let counted = self.groups.values().filter(|seen| seen.is_its || !is_any_seen);
        let limits = counted.map(|seen| (seen, seen.last.since(seen.first)));
        let most = limits.max_by(|(one, a), (other, b)| {
            let by_time = a.time.unwrap_or_default().cmp(&b.time.unwrap_or_default());
            let by_cores = other.quota.cores.total_cmp(&one.quota.cores);
            by_time.then(a.throttled.cmp(&b.throttled)).then(by_cores)
        });
        most.map(|(seen, Throttling { periods, throttled, time })| CpuLimit {
            cores: seen.quota.cores,
            periods,
            throttled,
            throttled_time: time.map(|time| Nanoseconds::from(time).calculated()),
            group: Some(seen.quota.name.clone()),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// What is known of a group that allows so many cores and has held its processes up for so many
    /// milliseconds, after none.
    fn group(folder: &Path, name: &str, cores: f64, held_up_ms: u64) -> (PathBuf, GroupLimit) {
        let folder = folder.join(name);
        fs::create_dir(&folder).expect("there is room");
        let stat = format!(
            "nr_periods 10\nnr_throttled {}\nthrottled_usec {}\n",
            u64::from(held_up_ms > 0),
            held_up_ms * 1000
        );
        fs::write(folder.join("cpu.stat"), stat).expect("there is room");
        let quota = Quota { cores, group: folder.clone(), name: format!("/{name}") };
        let first = Throttling { time: Some(Default::default()), ..Throttling::default() };
        (folder, GroupLimit { quota, first, last: first, is_its: true })
    }

    #[test]
    fn the_group_that_held_it_up_counts_wherever_on_the_way_up_it_is() {
        let folder = tempfile::tempdir().expect("there is room");
        let of = |name, cores, ms| group(folder.path(), name, cores, ms);
        let mut limits =
            Limits { groups: [of("own", 0.5, 0), of("above", 4.0, 70)].into_iter().collect() };
        let limit = limits.limit().expect("there are two");
        assert_eq!((limit.cores, limit.group.as_deref()), (4.0, Some("/above")));
        assert_eq!((limit.periods, limit.throttled), (10, 1));
        assert_eq!(limit.throttled_time, Some(Nanoseconds(7e7)));
        limits.begin_anew();
        let limit = limits.limit().expect("they are still there");
        assert_eq!((limit.cores, limit.throttled), (0.5, 0), "else the tightest counts");
    }

    #[test]
    fn groups_that_only_this_process_is_in_count_where_nothing_was_seen_of_the_program() {
        let folder = tempfile::tempdir().expect("there is room");
        let mut groups: BTreeMap<_, _> =
            [group(folder.path(), "ours", 1.0, 50), group(folder.path(), "its", 2.0, 0)].into();
        for (path, seen) in &mut groups {
            seen.is_its = path.ends_with("its");
        }
        let mut limits = Limits { groups };
        assert_eq!(limits.limit().map(|limit| limit.cores), Some(2.0));
        limits.groups.retain(|_, seen| !seen.is_its);
        assert_eq!(limits.limit().map(|limit| limit.cores), Some(1.0));
        assert_eq!(Limits::default().limit(), None);
    }
}
