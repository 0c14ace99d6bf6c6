//! Where tasks may run, who decides, and what is counted for those who decide.
//!
//! Most simulations have none of this. It is apart from tasks and cores, so that those stay as small as
//! they were.

use kilocore_platform::{Cycles, LockLabel};

use crate::counters::{LockTimes, TaskCounters};
use crate::execution::Execution;
use crate::ids::{CoreSet, TaskId};
use crate::scheduler::Scheduler;
use crate::table::Table;

/// What a task does, as far as a scheduler tells it apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    OnCore,
    Ready,
    Asleep,
    Done,
}

/// All that concerns schedulers.
#[derive(Debug)]
pub(crate) struct Steering {
    pub(crate) all: CoreSet,
    pub(crate) tasks: Table<TaskId, Steered>,
    pub(crate) scheduler: Option<Box<dyn Scheduler>>,
    /// Caches shared by phases, if tasks execute such.
    pub(crate) execution: Option<Execution>,
    /// A task that the scheduler has left without a core.
    pub(crate) without_core: Option<TaskId>,
}

impl Steering {
    pub(crate) fn new(cores: u32) -> Self {
        Self {
            all: CoreSet::first(cores),
            tasks: Table::new(),
            scheduler: None,
            execution: None,
            without_core: None,
        }
    }

    /// Lets a task, which has just been spawned, run only there.
    pub(crate) fn allow(&mut self, task: TaskId, cores: CoreSet) {
        self.know(task.0 as usize + 1);
        let steered = &mut self.tasks[task];
        steered.allowed = cores;
        steered.cores = cores;
    }

    /// Knows of at least so many tasks.
    pub(crate) fn know(&mut self, tasks: usize) {
        while self.tasks.len() < tasks {
            self.tasks.push(Steered::new(self.all));
        }
    }

    pub(crate) fn schedule_with(&mut self, scheduler: Box<dyn Scheduler>) {
        self.scheduler = Some(scheduler);
    }
}

/// What concerns schedulers of a task.
#[derive(Debug)]
pub(crate) struct Steered {
    /// Where its owner lets it run.
    pub(crate) allowed: CoreSet,
    /// Where the scheduler lets it run.
    pub(crate) cores: CoreSet,
    phase: Phase,
    since: Cycles,
    ready: Cycles,
    asleep: Cycles,
    pub(crate) counters: TaskCounters,
    /// In the order of their labels.
    locks: Vec<LockTimes>,
    waiting: Option<Waiting>,
}

/// A wait for a lock, and what the task had had when it began.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    lock: LockLabel,
    on_core: Cycles,
    asleep: Cycles,
    ready: Cycles,
}

impl Steered {
    fn new(all: CoreSet) -> Self {
        Self {
            allowed: all,
            cores: all,
            phase: Phase::Ready,
            since: Cycles(0),
            ready: Cycles(0),
            asleep: Cycles(0),
            counters: TaskCounters::default(),
            locks: Vec::new(),
            waiting: None,
        }
    }

    /// The task does something else from `time` on.
    pub(crate) fn enter(&mut self, phase: Phase, time: Cycles) {
        self.ready = self.ready(time);
        self.asleep = self.asleep(time);
        self.phase = phase;
        self.since = time;
    }

    /// How long it has wanted a core and had none, until `now`.
    pub(crate) fn ready(&self, now: Cycles) -> Cycles {
        self.until(now, Phase::Ready, self.ready)
    }

    /// How long it has slept, until `now`.
    pub(crate) fn asleep(&self, now: Cycles) -> Cycles {
        self.until(now, Phase::Asleep, self.asleep)
    }

    fn until(&self, now: Cycles, phase: Phase, before: Cycles) -> Cycles {
        if self.phase == phase { before + now.since(self.since) } else { before }
    }

    /// It begins to wait for a lock, having had `on_core` of cores.
    pub(crate) fn begin_wait(&mut self, lock: LockLabel, on_core: Cycles) {
        let Self { asleep, ready, .. } = *self;
        self.waiting = Some(Waiting { lock, on_core, asleep, ready });
    }

    /// It has the lock that it waited for, having had `on_core` of cores by now.
    pub(crate) fn end_wait(&mut self, on_core: Cycles, now: Cycles) {
        let Some(waiting) = self.waiting.take() else { return };
        let waited = self.waited(waiting, on_core, now);
        let times = entry(&mut self.locks, waiting.lock);
        times.acquisitions += 1;
        add(times, waited);
    }

    fn waited(&self, waiting: Waiting, on_core: Cycles, now: Cycles) -> LockTimes {
        LockTimes {
            lock: waiting.lock,
            on_core: on_core.since(waiting.on_core),
            asleep: self.asleep(now).since(waiting.asleep),
            ready: self.ready(now).since(waiting.ready),
            acquisitions: 0,
        }
    }

    /// What it has had to do with locks until `now`, having had `on_core` of cores by then.
    pub(crate) fn locks(&self, on_core: Cycles, now: Cycles) -> Vec<LockTimes> {
        let mut locks = self.locks.clone();
        if let Some(waiting) = self.waiting {
            add(entry(&mut locks, waiting.lock), self.waited(waiting, on_core, now));
        }
        locks
    }
}

fn entry(locks: &mut Vec<LockTimes>, lock: LockLabel) -> &mut LockTimes {
    let at = locks.binary_search_by_key(&lock, |times| times.lock).unwrap_or_else(|at| {
        locks.insert(at, LockTimes::new(lock));
        at
    });
    &mut locks[at]
}

fn add(times: &mut LockTimes, waited: LockTimes) {
    times.on_core += waited.on_core;
    times.asleep += waited.asleep;
    times.ready += waited.ready;
}
