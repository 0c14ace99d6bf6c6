//! The part of the operating system that schedulers steer: which task is next on a core, and where a
//! task goes when it may not stay.
//!
//! A task that has to move goes to an idle core of its set, or else to the one with the fewest tasks. It
//! does so at once if it computes or is queued, when it leaves the kernel if it is in a section without
//! preemption, and on waking if it is asleep. The new core pays a context switch, and wakes if it was
//! idle. What the task has to fetch again follows from coherence.

use kilocore_platform::{CpuId, Cycles, LockLabel};

use crate::agenda::Event;
use crate::counters::{MachineView, RunState, TaskView};
use crate::engine::Engine;
use crate::ids::{CoreId, CoreSet, Id, TaskId};
use crate::outcome::{Activity, TaskTimes};
use crate::scheduler::{Move, ReadyTask};
use crate::state::{Intent, TaskState};
use crate::steering::{Phase, Steering};

/// How the scheduler and the rest of the crate name a core.
fn cpu(core: CoreId) -> CpuId {
    CpuId(core.0)
}

impl Engine {
    // ---- what is counted ------------------------------------------------------------------

    /// A task does something else from `time` on.
    #[inline]
    pub(crate) fn note(&mut self, task: TaskId, phase: Phase, time: Cycles) {
        if let Some(steering) = &mut self.steering {
            steering.tasks[task].enter(phase, time);
        }
    }

    /// A task gets a core.
    #[inline]
    pub(crate) fn note_start(&mut self, task: TaskId, from: CoreId, core: CoreId, time: Cycles) {
        if let Some(steering) = &mut self.steering {
            let steered = &mut steering.tasks[task];
            steered.enter(Phase::OnCore, time);
            steered.counters.switches += 1;
            steered.counters.migrations += u64::from(from != core);
        }
    }

    pub(crate) fn begin_lock_wait(&mut self, lock: LockLabel) {
        let task = self.running_task();
        let on_core = self.tasks[task].times.total();
        if let Some(steering) = &mut self.steering {
            steering.tasks[task].begin_wait(lock, on_core);
        }
    }

    pub(crate) fn end_lock_wait(&mut self) {
        let (task, now) = (self.running_task(), self.now());
        let on_core = self.tasks[task].times.total();
        if let Some(steering) = &mut self.steering {
            steering.tasks[task].end_wait(on_core, now);
        }
    }

    /// What cores have done for a task until `now`. A wait under way counts so far, and what the task
    /// has been charged for but not done yet does not.
    pub(crate) fn times_until(&self, task: TaskId, now: Cycles) -> TaskTimes {
        let runner = &self.tasks[task];
        let mut times = runner.times;
        match (runner.state, runner.watch) {
            (TaskState::Waiting, Some(watch)) => times.add(watch.activity, now.since(watch.since)),
            (TaskState::Running, _) => times.defer(self.cores[runner.core].time.since(now)),
            _ => times.defer(runner.remaining),
        }
        times
    }

    fn view(&self, task: TaskId, now: Cycles) -> TaskView {
        let runner = &self.tasks[task];
        let steered = &self.steering.as_ref().expect("somebody looks").tasks[task];
        let times = self.times_until(task, now);
        TaskView {
            task,
            state: match runner.state {
                TaskState::Queued => RunState::Ready,
                TaskState::Running | TaskState::Waiting => RunState::OnCore,
                TaskState::Asleep => RunState::Asleep,
                TaskState::Done => RunState::Done,
            },
            core: cpu(runner.core),
            allowed: steered.allowed,
            cores: steered.cores,
            times,
            ready: steered.ready(now),
            asleep: steered.asleep(now),
            locks: steered.locks(times.total(), now),
            counters: match self.execution() {
                Some(execution) => execution.fill(task, steered.counters),
                None => steered.counters,
            },
            beside: self.execution().map_or_else(Vec::new, |execution| execution.beside(task)),
        }
    }

    fn running(&self) -> Vec<Option<TaskId>> {
        self.cores.iter().map(|core| core.task).collect()
    }

    // ---- where a task may run -------------------------------------------------------------

    /// Whether a task may run on a core.
    #[inline]
    pub(crate) fn may_run(&self, task: TaskId, core: CoreId) -> bool {
        let steering = self.steering.as_ref();
        steering.is_none_or(|steering| steering.tasks[task].cores.contains(cpu(core)))
    }

    /// What concerns schedulers and where tasks may run, made if nothing has so far.
    pub(crate) fn steering(&mut self) -> &mut Steering {
        let cores = self.cores.len() as u32;
        self.steering.get_or_insert_with(|| Box::new(Steering::new(cores)))
    }

    /// Lets a task run on these cores only, as it asks for itself or another one does. One that runs elsewhere leaves, but
    /// for the current one, which has to suspend itself for that. Whether any of them is one of the machine.
    pub(crate) fn allow(&mut self, task: TaskId, cores: &CoreSet) -> bool {
        let cores = cores.intersection(&CoreSet::first(self.cores.len() as u32));
        if cores.is_empty() || task.index() >= self.tasks.len() {
            return false;
        }
        let tasks = self.tasks.len();
        let steering = self.steering();
        steering.know(tasks);
        steering.allow(task, cores);
        if task != self.running_task() {
            self.relocate(task, self.now());
        }
        true
    }

    /// The cores on which a task may run.
    pub(crate) fn allowed(&self, task: TaskId) -> CoreSet {
        let steered = self.steering.as_ref().map(|steering| steering.tasks[task].allowed);
        steered.unwrap_or_else(|| CoreSet::first(self.cores.len() as u32))
    }

    /// A task that another one has made may run where that may.
    pub(crate) fn inherit_cores(&mut self, task: TaskId, parent: TaskId) {
        if let Some(steering) = &mut self.steering {
            let allowed = steering.tasks[parent].allowed;
            steering.allow(task, allowed);
        }
    }

    /// How many tasks a core has, the one that it runs and those in its queue.
    fn load(&self, core: CoreId) -> usize {
        self.cores[core].queue.ready.len() + usize::from(self.cores[core].task.is_some())
    }

    /// The core of a task's set with the fewest tasks, the first of them.
    pub(crate) fn least_loaded(&self, task: TaskId) -> CoreId {
        let allowed = self.cores.ids().filter(|&core| self.may_run(task, core));
        allowed.min_by_key(|&core| (self.load(core), core)).expect("no set is empty")
    }

    /// The core where a task looks for a core first when it wakes: the one that it was on if it may run
    /// there. What the task has had of cores counts as if it had had it there.
    pub(crate) fn home_of(&mut self, task: TaskId) -> CoreId {
        let last = self.tasks[task].core;
        if self.may_run(task, last) {
            return last;
        }
        let home = self.least_loaded(task);
        self.rebase(task, home);
        home
    }

    /// Makes a task one of another core's. What it has had counts relative to the others there.
    fn rebase(&mut self, task: TaskId, core: CoreId) {
        let old = self.cores[self.tasks[task].core].queue.least_run;
        let new = self.cores[core].queue.least_run;
        let moved = &mut self.tasks[task];
        moved.run = (moved.run + new).since(old);
        moved.core = core;
    }

    /// Puts a task, which is on no core and in no queue, on a core of its set.
    fn settle(&mut self, task: TaskId, time: Cycles) {
        let home = self.home_of(task);
        if let Some(core) = self.idle_core_near(home, task) {
            let delay = self.wake_core(core, time, task);
            self.start(core, task, delay + self.costs.context_switch);
        } else {
            let core = self.least_loaded(task);
            self.rebase(task, core);
            self.enqueue(core, task, time);
        }
    }

    /// Takes a task out of the queue that it is in.
    fn unqueue(&mut self, task: TaskId) {
        let core = self.tasks[task].core;
        self.cores[core].queue.ready.retain(|&ready| ready != task);
    }

    /// Moves a task to where it may run, or where it runs sooner, if there is such a place and it can
    /// leave.
    pub(crate) fn relocate(&mut self, task: TaskId, time: Cycles) {
        let core = self.tasks[task].core;
        match self.tasks[task].state {
            TaskState::Queued => {
                let sooner = self.load(self.least_loaded(task)) + 1 < self.load(core);
                if !self.may_run(task, core) || sooner {
                    self.unqueue(task);
                    self.settle(task, time);
                }
            }
            TaskState::Running | TaskState::Waiting
                if !self.may_run(task, core) && !self.tasks[task].in_kernel() =>
            {
                self.interrupt(core, task, time);
                let time = self.cores[core].time;
                self.leave_core(core);
                self.settle(task, time);
            }
            _ => {}
        }
    }

    /// The task on a core leaves it for one on which it may run, or goes on if it may run there.
    pub(crate) fn relocate_from(&mut self, core: CoreId) {
        let task = self.running_task();
        if self.may_run(task, core) {
            self.continue_at_core_time(core);
        } else {
            self.relocate(task, self.cores[core].time);
        }
    }

    // ---- sections without preemption ------------------------------------------------------

    /// The running task keeps its core until it [leaves](Self::leave_kernel) the kernel.
    pub(crate) fn enter_kernel(&mut self) {
        let task = self.running_task();
        let sections = &mut self.tasks[task].kernel_sections;
        *sections = sections.checked_add(1).expect("at most 255 sections inside one another");
    }

    /// Ends the innermost section without preemption. Returns what had to wait for the outermost one.
    pub(crate) fn leave_kernel(&mut self) -> Option<Intent> {
        let (task, core) = (self.running_task(), self.current);
        let sections = &mut self.tasks[task].kernel_sections;
        *sections = sections.checked_sub(1).expect("a section without preemption has begun");
        if *sections > 0 || self.steering.is_none() {
            return None;
        }
        let queue = &self.cores[core].queue;
        let slice_over = !queue.ready.is_empty() && self.now() >= queue.slice_start + queue.slice;
        if !self.may_run(task, core) {
            Some(Intent::Relocate)
        } else {
            slice_over.then_some(Intent::GiveWay)
        }
    }

    /// The same for a task that may not suspend itself now. What had to wait happens next.
    pub(crate) fn leave_kernel_later(&mut self) {
        let (task, core, now) = (self.running_task(), self.current, self.now());
        match self.leave_kernel() {
            Some(Intent::Relocate) => self.agenda.plan(now, Event::Relocate { task }),
            Some(_) => {
                let epoch = self.cores[core].queue.slice_epoch;
                self.agenda.plan(now, Event::SliceEnd { core, epoch });
            }
            None => {}
        }
    }

    // ---- decisions ------------------------------------------------------------------------

    /// Prepares what schedulers need, when the machine is switched on.
    pub(crate) fn begin_steering(&mut self) {
        let tasks = self.tasks.len();
        let Some(steering) = &mut self.steering else { return };
        steering.know(tasks);
        let period = steering.scheduler.as_ref().map(|scheduler| scheduler.period());
        if let Some(period) = period {
            self.agenda.plan(period.max(Cycles(1)), Event::Balance);
        }
    }

    /// Gives a core, which a task has left, to the next one.
    pub(crate) fn decide_next(&mut self, core: CoreId, gone: Option<TaskId>) {
        let (next, took) = self.pick(core);
        let chosen = self.cores[core].queue.ready.remove(next);
        if let Some(task) = chosen.or_else(|| self.steal_allowed(core)) {
            self.chain_passes_core(core, gone, task);
            self.start(core, task, self.costs.context_switch + took);
        }
    }

    /// Asks the scheduler which task of a core's queue is next, if there is a choice. Returns how long
    /// it took, too.
    fn pick(&mut self, core: CoreId) -> (usize, Cycles) {
        let queue = &self.cores[core].queue.ready;
        if queue.len() < 2 {
            return (0, Cycles(0));
        }
        let ready = queue.iter().map(|&task| ReadyTask { task, had: self.tasks[task].run });
        let ready: Vec<ReadyTask> = ready.collect();
        let running = self.running();
        let steering = self.steering.as_mut();
        let Some(scheduler) = steering.and_then(|steering| steering.scheduler.as_mut()) else {
            return (0, Cycles(0));
        };
        let picked = scheduler.pick(cpu(core), &ready, &running);
        assert!(picked < ready.len(), "a scheduler picks one of the tasks that are ready");
        (picked, scheduler.decision_time())
    }

    /// Takes a task that may run on a core from the longest queue of another core that has one.
    fn steal_allowed(&mut self, thief: CoreId) -> Option<TaskId> {
        let others = self.cores.enumerate().filter(|(core, _)| *core != thief);
        let found = others.filter_map(|(core, slot)| {
            let ready = &slot.queue.ready;
            let last = ready.iter().rposition(|&task| self.may_run(task, thief))?;
            Some((ready.len(), std::cmp::Reverse(core), last))
        });
        let (_, std::cmp::Reverse(core), last) = found.max()?;
        self.cores[core].queue.ready.remove(last)
    }

    /// Lets the scheduler look at the machine, and does what it says.
    pub(crate) fn balance(&mut self, time: Cycles) {
        if self.agenda.horizon() == Cycles::MAX {
            // Nothing else is left to happen: all tasks have ended, or they wait for ever.
            return;
        }
        let views: Vec<TaskView> = self.tasks.ids().map(|task| self.view(task, time)).collect();
        let running = self.running();
        let steering = self.steering.as_mut().expect("a scheduler planned this");
        let scheduler = steering.scheduler.as_mut().expect("a scheduler planned this");
        let view = MachineView { now: time, tasks: &views, running: &running };
        let moves = scheduler.balance(&view);
        let (period, took) = (scheduler.period(), scheduler.decision_time());
        self.agenda.plan(time + period.max(Cycles(1)), Event::Balance);
        self.charge_decision(took);
        for order in &moves {
            if !self.confine(order) {
                return self.without_core(order.task);
            }
        }
        for order in &moves {
            self.relocate(order.task, time);
        }
        self.even_out(time);
    }

    /// The first core's task pays for a decision.
    fn charge_decision(&mut self, took: Cycles) {
        let core = &mut self.cores[CoreId(0)];
        if let Some(task) = core.task
            && self.tasks[task].state == TaskState::Running
        {
            core.time += took;
            self.tasks[task].times.add(Activity::System, took);
        }
    }

    /// Restricts a task. Returns whether any core is left.
    fn confine(&mut self, order: &Move) -> bool {
        let steering = self.steering.as_mut().expect("a scheduler has decided");
        if order.task.index() >= steering.tasks.len() {
            return false;
        }
        let steered = &mut steering.tasks[order.task];
        let cores = order.cores.intersection(&steered.allowed);
        steered.cores = cores;
        !cores.is_empty()
    }

    /// The scheduler has left a task without a core, which ends the simulation.
    fn without_core(&mut self, task: TaskId) {
        let steering = self.steering.as_mut().expect("a scheduler has decided");
        steering.without_core = Some(task);
        self.agenda.clear();
    }

    /// Moves tasks from long queues to short ones, as the load balancing of an operating system does.
    fn even_out(&mut self, time: Cycles) {
        let queued: Vec<TaskId> =
            self.cores.iter().flat_map(|core| core.queue.ready.iter().rev().copied()).collect();
        for task in queued {
            if self.tasks[task].state == TaskState::Queued {
                self.relocate(task, time);
            }
        }
    }
}
