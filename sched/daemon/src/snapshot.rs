//! What a daemon sees and does at the end of a window, for a live view.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use kilocore_sched_policy::{GroupStatus, LockLabel, ProgramId, TaskId};

use crate::meter::{Meter, word};
use crate::resctrl::CacheUse;
use crate::sums::OTHERS;
use crate::tree::{Thread, Tree};
use crate::waits::SPINS;

/// A group names so many of its programs and locks at most.
const NAMED: usize = 3;

/// What holds at the end of a window.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// How many windows are over.
    pub windows: u64,
    /// How many threads there are.
    pub threads: usize,
    /// Orders given; in a dry run, that would have been given.
    pub orders: u64,
    /// What all programs together have of caches, if that is watched.
    pub caches: Option<CacheUse>,
    /// How orders are carried out.
    pub control: String,
    /// The sources of what is known of threads, as sentences.
    pub sources: Vec<String>,
    /// What cannot be seen.
    pub unseen: Vec<String>,
    /// The groups that are confined.
    pub groups: Vec<GroupView>,
    /// How many of the other threads are treated how. None is counted twice.
    pub others: BTreeMap<Other, usize>,
}

/// A group of threads that is confined to some cores.
#[derive(Debug, Clone)]
pub struct GroupView {
    /// What the policy says of it.
    pub status: GroupStatus,
    /// Some of its programs, as `name (pid)`.
    pub programs: Vec<String>,
    /// Some of its locks, in words.
    pub locks: Vec<String>,
    /// How many of its locks and programs are not named.
    pub unnamed: usize,
}

/// How a thread outside of all groups is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Other {
    /// It has an order of its own.
    Ordered,
    /// It is left alone, as the system refused an order for it.
    Refused,
    /// It is left alone, as its owner allows it one core only.
    OneCore,
    /// It is left alone, as the policy asks for nothing.
    NotAsked,
}

/// Who is shown snapshots.
#[derive(Default)]
pub(crate) struct Watcher(pub(crate) Option<Box<dyn FnMut(Snapshot) + Send>>);

impl fmt::Debug for Watcher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Watcher").field(&self.0.is_some()).finish()
    }
}

impl Snapshot {
    /// Fills in what becomes of each thread.
    pub(crate) fn sort(&mut self, tree: &Tree, groups: Vec<GroupStatus>, meter: &Meter) {
        let confined: BTreeSet<TaskId> =
            groups.iter().flat_map(|group| group.tasks.iter().copied()).collect();
        for thread in tree.threads() {
            self.threads += 1;
            if thread.refused || !confined.contains(&thread.task) {
                *self.others.entry(Other::of(thread)).or_default() += 1;
            }
        }
        self.groups = groups.into_iter().map(|group| GroupView::of(group, tree, meter)).collect();
    }
}

impl Other {
    fn of(thread: &Thread) -> Self {
        if thread.refused {
            Self::Refused
        } else if thread.set.is_some() {
            Self::Ordered
        } else if thread.allowed.len() <= 1 {
            Self::OneCore
        } else {
            Self::NotAsked
        }
    }
}

impl GroupView {
    fn of(status: GroupStatus, tree: &Tree, meter: &Meter) -> Self {
        let threads = status.tasks.iter().filter_map(|task| tree.thread(*task));
        let programs: BTreeMap<ProgramId, u32> =
            threads.map(|thread| (thread.program, thread.process.id)).collect();
        let named = programs.values().take(NAMED).map(|pid| named(*pid)).collect();
        let lock = |lock: &LockLabel| match meter.kernel_lock(*lock) {
            Some(kernels) => kernels.to_owned(),
            None => describe(*lock, &programs),
        };
        let locks = status.locks.iter().take(NAMED).map(lock);
        Self {
            programs: named,
            locks: locks.collect(),
            unnamed: programs.len().saturating_sub(NAMED)
                + status.locks.len().saturating_sub(NAMED),
            status,
        }
    }
}

fn named(pid: u32) -> String {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    format!("{} ({pid})", name.trim_end())
}

/// A lock in words. Its program is the one for which its address is one of user space.
fn describe(lock: LockLabel, programs: &BTreeMap<ProgramId, u32>) -> String {
    const USER_SPACE: u64 = 1 << 47;
    let words: Vec<u64> = programs.keys().map(|program| word(lock, *program)).collect();
    if words.contains(&SPINS) {
        "those on which it spins".to_owned()
    } else if words.contains(&OTHERS) {
        "many that are waited for little".to_owned()
    } else {
        let word = words.iter().find(|word| **word < USER_SPACE);
        word.map_or("one of another program".to_owned(), |word| format!("{word:#x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::label;

    #[test]
    fn locks_are_named_by_their_addresses_and_spins_as_such() {
        let programs = BTreeMap::from([(ProgramId(3), 30), (ProgramId(7), 70)]);
        assert_eq!(describe(label(ProgramId(7), 0x7f12_3450), &programs), "0x7f123450");
        assert_eq!(describe(label(ProgramId(3), 0), &programs), "those on which it spins");
        let many = describe(label(ProgramId(7), 1), &programs);
        assert_eq!(many, "many that are waited for little");
        assert_eq!(describe(label(ProgramId(9), 64), &programs), "one of another program");
    }
}
