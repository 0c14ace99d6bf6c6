//! What a driver remembers of a simulation, for whoever looks at it afterwards.

use kilocore_platform::Cycles;
use kilocore_sched_policy::{GroupState, GroupStatus};
use kilocore_sim::{TaskTimes, TaskView};

/// Windows that count: those between two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// How many windows pass before those that count.
    pub warm_up: u32,
    /// How many windows count, at least one.
    pub windows: u32,
}

impl Span {
    /// After how many windows all is over.
    #[must_use]
    pub fn end(&self) -> u32 {
        self.warm_up + self.windows
    }
}

/// What was seen of the windows that count, and of what the policy did.
#[derive(Debug, Default)]
pub struct Record {
    /// How many windows are over.
    pub(crate) windows: u32,
    /// All tasks at the beginning of the windows that count.
    first: Vec<TaskView>,
    /// And at their end.
    last: Vec<TaskView>,
    /// What the policy had confined at their end.
    groups: Vec<GroupStatus>,
    /// After how many windows a best number of cores was first known.
    found: Option<u32>,
    /// How often the policy gave orders.
    orders: u64,
}

impl Record {
    /// A window is over.
    pub(crate) fn window(&mut self, span: Span, tasks: &[TaskView], groups: Vec<GroupStatus>) {
        self.windows += 1;
        let holding = groups.iter().any(|group| group.state == GroupState::Holding);
        if self.found.is_none() && holding {
            self.found = Some(self.windows);
        }
        if self.windows == span.warm_up {
            self.first = tasks.to_vec();
        }
        if self.windows == span.end() {
            self.last = tasks.to_vec();
            self.groups = groups;
        }
    }

    pub(crate) fn ordered(&mut self, orders: usize) {
        self.orders += orders as u64;
    }

    /// Whether all windows that count are over.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        !self.last.is_empty()
    }

    /// What each task did in the windows that count.
    #[must_use]
    pub fn times(&self) -> Vec<TaskTimes> {
        let before = |index: usize| self.first.get(index).map(|view| view.times);
        let tasks = self.last.iter().enumerate();
        tasks.map(|(index, view)| view.times.since(&before(index).unwrap_or_default())).collect()
    }

    /// Which part of the time that tasks ran or waited for locks they waited for locks, from 0 to 1.
    #[must_use]
    pub fn waiting(&self) -> f64 {
        let sum = |views: &[TaskView]| {
            let locks = views.iter().flat_map(|view| &view.locks);
            let (mut spun, mut slept) = (Cycles(0), Cycles(0));
            for lock in locks {
                spun += lock.on_core;
                slept += lock.asleep;
            }
            (spun.0, slept.0)
        };
        let ((spun, slept), (spun_before, slept_before)) = (sum(&self.last), sum(&self.first));
        let (spun, slept) = (spun - spun_before, slept - slept_before);
        let ran: u64 = self.times().iter().map(|times| times.total().0).sum();
        if ran + slept == 0 { 0.0 } else { (spun + slept) as f64 / (ran + slept) as f64 }
    }

    /// What the policy had confined at the end.
    #[must_use]
    pub fn groups(&self) -> &[GroupStatus] {
        &self.groups
    }

    /// After how many windows, from the beginning of the simulation, a best number of cores was first
    /// known, if it ever was.
    #[must_use]
    pub fn found(&self) -> Option<u32> {
        self.found
    }

    /// How many orders the policy gave.
    #[must_use]
    pub fn orders(&self) -> u64 {
        self.orders
    }
}
