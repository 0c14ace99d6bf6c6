//! Groups of tasks that fight for the same locks, each on as many cores as its controller says.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use kilocore_platform::Nanos;

use crate::controller::{Controller, Observation};
use crate::cpu_set::CpuSet;
use crate::groups::{GroupId, Groups};
use crate::ids::TaskId;
use crate::line_up::LineUp;
use crate::machine::Machine;
use crate::order::Order;
use crate::policy::GroupStatus;
use crate::score::{Progress, Score, score};
use crate::share::Share;
use crate::window::{TaskWindow, Window};

/// Until acquisitions are counted, cores are; and again, if a task comes whose acquisitions are not.
const MOST_TURNS: u32 = 2;

/// What is known of a group.
#[derive(Debug)]
struct Steered<C> {
    controller: C,
    /// By what it is known how much its tasks get done, and how often that has changed.
    by: Option<Progress>,
    turns: u32,
    /// The cores that all its tasks may use together, and the order in which it gets them.
    allowed: CpuSet,
    line_up: Option<LineUp>,
    /// On how many cores it is.
    cores: Option<u32>,
    waiting: Share,
    windows: u64,
    found: Option<u64>,
    changes: u64,
}

/// All groups of tasks, each with the controller that decides on how many cores it runs.
#[derive(Debug)]
pub(crate) struct Steering<C: Controller> {
    options: C::Options,
    groups: Groups,
    steered: BTreeMap<GroupId, Steered<C>>,
    /// Tasks that are confined, with the group that they are confined for.
    confined: BTreeMap<TaskId, GroupId>,
}

impl<C: Controller> Steering<C> {
    pub(crate) fn new(options: C::Options) -> Self {
        Self {
            options,
            groups: Groups::default(),
            steered: BTreeMap::new(),
            confined: BTreeMap::new(),
        }
    }

    /// A window is over. Returns the orders that follow.
    pub(crate) fn window(&mut self, machine: &Machine, window: &Window<'_>) -> Vec<Order> {
        for (gone, kept) in self.groups.update(window.tasks) {
            // Neither number of cores says anything about both together.
            self.steered.remove(&gone);
            self.steered.remove(&kept);
        }
        let alive = self.groups.all();
        self.steered.retain(|group, _| alive.contains(group));
        let mut moved = BTreeSet::new();
        for &group in &alive {
            if self.steer(group, machine, window) {
                moved.insert(group);
            }
        }
        self.orders(&moved, window.tasks)
    }

    /// Lets a group's controller decide. Returns whether its tasks have to move.
    fn steer(&mut self, id: GroupId, machine: &Machine, window: &Window<'_>) -> bool {
        let groups = &self.groups;
        let members = window.tasks.iter().filter(|task| groups.of(task.task) == Some(id));
        let taken = self.taken_by_others(id);
        let options = self.options;
        let group = self.steered.entry(id).or_insert_with(|| Steered {
            controller: C::new(options),
            by: None,
            turns: 0,
            allowed: CpuSet::new(),
            line_up: None,
            cores: None,
            waiting: Share::NONE,
            windows: 0,
            found: None,
            changes: 0,
        });
        let mut allowed = CpuSet::new();
        for task in members.clone() {
            allowed.extend_from(&task.allowed);
        }
        // A core may have gone since it was allowed.
        let allowed = allowed.intersection(&machine.all());
        let (by, score) = score(group.wants(), group.by, window.length, members.clone());
        if group.by.replace(by).is_some_and(|before| before != by) {
            // What was measured does not compare with what will be.
            group.turns += 1;
            group.controller = C::new(options);
            group.cores = None;
        }
        let seen = observation((by, score), window.length, members, allowed.len(), group.cores);
        group.waiting = seen.waiting;
        let cores = group.controller.observe(&seen).filter(|_| !allowed.is_empty());
        group.note_state();
        let before = group.cpus();
        group.changes += u64::from(group.cores != cores);
        group.cores = cores;
        group.line_up(machine, allowed, &taken);
        group.cpus() != before
    }

    fn taken_by_others(&self, group: GroupId) -> CpuSet {
        let mut taken = CpuSet::new();
        for (_, other) in self.steered.iter().filter(|(id, _)| **id != group) {
            taken.extend_from(&other.cpus());
        }
        taken
    }

    /// Orders for the tasks of groups that move, and for those that came to a group or left one.
    fn orders(&mut self, moved: &BTreeSet<GroupId>, tasks: &[TaskWindow]) -> Vec<Order> {
        let before = core::mem::take(&mut self.confined);
        let mut orders = Vec::new();
        let sets: BTreeMap<GroupId, CpuSet> =
            self.steered.iter().map(|(id, group)| (*id, group.cpus())).collect();
        for task in tasks {
            let group = self.groups.of(task.task);
            let confined = group.filter(|id| sets.get(id).is_some_and(|cpus| !cpus.is_empty()));
            let was = before.get(&task.task).copied();
            if let Some(id) = confined {
                self.confined.insert(task.task, id);
                if was != Some(id) || moved.contains(&id) {
                    orders.push(Order::confine(task, &sets[&id]));
                }
            } else if was.is_some() {
                orders.push(Order::release(task));
            }
        }
        orders
    }

    /// What each confined group is doing.
    pub(crate) fn status(&self) -> Vec<GroupStatus> {
        let confined = self.steered.iter().filter(|(_, group)| group.cores.is_some());
        confined.map(|(&id, group)| self.status_of(id, group)).collect()
    }

    fn status_of(&self, id: GroupId, group: &Steered<C>) -> GroupStatus {
        let tasks = self.confined.iter().filter(|(_, of)| **of == id);
        GroupStatus {
            locks: self.groups.locks(id),
            tasks: tasks.map(|(task, _)| *task).collect(),
            cpus: group.cpus(),
            best: group.controller.best(),
            judged: group.controller.progress().and(group.by),
            waiting: group.waiting,
            state: group.controller.state(),
            windows: group.windows,
            found: group.found,
            changes: group.changes,
        }
    }
}

impl<C: Controller> Steered<C> {
    /// By what it shall be known how much is done. If acquisitions are counted only now and then, they are not
    /// looked at any more.
    fn wants(&self) -> Progress {
        let wanted = self.controller.progress().filter(|_| self.turns < MOST_TURNS);
        wanted.unwrap_or(Progress::UsefulCores)
    }

    /// Where its tasks may run; nothing if they are free.
    fn cpus(&self) -> CpuSet {
        match (&self.line_up, self.cores) {
            (Some(line_up), Some(cores)) => line_up.first(cores),
            _ => CpuSet::new(),
        }
    }

    /// Lines up its cores, and does so anew if its allowance has changed, or if it has grown into cores
    /// of other groups while enough are free.
    fn line_up(&mut self, machine: &Machine, allowed: CpuSet, taken: &CpuSet) {
        let Some(cores) = self.cores else {
            self.line_up = None;
            return;
        };
        let free = allowed.len() - allowed.intersection(taken).len();
        let in_the_way = !self.cpus().intersection(taken).is_empty() && free >= cores;
        if self.line_up.is_none() || self.allowed != allowed || in_the_way {
            self.line_up = Some(LineUp::new(machine, &allowed, taken));
            self.allowed = allowed;
        }
    }

    fn note_state(&mut self) {
        use crate::policy::GroupState::{Free, Holding};
        match self.controller.state() {
            Free => {
                self.windows = 0;
                self.found = None;
            }
            state => {
                self.windows += 1;
                if state == Holding && self.found.is_none() {
                    self.found = Some(self.windows);
                }
            }
        }
    }
}

/// What the tasks of a group did in a window.
fn observation<'a>(
    (by, score): (Progress, Score),
    length: Nanos,
    members: impl Iterator<Item = &'a TaskWindow> + Clone,
    allowed: u32,
    cores: Option<u32>,
) -> Observation {
    let mut waited = 0;
    let mut spinning: u64 = 0;
    let mut useful: u64 = 0;
    let mut active = 0;
    let mut ready = 0;
    for task in members.clone() {
        let (spun, slept) = (task.spun().0, task.slept().0);
        waited += spun + slept;
        spinning = spinning.saturating_add(spun);
        useful = useful.saturating_add(task.ran.0.saturating_sub(spun));
        active += task.ran.0.max(spun) + slept;
        ready += task.ready.0;
    }
    let tasks = members.clone().count() as u32;
    Observation {
        most: allowed.min(tasks).max(1),
        score,
        by,
        waiting: Share::of(Nanos(waited), Nanos(active)),
        spinning: spinning.saturating_mul(1_000_000) / length.0.max(1),
        tasks,
        useful: useful.saturating_mul(1_000_000) / length.0.max(1),
        // At any time, at least half a task wanted one of the cores that they may not use.
        starved: cores.is_some() && ready > length.0 / 2,
    }
}
