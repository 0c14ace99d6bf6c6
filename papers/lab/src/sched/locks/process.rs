//! The processes of a load, and the locks that they share.

use std::cell::Cell;

use kilocore_locks::RawLock;
use kilocore_platform::{Atomic, Cycles, LockLabel, Nanos, Ordering, Padded, Platform};
use kilocore_sim::{Random, Sim};

use crate::sched::locks::load::{Load, Section};

type Line = Padded<<Sim as Platform>::U64>;

/// A lock and the data under it.
#[derive(Debug)]
struct Shared<L> {
    label: LockLabel,
    lock: Padded<L>,
    lines: Vec<Line>,
}

/// What all processes of a load share.
#[derive(Debug)]
pub(crate) struct World<L> {
    load: Load,
    ghz: f64,
    keeps_core: bool,
    shared: Vec<Shared<L>>,
    /// For each section, which lock it is under.
    under: Vec<usize>,
    /// When windows begin to count, and when all is over.
    from: Cycles,
    until: Cycles,
}

/// What a process has done.
#[derive(Debug, Default)]
pub(crate) struct Done {
    /// Operations in the windows that count.
    pub(crate) counted: Cell<u64>,
    /// All operations until the end of those.
    pub(crate) all: Cell<u64>,
}

impl<L: RawLock<Sim>> World<L> {
    pub(crate) fn new(
        load: Load,
        ghz: f64,
        keeps_core: bool,
        (from, until): (Cycles, Cycles),
    ) -> Self {
        let names = load.locks();
        let lines_of = |name: &str| {
            let sections = load.sections.iter().filter(|section| section.lock == name);
            sections.map(|section| section.lines).max().unwrap_or(0)
        };
        let shared = names.iter().zip(0..).map(|(name, label)| Shared {
            label: LockLabel(label),
            lock: Padded(L::new()),
            lines: (0..lines_of(name)).map(|_| Padded(<Sim as Platform>::U64::new(0))).collect(),
        });
        let under = load.sections.iter().map(|section| {
            names.iter().position(|name| *name == section.lock).expect("its name is there")
        });
        let (shared, under) = (shared.collect(), under.collect());
        Self { load, ghz, keeps_core, shared, under, from, until }
    }

    fn cycles(&self, Nanos(ns): Nanos) -> f64 {
        ns as f64 * self.ghz
    }

    /// Acquires a section's lock, works under it, and releases it.
    fn section(&self, index: usize, thread: &mut L::Thread, random: &mut Random) {
        let Section { hold, lines, .. } = self.load.sections[index];
        let shared = &self.shared[self.under[index]];
        if self.keeps_core {
            Sim::disable_preemption();
        }
        Sim::lock_wait_begins(shared.label);
        shared.lock.acquire(thread);
        Sim::lock_acquired();
        for line in &shared.lines[..lines as usize] {
            let value = line.load(Ordering::Relaxed);
            line.store(value.wrapping_add(1), Ordering::Relaxed);
        }
        Sim::work(around(self.cycles(hold), random));
        // SAFETY: this task has acquired the lock above and releases it once.
        unsafe { shared.lock.release(thread) };
        if self.keeps_core {
            Sim::enable_preemption();
        }
    }

    /// One operation: the sections, with equal shares of the other work between them.
    fn operate(&self, thread: &mut L::Thread, random: &mut Random) {
        let parts = f64::from(self.load.sections_of_operation().max(1));
        let between = (self.cycles(self.load.user) + self.cycles(self.load.kernel)) / parts;
        let rounds = self.load.sections.iter().map(|section| section.times).max().unwrap_or(0);
        for round in 0..rounds {
            for (index, section) in self.load.sections.iter().enumerate() {
                if round < section.times {
                    Sim::work(around(between, random));
                    self.section(index, thread, random);
                }
            }
        }
        if self.load.sections.is_empty() {
            Sim::work(around(between, random));
        }
        if self.load.sleep > Nanos(0) {
            Sim::sleep(around(self.cycles(self.load.sleep), random));
        }
    }

    /// A process, which repeats operations until the end.
    pub(crate) fn run(&self, mut random: Random, done: &Done) {
        let mut thread = L::Thread::default();
        loop {
            self.operate(&mut thread, &mut random);
            let now = Sim::now();
            if now >= self.until {
                return;
            }
            done.all.set(done.all.get() + 1);
            if now >= self.from {
                done.counted.set(done.counted.get() + 1);
            }
        }
    }
}

/// A time around its mean, from half of it to one and a half: what a program does varies.
fn around(mean: f64, random: &mut Random) -> Cycles {
    Cycles((mean * (0.5 + random.uniform())).round() as u64)
}
