//! A policy as the scheduler of a simulation: what was counted between two looks goes in as a window,
//! and orders come out as sets of cores.

use std::cell::RefCell;
use std::rc::Rc;

use kilocore_machine::{Description, HardwareThread};
use kilocore_occupancy::Hardware;
use kilocore_platform::{CpuId, Cycles, Nanos, NodeId};
use kilocore_sched_policy::{
    CacheId, Counters, CpuSet, Machine, Order, Place, Policy, ProgramId, Ready, TaskId, TaskWindow,
    Window,
};
use kilocore_sim::{CoreSet, MachineView, Move, ReadyTask, RunState, Scheduler, TaskView};

/// How much time each task has had of cores: each says so itself.
pub(crate) type Had = Rc<RefCell<Vec<Cycles>>>;

/// A policy as the scheduler of a simulation.
#[derive(Debug)]
pub(crate) struct Driver {
    policy: Box<dyn Policy>,
    machine: Machine,
    ghz: f64,
    window: Nanos,
    had: Had,
    /// What all tasks had done at the last look.
    before: Vec<TaskView>,
}

impl Driver {
    pub(crate) fn new(
        policy: Box<dyn Policy>,
        machine: &Description,
        hardware: &Hardware,
        window: Nanos,
        had: Had,
    ) -> Self {
        let place = |cpu: usize| {
            let location = machine.location(HardwareThread(cpu as u32));
            Place {
                thread: location.thread,
                cache: CacheId(hardware.cache_of(cpu) as u32),
                node: NodeId(location.node),
            }
        };
        Self {
            policy,
            machine: Machine::new((0..hardware.threads()).map(place).collect()),
            ghz: machine.clock_ghz.value,
            window,
            had,
            before: Vec::new(),
        }
    }

    fn nanos(&self, time: Cycles) -> Nanos {
        Nanos((time.0 as f64 / self.ghz).round() as u64)
    }

    /// What a task did since the last look.
    fn task_window(&self, task: &TaskView) -> TaskWindow {
        let before = self.before.get(task.task.0 as usize);
        let since = |of: &dyn Fn(&TaskView) -> u64| of(task) - before.map_or(0, of);
        let time = |of: &dyn Fn(&TaskView) -> Cycles| self.nanos(Cycles(since(&|view| of(view).0)));
        TaskWindow {
            task: TaskId(task.task.0),
            program: ProgramId(task.task.0),
            allowed: task.allowed.iter().collect(),
            cpu: task.core,
            ran: time(&|view| view.times.total()),
            ready: time(&|view| view.ready),
            locks: Vec::new(),
            counters: Some(Counters {
                cycles: since(&|view| view.counters.cycles),
                instructions: since(&|view| view.counters.instructions),
                references: since(&|view| view.counters.references),
                misses: since(&|view| view.counters.misses),
                neighbour_references: since(&|view| view.counters.neighbour_references),
                neighbour_misses: since(&|view| view.counters.neighbour_misses),
            }),
        }
    }
}

fn core_set(cpus: &CpuSet) -> CoreSet {
    cpus.iter().collect()
}

impl Scheduler for Driver {
    fn period(&self) -> Cycles {
        Cycles((self.window.0 as f64 * self.ghz).round() as u64)
    }

    fn balance(&mut self, view: &MachineView<'_>) -> Vec<Move> {
        let alive = view.tasks.iter().filter(|task| task.state != RunState::Done);
        let tasks: Vec<TaskWindow> = alive.map(|task| self.task_window(task)).collect();
        self.before = view.tasks.to_vec();
        let window = Window { length: self.window, tasks: &tasks };
        let orders = self.policy.window(&self.machine, &window);
        let moved = |order: &Order| Move {
            task: kilocore_sim::TaskId(order.task().0),
            cores: core_set(order.cpus()),
        };
        orders.iter().map(moved).collect()
    }

    fn pick(
        &mut self,
        core: CpuId,
        ready: &[ReadyTask],
        running: &[Option<kilocore_sim::TaskId>],
    ) -> usize {
        let had = self.had.borrow();
        let of = |ready: &ReadyTask| Ready {
            task: TaskId(ready.task.0),
            had: self.nanos(had[ready.task.0 as usize]),
        };
        let ready: Vec<Ready> = ready.iter().map(of).collect();
        let running: Vec<Option<TaskId>> =
            running.iter().map(|task| task.map(|task| TaskId(task.0))).collect();
        self.policy.pick(&self.machine, core, &ready, &running)
    }
}
