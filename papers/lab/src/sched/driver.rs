//! A policy as a scheduler of the simulated operating system.
//!
//! What a task did in a window is the difference between what had been counted at the window's end and
//! at its beginning. A wait that is under way at either counts up to there. Cycles become nanoseconds of
//! the machine's clock.
//!
//! Real schedulers measure with errors. [`Noise`] multiplies each figure by a random factor around 1.

use std::cell::RefCell;
use std::rc::Rc;

use kilocore_machine::{Description, HardwareThread};
use kilocore_platform::{CpuId, Cycles, Nanos, NodeId};
use kilocore_sched_policy::{
    CacheId, CoRun, Counters, CpuSet, CpuTopology, LockLabel, LockWait, Machine, Order, Policy,
    ProgramId, Ready, TaskId, TaskWindow, Window,
};
use kilocore_sim::{
    CoreSet, LockTimes, MachineView, Move, Random, ReadyTask, RunState, Scheduler, TaskCounters,
    TaskView,
};

use crate::sched::record::{Record, Span};

/// The first so many hardware threads of a machine, as policies see them.
#[must_use]
pub fn machine_for_policies(machine: &Description, cores: u32) -> Machine {
    let topology = &machine.topology;
    let groups_per_cache =
        (topology.groups_per_node / machine.caches.shared_per_node.max(1)).max(1);
    let place = |cpu| {
        let location = machine.location(HardwareThread(cpu));
        CpuTopology {
            thread: location.thread,
            cache: CacheId(location.group / groups_per_cache),
            node: NodeId(location.node),
        }
    };
    Machine::new((0..cores).map(place).collect())
}

/// Errors of measurement: each figure is multiplied by a random factor of its own.
#[derive(Debug, Clone)]
pub struct Noise {
    share: f64,
    random: Random,
}

impl Noise {
    /// Factors between 1 − `percent` / 100 and 1 + `percent` / 100, all equally likely. At most 100.
    #[must_use]
    pub fn new(percent: u32, seed: u64) -> Self {
        Self { share: f64::from(percent.min(100)) / 100.0, random: Random::new(seed, NOISE_STREAM) }
    }

    fn of(&mut self, figure: u64) -> u64 {
        let factor = 1.0 + self.share * (2.0 * self.random.uniform() - 1.0);
        (figure as f64 * factor) as u64
    }
}

/// Not the number of a task.
const NOISE_STREAM: u64 = u64::MAX;

/// Lets a policy schedule a simulation.
#[derive(Debug)]
pub struct Driver {
    policy: Box<dyn Policy>,
    machine: Machine,
    window: Cycles,
    decision: Cycles,
    ghz: f64,
    noise: Noise,
    span: Span,
    before: Vec<TaskView>,
    record: Rc<RefCell<Record>>,
}

impl Driver {
    /// A driver of `policy` on the first `cores` hardware threads of a machine, that remembers what
    /// happens in the windows of `span`. Each decision takes a context switch of the machine.
    #[must_use]
    pub fn new(
        policy: Box<dyn Policy>,
        machine: &Description,
        cores: u32,
        window: Cycles,
        span: Span,
        noise: Noise,
    ) -> Self {
        let ghz = machine.clock_ghz.value;
        Self {
            policy,
            machine: machine_for_policies(machine, cores),
            window,
            decision: Cycles((machine.os.context_switch_ns.value * ghz).round() as u64),
            ghz,
            noise,
            span,
            before: Vec::new(),
            record: Rc::default(),
        }
    }

    /// What the driver remembers, also once the simulation has it.
    #[must_use]
    pub fn record(&self) -> Rc<RefCell<Record>> {
        Rc::clone(&self.record)
    }

    fn nanos(&self, cycles: Cycles) -> Nanos {
        Nanos((cycles.0 as f64 / self.ghz) as u64)
    }

    /// What a task did since `before`, if anything was counted then.
    fn task_window(&mut self, now: &TaskView, before: Option<&TaskView>) -> TaskWindow {
        let none = Cycles(0);
        let ran = before.map_or(now.times, |before| now.times.since(&before.times)).total();
        let ready = now.ready.since(before.map_or(none, |before| before.ready));
        let known = |lock: &LockTimes| {
            let locks = before.map_or(&[][..], |before| &before.locks);
            locks.iter().find(|known| known.lock == lock.lock).copied()
        };
        let (ran, ready) = (self.nanos(ran), self.nanos(ready));
        let mut locks = Vec::new();
        for lock in &now.locks {
            let wait = self.lock_wait(lock, known(lock).as_ref());
            // A lock that it has had nothing to do with in the window is none of the window's.
            if wait.spun.0 + wait.slept.0 > 0 || wait.acquired != Some(0) {
                locks.push(wait);
            }
        }
        TaskWindow {
            task: TaskId(now.task.0),
            // The kernel's locks are everybody's, and so the tasks count as one program.
            program: ProgramId(0),
            allowed: now.allowed.iter().collect(),
            cpu: now.core,
            ran: Nanos(self.noise.of(ran.0)),
            user: None,
            ready: Nanos(self.noise.of(ready.0)),
            locks,
            counters: self.counted(now, before),
            beside: self.beside(now, before),
        }
    }

    /// What a task did beside which others.
    fn beside(&mut self, now: &TaskView, before: Option<&TaskView>) -> Vec<CoRun> {
        let mut beside = Vec::new();
        for pair in &now.beside {
            let known = before
                .and_then(|before| before.beside.iter().find(|known| known.task == pair.task));
            let (cycles, instructions) =
                known.map_or((0, 0), |known| (known.cycles, known.instructions));
            if pair.cycles > cycles {
                beside.push(CoRun {
                    task: TaskId(pair.task.0),
                    cycles: self.noise.of(pair.cycles - cycles),
                    instructions: self.noise.of(pair.instructions - instructions),
                });
            }
        }
        beside
    }

    /// What the processor counted, if the task executes phases.
    fn counted(&mut self, now: &TaskView, before: Option<&TaskView>) -> Option<Counters> {
        if now.counters.cycles == 0 {
            return None;
        }
        let mut since = |of: fn(&TaskCounters) -> u64| {
            let count = of(&now.counters) - before.map_or(0, |before| of(&before.counters));
            self.noise.of(count)
        };
        Some(Counters {
            cycles: since(|counters| counters.cycles),
            instructions: since(|counters| counters.instructions),
            references: since(|counters| counters.references),
            misses: since(|counters| counters.misses),
            neighbour_references: since(|counters| counters.neighbour_references),
            neighbour_misses: since(|counters| counters.neighbour_misses),
        })
    }

    fn lock_wait(&mut self, now: &LockTimes, before: Option<&LockTimes>) -> LockWait {
        let none = LockTimes { lock: now.lock, ..NEVER_TAKEN };
        let before = before.unwrap_or(&none);
        let spun = self.nanos(now.on_core.since(before.on_core));
        let slept = self.nanos(now.asleep.since(before.asleep));
        LockWait {
            lock: now.lock,
            spun: Nanos(self.noise.of(spun.0)),
            slept: Nanos(self.noise.of(slept.0)),
            acquired: Some(self.noise.of(now.acquisitions - before.acquisitions)),
        }
    }
}

const NEVER_TAKEN: LockTimes = LockTimes {
    lock: LockLabel(0),
    on_core: Cycles(0),
    asleep: Cycles(0),
    ready: Cycles(0),
    acquisitions: 0,
};

fn core_set(cpus: &CpuSet) -> CoreSet {
    cpus.iter().collect()
}

fn in_simulation(order: &Order) -> Move {
    Move { task: kilocore_sim::TaskId(order.task().0), cores: core_set(order.cpus()) }
}

impl Scheduler for Driver {
    fn period(&self) -> Cycles {
        self.window
    }

    fn balance(&mut self, view: &MachineView<'_>) -> Vec<Move> {
        let before = std::mem::take(&mut self.before);
        let mut tasks = Vec::with_capacity(view.tasks.len());
        for (index, task) in view.tasks.iter().enumerate() {
            if task.state != RunState::Done {
                tasks.push(self.task_window(task, before.get(index)));
            }
        }
        let window = Window { length: self.nanos(self.window), tasks: &tasks };
        let orders = self.policy.window(&self.machine, &window);
        let mut record = self.record.borrow_mut();
        record.ordered(orders.len());
        record.window(self.span, view.tasks, self.policy.groups());
        self.before = view.tasks.to_vec();
        orders.iter().map(in_simulation).collect()
    }

    fn pick(
        &mut self,
        core: CpuId,
        ready: &[ReadyTask],
        running: &[Option<kilocore_sim::TaskId>],
    ) -> usize {
        let ready: Vec<Ready> = ready
            .iter()
            .map(|one| Ready { task: TaskId(one.task.0), had: self.nanos(one.had) })
            .collect();
        let running: Vec<Option<TaskId>> =
            running.iter().map(|task| task.map(|task| TaskId(task.0))).collect();
        self.policy.pick(&self.machine, core, &ready, &running)
    }

    fn decision_time(&self) -> Cycles {
        self.decision
    }
}
