//! Which tasks fight for the same locks.
//!
//! A task that waits notably for a lock joins the lock's group. If it waits for a second lock as well,
//! both locks make one group, since who steers the one steers the other. Independent locks have groups
//! of their own, within one program or in several.
//!
//! Once a group is confined its tasks hardly wait any more. So a member stays for as long as it has to
//! do with the group's locks, and other tasks of its programs that come to these locks join it.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use kilocore_platform::{LockLabel, Nanos};

use crate::ids::{ProgramId, TaskId};
use crate::share::Share;
use crate::window::TaskWindow;

/// A wait is notable if it takes this share of a task's time.
const NOTABLE: Share = Share::percent(5);
/// A second lock makes one group with the first if a task waits for it this fraction as long.
const TOGETHER: u64 = 4;
/// A member leaves after so many windows in which it ran and had nothing to do with the group's locks.
const ABSENT: u32 = 8;
/// The same where acquisitions are not counted: who hardly waits any more is seen there no more.
const UNSEEN: u32 = 64;

/// The number of a group: that of its lowest lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GroupId(pub(crate) LockLabel);

#[derive(Debug, Clone, Copy)]
struct Member {
    group: GroupId,
    program: ProgramId,
    absent: u32,
}

/// The groups of all locks that tasks have waited for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Groups {
    /// The group of each lock.
    of_lock: BTreeMap<LockLabel, GroupId>,
    members: BTreeMap<TaskId, Member>,
}

impl Groups {
    /// Takes a window in. Returns groups that have become part of another one, with that.
    pub(crate) fn update(&mut self, tasks: &[TaskWindow]) -> Vec<(GroupId, GroupId)> {
        let alive: BTreeSet<TaskId> = tasks.iter().map(|task| task.task).collect();
        self.members.retain(|task, _| alive.contains(task));
        let mut merged = Vec::new();
        for task in tasks {
            self.take_locks(task, &mut merged);
        }
        let programs: BTreeSet<(GroupId, ProgramId)> =
            self.members.values().map(|member| (member.group, member.program)).collect();
        let counted: BTreeSet<ProgramId> =
            tasks.iter().filter(|task| is_counted(task)).map(|task| task.program).collect();
        for task in tasks {
            let absent = if counted.contains(&task.program) { ABSENT } else { UNSEEN };
            self.take_task(task, &programs, absent);
        }
        let used: BTreeSet<GroupId> = self.members.values().map(|member| member.group).collect();
        self.of_lock.retain(|_, group| used.contains(group));
        merged
    }

    /// The group that a task is in.
    pub(crate) fn of(&self, task: TaskId) -> Option<GroupId> {
        self.members.get(&task).map(|member| member.group)
    }

    /// All groups that have members.
    pub(crate) fn all(&self) -> BTreeSet<GroupId> {
        self.members.values().map(|member| member.group).collect()
    }

    /// The locks of a group, in rising order.
    pub(crate) fn locks(&self, group: GroupId) -> Vec<LockLabel> {
        let locks = self.of_lock.iter().filter(|(_, of)| **of == group);
        locks.map(|(lock, _)| *lock).collect()
    }

    /// Makes one group of the locks that a task waits for notably.
    fn take_locks(&mut self, task: &TaskWindow, merged: &mut Vec<(GroupId, GroupId)>) {
        let Some(first) = task.hottest() else { return };
        let longest = waited(task, first);
        let time = Nanos(task.ran.0.max(task.spun().0) + task.slept().0);
        if Share::of(Nanos(longest), time) < NOTABLE {
            return;
        }
        for wait in &task.locks {
            if (wait.spun.0 + wait.slept.0).saturating_mul(TOGETHER) >= longest {
                self.of_lock.entry(wait.lock).or_insert(GroupId(wait.lock));
                self.merge(first, wait.lock, merged);
            }
        }
    }

    fn merge(&mut self, a: LockLabel, b: LockLabel, merged: &mut Vec<(GroupId, GroupId)>) {
        let (Some(&a), Some(&b)) = (self.of_lock.get(&a), self.of_lock.get(&b)) else { return };
        if a == b {
            return;
        }
        let (kept, gone) = (a.min(b), a.max(b));
        for group in self.of_lock.values_mut().filter(|group| **group == gone) {
            *group = kept;
        }
        for member in self.members.values_mut().filter(|member| member.group == gone) {
            member.group = kept;
        }
        merged.push((gone, kept));
    }

    fn take_task(
        &mut self,
        task: &TaskWindow,
        programs: &BTreeSet<(GroupId, ProgramId)>,
        absent: u32,
    ) {
        if let Some(member) = self.members.get_mut(&task.task) {
            let group = member.group;
            if task.locks.iter().any(|wait| self.of_lock.get(&wait.lock) == Some(&group)) {
                member.absent = 0;
            } else if task.ran.0 > 0 {
                member.absent += 1;
            }
            if member.absent < absent {
                return;
            }
            self.members.remove(&task.task);
        }
        let hottest = task.hottest().and_then(|lock| self.of_lock.get(&lock)).copied();
        let hottest = hottest.filter(|_| task.waiting() >= NOTABLE);
        let known = || {
            let groups = task.locks.iter().filter_map(|wait| self.of_lock.get(&wait.lock));
            groups.copied().find(|&group| programs.contains(&(group, task.program)))
        };
        if let Some(group) = hottest.or_else(known) {
            self.members.insert(task.task, Member { group, program: task.program, absent: 0 });
        }
    }
}

/// Whether it is known how often a task acquired its locks.
fn is_counted(task: &TaskWindow) -> bool {
    task.locks.iter().any(|wait| wait.acquired.is_some())
}

fn waited(task: &TaskWindow, lock: LockLabel) -> u64 {
    let waits = task.locks.iter().filter(|wait| wait.lock == lock);
    waits.map(|wait| wait.spun.0 + wait.slept.0).sum()
}
