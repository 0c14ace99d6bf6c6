//! A simulation under way: its state, its clocks and what is planned.
//!
//! Each core has a clock of its own, and the agenda holds what will happen on all of them. What a
//! task does lets the clock of its core run on. The layers above decide what happens: [the
//! operating system](crate::os) who runs where, [waiting](crate::waiting) who looks at a line, and
//! [the main loop](crate::main_loop) whose turn it is.

use corosensei::Yielder;
use kilocore_platform::Cycles;

use crate::agenda::{Agenda, Event};
use crate::chain::Chains;
use crate::coherence::Coherence;
use crate::costs::{CoreLocation, Costs, LONGEST_STEP, NEVER};
use crate::due::Due;
use crate::guest_memory::GuestMemory;
use crate::ids::{CacheId, CoreId, Id, LineId, TaskId};
use crate::noise::Noise;
use crate::outcome::Activity;
use crate::state::{AlertedLists, Core, Futexes, Intent, Task};
use crate::steering::Steering;
use crate::table::Table;

#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) costs: Costs,
    pub(crate) cores: Table<CoreId, Core>,
    pub(crate) tasks: Table<TaskId, Task>,
    pub(crate) memory: Coherence,
    pub(crate) futexes: Futexes,
    pub(crate) agenda: Agenda,
    pub(crate) alerted: AlertedLists,
    /// The core whose fiber runs.
    pub(crate) current: CoreId,
    /// Why a fiber suspended itself the last time that one did.
    pub(crate) intent: Intent,
    /// How many memory operations have been simulated.
    pub(crate) operations: u64,
    /// How many tasks have been put on a core.
    pub(crate) switches: u64,
    /// The time after which the simulation is given up.
    pub(crate) latest: Cycles,
    /// Where tasks may run and who decides, if the simulation says anything of it.
    pub(crate) steering: Option<Box<Steering>>,
    /// The memory of tasks that execute elsewhere, if there are such.
    pub(crate) guests: Option<Box<GuestMemory>>,
    /// What disturbs threads, if anything does.
    pub(crate) noise: Option<Box<Noise>>,
    /// The chain of waits that bounds each task, if somebody wants to know.
    pub(crate) chains: Option<Box<Chains>>,
    /// What happens at times that somebody waits for who is no task.
    pub(crate) due: Due,
}

impl Engine {
    /// A machine with cores at the given places and no tasks.
    pub(crate) fn new(costs: Costs, places: &[CoreLocation], seed: u64) -> Self {
        let mut caches: Vec<CoreLocation> = Vec::new();
        let mut cores = Vec::with_capacity(places.len());
        for place in places {
            let known = caches.iter().position(|other| other.cache == place.cache);
            let cache = known.unwrap_or_else(|| {
                caches.push(*place);
                caches.len() - 1
            });
            cores.push(Core::new(CoreLocation { cache: CacheId::from_index(cache), ..*place }));
        }
        let mut cores = Table::from(cores);
        for core in cores.ids() {
            cores[core].siblings = siblings(&cores, core);
        }
        for (index, cache) in caches.iter_mut().enumerate() {
            cache.cache = CacheId::from_index(index);
        }
        let memory = Coherence::new(&costs, caches);
        Self {
            costs,
            cores,
            tasks: Table::new(),
            memory,
            futexes: Futexes::default(),
            agenda: Agenda::new(seed),
            alerted: AlertedLists::new(),
            current: CoreId(0),
            intent: Intent::Continue,
            operations: 0,
            switches: 0,
            latest: Cycles(0),
            steering: None,
            guests: None,
            noise: None,
            chains: None,
            due: Due::default(),
        }
    }

    // ---- the running task -----------------------------------------------------------------

    /// The core whose fiber runs.
    #[inline]
    pub(crate) fn current_core(&self) -> &Core {
        &self.cores[self.current]
    }

    /// The task whose fiber runs.
    #[inline]
    pub(crate) fn running_task(&self) -> TaskId {
        self.current_core().task.expect("a fiber runs on a core")
    }

    /// What the running fiber needs to suspend itself.
    pub(crate) fn running_yielder(&self) -> *const Yielder<(), ()> {
        let fiber = self.tasks[self.running_task()].fiber.as_ref();
        fiber.expect("the running task has a fiber").yielder()
    }

    /// The time on the current core.
    #[inline]
    pub(crate) fn now(&self) -> Cycles {
        self.current_core().time
    }

    /// Lets the current core's clock run on.
    #[inline]
    pub(crate) fn pass(&mut self, activity: Activity, time: Cycles) {
        let core = &mut self.cores[self.current];
        core.time += time;
        let task = core.task.expect("a fiber runs on a core");
        self.tasks[task].times.add(activity, time);
    }

    /// Lets the running task compute for a while. That takes longer as more hardware threads of its
    /// physical core are busy. Those that are busy at the beginning count for the whole time, and
    /// those that the simulation does not use count as idle.
    #[inline]
    pub(crate) fn work(&mut self, time: Cycles) {
        self.pass(Activity::Working, self.slowed_by_siblings(time).min(LONGEST_STEP));
    }

    /// The same on a core that may be interrupted meanwhile.
    pub(crate) fn work_interrupted(&mut self, time: Cycles) {
        let since = self.now();
        self.work(time);
        let (core, now) = (self.current, self.now());
        if let Some(noise) = self.noise.as_deref_mut() {
            let lost = noise.interrupt(core, since, now);
            if lost > Cycles(0) {
                self.pass(Activity::System, lost);
            }
        }
    }

    /// How long computing takes that would take `time` with the physical core alone.
    #[inline]
    pub(crate) fn slowed_by_siblings(&self, time: Cycles) -> Cycles {
        let core = self.current_core();
        if core.siblings.is_empty() {
            return time;
        }
        let busy = core.siblings.iter().filter(|&&s| self.cores[s].task.is_some()).count();
        let share = busy as f64 / f64::from(self.costs.siblings);
        let stretch = 1.0 + share * (self.costs.shared_core_stretch - 1.0).max(0.0);
        Cycles((time.0 as f64 * stretch).round() as u64)
    }

    /// The line at an address, as the running task names it.
    #[inline]
    pub(crate) fn line_at(&mut self, address: usize) -> LineId {
        let node = self.cores[self.current].place.node;
        self.memory.line_at(address, self.costs.line_shift, node)
    }

    /// Whether something else has to happen before the current core's next access.
    #[inline]
    pub(crate) fn must_give_way(&self) -> bool {
        self.now() > self.agenda.horizon()
    }

    /// Whether the current core's clock has passed the time after which the simulation is given up.
    #[inline]
    pub(crate) fn takes_too_long(&self) -> bool {
        self.now() > self.latest
    }

    // ---- plans ----------------------------------------------------------------------------

    /// Lets the task on a core go on at the core's time.
    pub(crate) fn continue_at_core_time(&mut self, core: CoreId) {
        let Core { time, epoch, .. } = self.cores[core];
        self.agenda.plan(time, Event::Continue { core, epoch });
    }

    /// Lets a waiter look at its line, and at the time, when its patience ends.
    pub(crate) fn plan_deadline(&mut self, task: TaskId, deadline: Cycles) {
        if deadline < NEVER {
            let epoch = self.tasks[task].epoch;
            self.agenda.plan(deadline, Event::Recheck { task, epoch });
        }
    }

    /// Lets a task that watches a line offer its core at `time`, if others want it, as
    /// [`Platform::wait_until`](kilocore_platform::Platform::wait_until) says.
    pub(crate) fn plan_yield(&mut self, core: CoreId, time: Cycles) {
        let queue = &self.cores[core].queue;
        if !queue.ready.is_empty() && time < NEVER {
            let epoch = queue.slice_epoch;
            self.agenda.plan(time, Event::SliceEnd { core, epoch });
        }
    }
}

/// The cores that share a private cache with `core`.
fn siblings(cores: &Table<CoreId, Core>, core: CoreId) -> Vec<CoreId> {
    let cache = cores[core].place.cache;
    cores.ids().filter(|&other| other != core && cores[other].place.cache == cache).collect()
}
