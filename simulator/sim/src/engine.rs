//! The heart of the simulator: the event queue, and the fibers that run between events.
//!
//! Each core has a clock of its own. A fiber runs on as long as its core is not ahead of the next
//! event; before a memory access that others could notice it gives way to all that is earlier.
//! So accesses take place in simulated order, and the values that the real code reads and writes
//! are those of that order. Ties are broken by seeded random numbers: broken by core number,
//! they would let waiters re-read a line in the order in which they queued, and a ticket lock
//! would never collapse.

use std::cell::Cell;

use corosensei::Yielder;

use crate::agenda::{Agenda, Epoch, Event};
use crate::coherence::{Access, Coherence, LineId};
use crate::costs::{Costs, LONGEST_STEP, Place};
use crate::fiber::Fiber;
use crate::os::{Futexes, RunQueue};
use crate::outcome::{Activity, TaskTimes};
use crate::waiting::{AlertedLists, Watch};

/// Why a fiber suspended itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Intent {
    /// To go on at its core's time, after all that is earlier.
    Continue,
    /// It waits for a line to change, on its core.
    Wait,
    /// It leaves its core and sleeps.
    Sleep,
    /// It offers its core to others.
    GiveWay,
    /// It has computed past the end of what can be simulated.
    GiveUp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Ready, on a run queue.
    Queued,
    /// On a core, computing.
    Running,
    /// On a core, watching a line.
    Waiting,
    /// Asleep in the operating system.
    Asleep,
    Done,
}

#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) fiber: Option<Fiber>,
    pub(crate) state: State,
    /// The core it runs on or ran on last.
    pub(crate) core: u32,
    /// Changes whenever events scheduled for the task so far become void.
    pub(crate) epoch: Epoch,
    /// Computing time that it still has to do once it gets a core again.
    pub(crate) remaining: u64,
    pub(crate) watch: Option<Watch>,
    /// Whether the line it waits for has it on its list.
    pub(crate) watching: bool,
    pub(crate) timed_out: bool,
    /// Whether it holds a lock of the kernel or waits for one, and so keeps its core.
    pub(crate) in_kernel: bool,
    /// How much it has had of its core, in cycles: what the scheduler goes by.
    pub(crate) run: u64,
    /// Since when that has not been accounted for.
    pub(crate) run_since: u64,
    pub(crate) times: TaskTimes,
}

#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) place: Place,
    pub(crate) time: u64,
    pub(crate) task: Option<u32>,
    pub(crate) epoch: Epoch,
    /// When the stores in its buffer will all be done.
    pub(crate) stores_done: u64,
    pub(crate) queue: RunQueue,
    /// The other hardware threads of the same core.
    siblings: Vec<u32>,
}

/// A simulation under way.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) costs: Costs,
    pub(crate) cores: Vec<Core>,
    pub(crate) tasks: Vec<Task>,
    pub(crate) memory: Coherence,
    pub(crate) futexes: Futexes,
    pub(crate) agenda: Agenda,
    pub(crate) alerted: AlertedLists,
    /// The core whose fiber runs.
    pub(crate) current: u32,
    pub(crate) intent: Intent,
    pub(crate) operations: u64,
    pub(crate) switches: u64,
    /// The time after which it is given up.
    pub(crate) latest: u64,
}

thread_local! {
    static CURRENT: Cell<*mut Engine> = const { Cell::new(std::ptr::null_mut()) };
}

/// The engine whose fiber runs on this host thread, if one does.
///
/// # Safety
/// The reference must be dropped before the fiber suspends, and no other one may be alive.
#[inline(always)]
pub(crate) unsafe fn current<'a>() -> Option<&'a mut Engine> {
    // SAFETY: `run` sets the pointer for as long as a fiber runs, and keeps no reference of its
    // own meanwhile; the caller promises that there is no other.
    unsafe { CURRENT.get().as_mut() }
}

/// Suspends the running fiber for the given reason and gives the engine to others.
///
/// # Safety
/// Must be called on a fiber of a running simulation, without a reference to the engine.
pub(crate) unsafe fn suspend(intent: Intent) {
    // SAFETY: the caller is on a fiber, so there is an engine, and its task's fiber has set its
    // yielder, which lives on the fiber's stack as long as its body runs.
    unsafe {
        let engine = &mut *CURRENT.get();
        engine.intent = intent;
        let yielder: *const Yielder<(), ()> = engine.running_yielder();
        (*yielder).suspend(());
    }
}

impl Engine {
    pub(crate) fn new(costs: Costs, places: &[Place], seed: u64) -> Self {
        let mut caches: Vec<Place> = Vec::new();
        let mut cores = Vec::with_capacity(places.len());
        for place in places {
            let known = caches.iter().position(|other| other.cache == place.cache);
            let cache = known.unwrap_or_else(|| {
                caches.push(*place);
                caches.len() - 1
            });
            cores.push(Core {
                place: Place { cache: cache as u32, ..*place },
                time: 0,
                task: None,
                epoch: Epoch::default(),
                stores_done: 0,
                queue: RunQueue::new(),
                siblings: Vec::new(),
            });
        }
        for index in 0..cores.len() {
            let cache = cores[index].place.cache;
            let same = |other: &usize| *other != index && cores[*other].place.cache == cache;
            cores[index].siblings = (0..cores.len()).filter(same).map(|i| i as u32).collect();
        }
        for (index, cache) in caches.iter_mut().enumerate() {
            cache.cache = index as u32;
        }
        let memory = Coherence::new(&costs, caches);
        Self {
            costs,
            cores,
            tasks: Vec::new(),
            memory,
            futexes: Futexes::default(),
            agenda: Agenda::new(seed),
            alerted: AlertedLists::default(),
            current: 0,
            intent: Intent::Continue,
            operations: 0,
            switches: 0,
            latest: 0,
        }
    }

    fn running_yielder(&self) -> *const Yielder<(), ()> {
        let task = self.running_task() as usize;
        self.tasks[task].fiber.as_ref().expect("the running task has a fiber").yielder()
    }

    /// The task whose fiber runs.
    #[inline]
    pub(crate) fn running_task(&self) -> u32 {
        self.cores[self.current as usize].task.expect("a fiber runs on a core")
    }

    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.cores[self.current as usize].time
    }

    /// Lets the current core's clock run on.
    #[inline]
    pub(crate) fn pass(&mut self, activity: Activity, cycles: u64) {
        let core = &mut self.cores[self.current as usize];
        core.time += cycles;
        let task = core.task.expect("a fiber runs on a core") as usize;
        self.tasks[task].times.add(activity, cycles);
    }

    /// Computes for a while: longer, as more hardware threads of the core are busy meanwhile, of
    /// which those of the beginning are taken for those of the whole.
    pub(crate) fn work(&mut self, cycles: u64) {
        let core = &self.cores[self.current as usize];
        if core.siblings.is_empty() {
            return self.pass(Activity::Working, cycles.min(LONGEST_STEP));
        }
        let busy = core.siblings.iter().filter(|&&s| self.cores[s as usize].task.is_some()).count();
        let share = busy as f64 / core.siblings.len() as f64;
        let stretch = 1.0 + share * (self.costs.shared_core_stretch - 1.0).max(0.0);
        let stretched = (cycles as f64 * stretch).round() as u64;
        self.pass(Activity::Working, stretched.min(LONGEST_STEP));
    }

    /// Whether the current core's clock has passed the time after which the simulation is given up.
    #[inline]
    pub(crate) fn takes_too_long(&self) -> bool {
        self.now() > self.latest
    }

    // ---- memory ---------------------------------------------------------------------------

    /// Charges for an access that nobody else can notice, if it is one and may happen now.
    #[inline]
    pub(crate) fn access_privately(&mut self, address: usize, access: Access) -> Option<LineId> {
        self.operations += 1;
        let core = &mut self.cores[self.current as usize];
        let line = self.memory.line_at(address, self.costs.line_shift, core.place.node);
        // Another core's request needs at least the lookahead to get here, so that it cannot
        // have been served before.
        if core.time <= self.agenda.horizon().saturating_add(self.costs.lookahead)
            && self.memory.hits(line, core.place.cache, access)
        {
            let mut cost = self.costs.hit;
            if access == Access::Rmw {
                cost = self.costs.rmw + core.stores_done.saturating_sub(core.time);
            }
            core.time += cost;
            let task = core.task.expect("a fiber runs on a core") as usize;
            self.tasks[task].times.add(Activity::Working, cost);
            return None;
        }
        Some(line)
    }

    /// Whether something else has to happen before the current core's next access.
    #[inline]
    pub(crate) fn must_give_way(&self) -> bool {
        self.now() > self.agenda.horizon()
    }

    /// Charges for an access, at the current core's time.
    pub(crate) fn access(&mut self, line: LineId, access: Access) {
        let index = self.current as usize;
        let Place { cache, .. } = self.cores[index].place;
        let now = self.cores[index].time;
        let issue = match access {
            Access::Rmw => now.max(self.cores[index].stores_done),
            Access::Read | Access::Write => now,
        };
        let hit = if access == Access::Rmw { self.costs.rmw } else { self.costs.hit };
        let done = if self.memory.hits(line, cache, access) {
            issue
        } else {
            self.memory.serve(&self.costs, line, cache, access, issue)
        };
        if access == Access::Write {
            // The store leaves the core at once and takes effect when the line has come.
            self.cores[index].stores_done = self.cores[index].stores_done.max(done);
            self.pass(Activity::Working, hit);
        } else {
            self.pass(Activity::Stalled, done - now);
            self.pass(Activity::Working, hit);
        }
        if access != Access::Read && self.memory.is_watched(line) {
            self.alert_watchers(line, done);
        }
    }

    // ---- running --------------------------------------------------------------------------

    /// Lets the task on a core go on at the core's time.
    pub(crate) fn continue_at_core_time(&mut self, core: u32) {
        let Core { time, epoch, .. } = self.cores[core as usize];
        self.agenda.plan(time, Event::Continue { core, epoch });
    }

    /// Handles an event; gives the core whose fiber has to run now, if one has.
    fn handle(&mut self, time: u64, event: Event) -> Option<u32> {
        match event {
            Event::Continue { core, epoch } => {
                (self.cores[core as usize].epoch == epoch).then_some(core)
            }
            Event::Recheck { task, epoch } => {
                self.recheck_if_waiting(task, epoch, time);
                None
            }
            Event::RecheckAll { list } => {
                self.recheck_all(list, time);
                None
            }
            Event::SliceEnd { core, epoch } => {
                self.end_slice(core, epoch, time);
                None
            }
            Event::Woken { task, epoch } | Event::TimedOut { task, epoch } => {
                if self.tasks[task as usize].epoch == epoch {
                    self.make_ready(task, time, matches!(event, Event::TimedOut { .. }));
                }
                None
            }
        }
    }

    /// Deals with a fiber that has suspended itself or ended.
    fn after_run(&mut self, core: u32, done: bool) -> Option<(u64, Event)> {
        if done {
            let task = self.running_task() as usize;
            self.tasks[task].state = State::Done;
            self.tasks[task].fiber = None;
            self.leave_core(core);
            return None;
        }
        match self.intent {
            Intent::Continue => {
                let Core { time, epoch, .. } = self.cores[core as usize];
                return Some(self.agenda.exchange(time, Event::Continue { core, epoch }));
            }
            Intent::Wait | Intent::GiveUp => {}
            Intent::Sleep => self.leave_core(core),
            Intent::GiveWay => {
                let time = self.cores[core as usize].time;
                self.preempt(core, time);
            }
        }
        None
    }
}

/// Runs until nothing is left to happen. Gives the time at which it was given up, if it was.
///
/// # Safety
/// `engine` is valid, nobody else uses it meanwhile, and no simulation runs on this host thread.
pub(crate) unsafe fn run(engine: *mut Engine) -> Result<(), u64> {
    /// Restores the thread's state also when a fiber panics.
    struct Reset;
    impl Drop for Reset {
        fn drop(&mut self) {
            CURRENT.set(std::ptr::null_mut());
        }
    }
    let _reset = Reset;
    let mut next = None;
    loop {
        // SAFETY: the caller hands the engine over. The reference ends with this block, before a
        // fiber runs and makes one of its own.
        let (core, mut fiber) = unsafe {
            let engine = &mut *engine;
            let Some((time, event)) = next.take().or_else(|| engine.agenda.next()) else {
                return Ok(());
            };
            let Some(core) = engine.handle(time, event) else { continue };
            engine.current = core;
            if engine.takes_too_long() {
                return Err(engine.now());
            }
            let task = engine.running_task() as usize;
            let fiber: *mut Fiber = engine.tasks[task].fiber.as_mut().expect("not done yet");
            (core, std::ptr::NonNull::new_unchecked(fiber))
        };
        CURRENT.set(engine);
        // SAFETY: the fiber stays where it is: tasks are only added before the run. While it
        // runs, the engine is reached through `CURRENT` only.
        let done = unsafe { fiber.as_mut().resume() };
        CURRENT.set(std::ptr::null_mut());
        // SAFETY: as above; the fiber is suspended again, or done.
        let engine = unsafe { &mut *engine };
        if engine.intent == Intent::GiveUp {
            return Err(engine.now());
        }
        next = engine.after_run(core, done);
    }
}
