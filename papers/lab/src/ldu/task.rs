//! The task of each core: a process that again and again creates another one and waits for its end.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use kilocore_ldu::Scheme;
use kilocore_locks::RawRwLock;
use kilocore_platform::{Atomic, AtomicInt, Ordering, Padded, Platform, Wait};
use kilocore_rivals::rmap::{Page, Process, ProcessId, Region};
use kilocore_sim::{Random, Sim, SimU32};

use crate::ldu::progress::Spent;
use crate::ldu::steps::{Steps, links};
use crate::ldu::world::{AREA_PAGES, SPACING, World};

/// Shares of the kernel's time for a process. These are for its creation and its end. The rest is
/// for the parent, which collects it.
const FORK_SHARE: f64 = 0.6;
const EXIT_SHARE: f64 = 0.3;

/// The number of messages that come over a connection. A process that serves a connection uses one
/// directory for all of them.
const TURNS_IN_A_DIRECTORY: u32 = 10;

/// The place where a parent and its child meet. They run in turn.
pub(crate) struct Relay<F: Scheme<Sim>, A: Scheme<Sim>> {
    turn: Padded<SimU32>,
    /// The child, from its creation until it runs; and then, where the children's time has gone so
    /// far.
    child: RefCell<Option<Process<Sim, F, A>>>,
    spent: Cell<Spent>,
    /// The number of updates of the reverse mapping when the last child ended.
    gone: Cell<usize>,
}

/// The parent runs. Its child sleeps or does not exist yet.
const PARENT: u32 = 0;
/// The child runs. Its parent waits for it.
const CHILD: u32 = 1;
/// There will be no more children.
const OVER: u32 = 2;

impl<F: Scheme<Sim>, A: Scheme<Sim>> Relay<F, A> {
    pub(crate) fn new() -> Self {
        Self {
            turn: Padded(SimU32::new(PARENT)),
            child: RefCell::new(None),
            spent: Cell::new(Spent::default()),
            gone: Cell::new(0),
        }
    }

    /// Passes the turn on and wakes the thread that gets it.
    fn pass(&self, turn: u32) {
        self.turn.store(turn, Ordering::Release);
        Sim::unpark(&raw const *self.turn, 1);
    }

    /// Sleeps while the turn is `turn`. Returns the turn after that.
    fn wait_while(&self, turn: u32) -> u32 {
        loop {
            let now = self.turn.load(Ordering::Acquire);
            if now != turn {
                return now;
            }
            Sim::park(&self.turn, turn, None);
        }
    }
}

/// The numbers of the processes that a task creates. The numbers of other tasks lie between them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ids {
    pub(crate) next: u64,
    pub(crate) step: u64,
}

impl Ids {
    fn take(&mut self) -> ProcessId {
        let id = ProcessId(self.next);
        self.next += self.step;
        id
    }
}

/// A simulated process that creates others.
pub(crate) struct Parent<'a, F: Scheme<Sim>, A: Scheme<Sim>> {
    steps: Steps<'a, F, A>,
    relay: &'a Relay<F, A>,
    ids: Ids,
    /// The directory that it uses, and the number of pieces for which it still does.
    directory: usize,
    turns_left: u32,
}

impl<'a, F: Scheme<Sim>, A: Scheme<Sim>> Parent<'a, F, A> {
    pub(crate) fn new(
        world: &'a World<F, A>,
        relay: &'a Relay<F, A>,
        random: Random,
        ids: Ids,
    ) -> Self {
        let steps = Steps::new(world, random);
        Self { steps, relay, ids, directory: 0, turns_left: 0 }
    }

    /// Does pieces of work until all tasks have reached the end.
    pub(crate) fn run(mut self) {
        let process = self.start();
        let progress = &self.steps.world.progress;
        let mut counts = true;
        let mut before = Spent::default();
        while progress.running.get() > 0 {
            self.piece(&process);
            Sim::catch_up();
            let now = Sim::now();
            progress.count(now);
            if now <= progress.warm.get() {
                before = self.spent();
            }
            if now > progress.end.get() && counts {
                counts = false;
                progress.spent.set(progress.spent.get().plus(self.spent().since(before)));
                progress.running.set(progress.running.get() - 1);
            }
        }
        self.relay.pass(OVER);
        self.steps.world.memory.exit(process, &mut self.steps.context);
    }

    /// Where the time of the task and its children has gone so far.
    fn spent(&self) -> Spent {
        let own = self.steps.spent();
        let children = self.relay.spent.get();
        Spent { all: Sim::now().0, ..own.plus(children) }
    }

    /// Returns the task's own process, which is a copy of the first process. The first task creates
    /// the first process, and the last task to get its copy ends it.
    fn start(&mut self) -> Process<Sim, F, A> {
        let world = self.steps.world;
        let context = &mut self.steps.context;
        let id = self.ids.take();
        if id.0 == 0 {
            let first = world.memory.exec(self.ids.take(), &world.layout, context);
            let families = first.areas().iter().filter_map(|area| area.anon_vmas().next());
            world.families.replace(families.map(|(family, _)| Arc::clone(family)).collect());
            world.first.replace(Some(first));
            world.started.store(1, Ordering::Release);
        }
        Sim::wait_until(&world.started, Wait::Spin, |started| started > 0);
        let process = {
            // No task changes it before all tasks have started.
            let first = world.first.borrow();
            let first = first.as_ref().expect("there until the last has started");
            world.memory.fork(first, id, context)
        };
        if world.started.fetch_add(1, Ordering::AcqRel) == world.progress.tasks
            && let Some(first) = world.first.take()
        {
            world.memory.exit(first, context);
        }
        process
    }

    /// Does the work that belongs to one process: the process is created and ends.
    fn piece(&mut self, process: &Process<Sim, F, A>) {
        let steps = &mut self.steps;
        let world = steps.world;
        let setting = &world.setting;
        steps.compute(setting.user_us / setting.forks / 2.0);
        steps.work(setting.system_us / setting.forks);
        self.directories();
        self.map_data();
        let steps = &mut self.steps;
        let child = world.memory.fork(process, self.ids.take(), &mut steps.context);
        steps.work(setting.fork_us * FORK_SHARE);
        steps.change_process_table();
        steps.walk_after(&child, links(&child));
        self.relay.child.replace(Some(child));
        self.relay.pass(CHILD);
        self.relay.wait_while(CHILD);
        steps.work(setting.fork_us * (1.0 - FORK_SHARE - EXIT_SHARE));
        steps.change_process_table();
        steps.walk_after(process, self.relay.gone.get());
    }

    /// Creates and removes files in a directory that other tasks use as well.
    fn directories(&mut self) {
        let steps = &mut self.steps;
        let setting = &steps.world.setting;
        if setting.directories == 0 {
            return;
        }
        if self.turns_left == 0 {
            self.turns_left = TURNS_IN_A_DIRECTORY;
            self.directory = steps.below(setting.directories as usize);
        }
        self.turns_left -= 1;
        for _ in 0..steps.whole_number(setting.directory_sections / setting.forks) {
            let lock = &steps.world.directories[self.directory];
            lock.acquire();
            steps.work(setting.directory_us);
            // SAFETY: acquired above.
            unsafe { lock.release() };
        }
    }

    /// Maps a file and unmaps it again.
    fn map_data(&mut self) {
        let steps = &mut self.steps;
        let world = steps.world;
        for _ in 0..steps.whole_number(world.setting.mmaps / world.setting.forks) {
            // In a process of its own, so that the areas of the parent stay the same.
            let id = self.ids.take();
            let region = Region {
                start: Page(SPACING / 2),
                pages: AREA_PAGES,
                file: Some((Arc::clone(&world.data), Page(0))),
                written: false,
            };
            let mut mapper = world.memory.exec(id, &[region], &mut steps.context);
            steps.compute(1.0);
            world.memory.munmap(&mut mapper, 0, &mut steps.context);
            world.memory.exit(mapper, &mut steps.context);
            steps.count_updates(2);
        }
    }
}

/// The children of a parent, one after the other. The scheduler chooses the core of each.
pub(crate) struct Children<'a, F: Scheme<Sim>, A: Scheme<Sim>> {
    steps: Steps<'a, F, A>,
    relay: &'a Relay<F, A>,
}

impl<'a, F: Scheme<Sim>, A: Scheme<Sim>> Children<'a, F, A> {
    pub(crate) fn new(world: &'a World<F, A>, relay: &'a Relay<F, A>, random: Random) -> Self {
        Self { steps: Steps::new(world, random), relay }
    }

    /// Runs until the parent wants no more children.
    pub(crate) fn run(mut self) {
        while self.relay.wait_while(PARENT) == CHILD {
            if let Some(child) = self.relay.child.take() {
                self.life_of(child);
            }
            self.relay.spent.set(self.steps.spent());
            self.relay.pass(PARENT);
        }
    }

    fn life_of(&mut self, mut child: Process<Sim, F, A>) {
        let steps = &mut self.steps;
        let world = steps.world;
        let setting = &world.setting;
        if steps.chance(setting.execs) {
            let id = child.id();
            let gone = links(&child);
            world.memory.exit(child, &mut steps.context);
            steps.work(setting.exec_us);
            child = world.memory.exec(id, &world.layout, &mut steps.context);
            steps.walk_after(&child, gone + links(&child));
        }
        steps.compute(setting.user_us / setting.forks / 2.0);
        self.relay.gone.set(links(&child));
        world.memory.exit(child, &mut steps.context);
        steps.work(setting.fork_us * EXIT_SHARE);
        steps.change_process_table();
    }
}
