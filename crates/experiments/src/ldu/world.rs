//! What the simulated processes share, and what each of them does over and over.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use kilocore_ldu::Scheme;
use kilocore_locks::{RawRwLock, Rwsem};
use kilocore_platform::{Atomic, AtomicInt, Cycles, Ordering, Padded, Platform, Wait};
use kilocore_rmap::{Context, File, Layout, Memory, Page, Process, ProcessId, Region};
use kilocore_sim::{Random, Sim, SimU32};

use crate::ldu::workload::Setting;

/// Pages of each area of a file, of which the last ones have anonymous pages.
const AREA_PAGES: u64 = 16;
/// Pages of an anonymous area.
const ANONYMOUS_PAGES: u64 = 64;
/// Addresses, in pages, between areas that lie one after another.
const SPACING: u64 = 1024;
/// Share of the kernel's time for a fork and its end that belongs to the fork.
const FORK_SHARE: f64 = 0.6;

/// Progress of the whole, outside of what is simulated.
#[derive(Debug)]
pub(crate) struct Progress {
    /// Pieces that end before then are not counted. Put off while there were too few of them for
    /// schemes that adapt.
    pub(crate) warm: Cell<Cycles>,
    /// Nor are those that end later. Put off while too few are counted.
    pub(crate) end: Cell<Cycles>,
    /// By how much, and how often yet at most.
    pub(crate) step: Cycles,
    pub(crate) steps_left: Cell<u32>,
    /// Pieces done before the first that is counted, and pieces counted.
    pub(crate) unseen: Cell<u64>,
    pub(crate) pieces: Cell<u64>,
    /// How many of each there should be.
    pub(crate) wanted_unseen: u64,
    pub(crate) wanted: u64,
    /// Tasks that have not come to the end yet. The others go on until these have, for company.
    pub(crate) running: Cell<u32>,
    pub(crate) tasks: u32,
    /// Where the tasks' time went, while pieces were counted.
    pub(crate) spent: Cell<Spent>,
    /// Updates of the reverse mapping, and walks, while pieces were counted.
    pub(crate) updates: Cell<u64>,
    pub(crate) walks: Cell<u64>,
}

/// Where time went, in cycles.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spent {
    /// All of it.
    pub(crate) all: u64,
    /// On a core.
    pub(crate) busy: u64,
    /// In user mode.
    pub(crate) user: u64,
}

impl Spent {
    fn since(self, before: Self) -> Self {
        Self {
            all: self.all - before.all,
            busy: self.busy - before.busy,
            user: self.user - before.user,
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            all: self.all + other.all,
            busy: self.busy + other.busy,
            user: self.user + other.user,
        }
    }
}

impl Progress {
    /// A piece was done at `now`. Pieces come nearly in the order of time.
    fn count(&self, now: Cycles) {
        let put_off = |what: &Cell<Cycles>| what.set(Cycles(what.get().0 + self.step.0));
        let step = || {
            let left = self.steps_left.get();
            self.steps_left.set(left.saturating_sub(1));
            left > 0
        };
        if self.pieces.get() == 0 {
            while now > self.warm.get() && self.unseen.get() < self.wanted_unseen && step() {
                put_off(&self.warm);
                put_off(&self.end);
            }
        }
        if now <= self.warm.get() {
            self.unseen.set(self.unseen.get() + 1);
            return;
        }
        if self.running.get() == self.tasks {
            while now > self.end.get() && self.pieces.get() < self.wanted && step() {
                put_off(&self.end);
            }
        }
        if now <= self.end.get() {
            self.pieces.set(self.pieces.get() + 1);
        }
    }

    /// Whether what is done now is counted.
    fn counting(&self, now: Cycles) -> bool {
        (self.warm.get()..self.end.get()).contains(&now)
    }
}

/// The machine's memory and what else all processes share.
pub(crate) struct World<F: Scheme<Sim>, A: Scheme<Sim>> {
    pub(crate) memory: Memory<Sim, F, A>,
    layout: Layout<Sim, F>,
    /// A file that is mapped for a while: data that all work on.
    data: Arc<File<Sim, F>>,
    directories: Vec<Padded<Rwsem<Sim>>>,
    setting: Setting,
    /// Walks for each update.
    walks_per_update: f64,
    cycles_per_us: f64,
    pub(crate) progress: Progress,
    /// The process from which the tasks' own come, as long as they need it.
    first: RefCell<Option<Process<Sim, F, A>>>,
    /// Turns from none to the number of tasks that have their process.
    started: SimU32,
}

impl<F: Scheme<Sim>, A: Scheme<Sim>> World<F, A> {
    pub(crate) fn new(
        cores: u32,
        setting: Setting,
        walks_per_update: f64,
        clock_ghz: f64,
        progress: Progress,
    ) -> Self {
        let memory = Memory::new(cores);
        let layout = layout(&memory, &setting);
        let directories = (0..setting.directories).map(|_| Padded(Rwsem::new())).collect();
        let data = memory.file();
        let cycles_per_us = clock_ghz * 1e3;
        Self {
            first: RefCell::new(None),
            started: SimU32::new(0),
            memory,
            layout,
            data,
            directories,
            setting,
            walks_per_update,
            cycles_per_us,
            progress,
        }
    }
}

/// The areas of the program.
fn layout<F: Scheme<Sim>, A: Scheme<Sim>>(
    memory: &Memory<Sim, F, A>,
    setting: &Setting,
) -> Layout<Sim, F> {
    let mut start = 0;
    let mut layout = Layout::new();
    let mut add = |pages, file, written| {
        start += SPACING;
        layout.push(Region { start: Page(start), pages, file, written });
    };
    for _ in 0..setting.files {
        let file = memory.file();
        for area in 0..setting.areas_per_file {
            let offset = Page(u64::from(area) * AREA_PAGES);
            let written = area + setting.written_per_file >= setting.areas_per_file;
            add(AREA_PAGES, Some((Arc::clone(&file), offset)), written);
        }
    }
    for _ in 0..setting.anonymous {
        add(ANONYMOUS_PAGES, None, true);
    }
    layout
}

/// A simulated process that creates others.
pub(crate) struct Task<'a, F: Scheme<Sim>, A: Scheme<Sim>> {
    world: &'a World<F, A>,
    context: Context<Sim, F, A>,
    random: Random,
    ids: Ids,
    /// Time in user mode so far.
    user: u64,
}

/// Numbers for the processes that a task creates: those of other tasks lie between them.
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

impl<'a, F: Scheme<Sim>, A: Scheme<Sim>> Task<'a, F, A> {
    pub(crate) fn new(world: &'a World<F, A>, random: Random, ids: Ids) -> Self {
        Self { world, context: world.memory.context(), random, ids, user: 0 }
    }

    /// Does pieces of work until all tasks have come to the end.
    pub(crate) fn run(mut self) {
        let process = self.start();
        let progress = &self.world.progress;
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
        self.world.memory.exit(process, &mut self.context);
    }

    /// Where the task's time went so far.
    fn spent(&self) -> Spent {
        Spent { all: Sim::now().0, busy: Sim::times().total().0, user: self.user }
    }

    /// The task's own process: a copy of the first one, which the first task starts and the last
    /// one ends.
    fn start(&mut self) -> Process<Sim, F, A> {
        let world = self.world;
        let id = self.ids.take();
        if id.0 == 0 {
            let first = world.memory.exec(self.ids.take(), &world.layout, &mut self.context);
            world.first.replace(Some(first));
            world.started.store(1, Ordering::Release);
        }
        Sim::wait_until(&world.started, Wait::Spin, |started| started > 0);
        let process = {
            // Nobody changes it before all have started.
            let first = world.first.borrow();
            let first = first.as_ref().expect("there until the last has started");
            world.memory.fork(first, id, &mut self.context)
        };
        if world.started.fetch_add(1, Ordering::AcqRel) == world.progress.tasks
            && let Some(first) = world.first.take()
        {
            world.memory.exit(first, &mut self.context);
        }
        process
    }

    /// What belongs to one process that is created and ends.
    fn piece(&mut self, parent: &Process<Sim, F, A>) {
        let world = self.world;
        let setting = &world.setting;
        let forks = setting.forks;
        self.compute(setting.user_us / forks / 2.0);
        self.work(setting.system_us / forks);
        self.directories();
        self.map_data();
        let id = self.ids.take();
        let mut child = world.memory.fork(parent, id, &mut self.context);
        self.work(setting.fork_us * FORK_SHARE);
        self.walk_after(&child, links(&child));
        if self.random.uniform() < setting.execs {
            world.memory.exit(child, &mut self.context);
            self.work(setting.exec_us);
            child = world.memory.exec(id, &world.layout, &mut self.context);
            self.walk_after(&child, links(&child));
        }
        self.compute(setting.user_us / forks / 2.0);
        let gone = links(&child);
        world.memory.exit(child, &mut self.context);
        self.work(setting.fork_us * (1.0 - FORK_SHARE));
        self.walk_after(parent, gone);
    }

    /// Creates and removes files in directories that others use as well.
    fn directories(&mut self) {
        let setting = &self.world.setting;
        if setting.directories == 0 {
            return;
        }
        for _ in 0..self.whole_number(setting.directory_sections / setting.forks) {
            let pick = (self.random.uniform() * f64::from(setting.directories)) as usize;
            let lock = &self.world.directories[pick];
            lock.acquire();
            self.work(setting.directory_us);
            // SAFETY: acquired above.
            unsafe { lock.release() };
        }
    }

    /// Maps a file for a while.
    fn map_data(&mut self) {
        let world = self.world;
        for _ in 0..self.whole_number(world.setting.mmaps / world.setting.forks) {
            // A process of its own, so that the areas of the parent stay the same.
            let id = self.ids.take();
            let region = Region {
                start: Page(SPACING / 2),
                pages: AREA_PAGES,
                file: Some((Arc::clone(&world.data), Page(0))),
                written: false,
            };
            let mut mapper = world.memory.exec(id, &[region], &mut self.context);
            self.compute(1.0);
            world.memory.munmap(&mut mapper, 0, &mut self.context);
            world.memory.exit(mapper, &mut self.context);
            self.count_updates(2);
        }
    }

    /// Walks the reverse mapping as often as goes with so many updates: for pages of `process`,
    /// picked like the links of its areas.
    fn walk_after(&mut self, process: &Process<Sim, F, A>, updates: usize) {
        self.count_updates(updates);
        for _ in 0..self.whole_number(updates as f64 * self.world.walks_per_update) {
            let mut pick = (self.random.uniform() * links(process) as f64) as usize;
            let area = process.areas().iter().find(|area| {
                let links = area.anon_vmas().len() + usize::from(area.file().is_some());
                let found = pick < links;
                if !found {
                    pick -= links;
                }
                found
            });
            let Some(area) = area else { continue };
            let page = (self.random.uniform() * area.pages() as f64) as u64;
            let memory = &self.world.memory;
            let mut seen = 0_u64;
            let mut found = |_| seen += 1;
            match (area.anon_vmas().nth(pick), area.file()) {
                (Some((family, anon_vma)), _) => {
                    let page = Page(area.start().0 + page);
                    memory.walk_anonymous(family, anon_vma, page, &mut found, &mut self.context);
                }
                (None, Some((file, offset))) => {
                    let page = offset.0 + page;
                    memory.walk_file(file, page..=page, &mut found, &mut self.context);
                }
                (None, None) => {}
            }
            let walks = &self.world.progress.walks;
            walks.set(walks.get() + u64::from(self.counting()));
        }
    }

    fn count_updates(&self, updates: usize) {
        let all = &self.world.progress.updates;
        all.set(all.get() + if self.counting() { updates as u64 } else { 0 });
    }

    fn counting(&self) -> bool {
        self.world.progress.counting(Sim::now())
    }

    /// Computes in user mode.
    fn compute(&mut self, mean_us: f64) {
        let cycles = self.spread(mean_us);
        self.user += cycles.0;
        Sim::work(cycles);
    }

    /// Works in the kernel.
    fn work(&mut self, mean_us: f64) {
        Sim::work(self.spread(mean_us));
    }

    /// A duration around its mean, between half of it and one and a half.
    fn spread(&mut self, mean_us: f64) -> Cycles {
        let us = mean_us * (0.5 + self.random.uniform());
        Cycles((us * self.world.cycles_per_us).round() as u64)
    }

    /// A whole number with this mean.
    fn whole_number(&mut self, mean: f64) -> u64 {
        (mean + self.random.uniform()) as u64
    }
}

/// In how many places a process is in the reverse mapping.
fn links<F: Scheme<Sim>, A: Scheme<Sim>>(process: &Process<Sim, F, A>) -> usize {
    let of = |area: &kilocore_rmap::Area<Sim, F, A>| {
        area.anon_vmas().len() + usize::from(area.file().is_some())
    };
    process.areas().iter().map(of).sum()
}
