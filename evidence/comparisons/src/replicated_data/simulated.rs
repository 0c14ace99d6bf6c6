//! Readers on simulated machines, with one writer or none.
//!
//! Each core reads again and again for a while: it looks at some lines of a table. One of them also updates a line
//! now and then. It does so by the clock, so that all subjects are updated equally often, unless an update takes
//! longer than that.

use std::rc::Rc;

use kilocore_locks::{CentralRw, PerCore, PhaseFair, RawRwLock};
use kilocore_machine::{Description, HardwareThread};
use kilocore_numa::{Nodes, ReplicatedOn};
use kilocore_platform::{Cycles, NodeId, Padded, Platform, SharedCell};
use kilocore_sim::{Options, Sim, SimError, Simulation};

use crate::replicated_data::locked::Locked;

/// A table whose entries have a cache line each.
struct Table(Vec<Padded<<Sim as Platform>::Cell<u64>>>);

impl Table {
    fn new(entries: usize) -> Self {
        Self((0..entries).map(|_| Padded(<Sim as Platform>::Cell::new(0))).collect())
    }

    fn look(&self, entry: usize) -> u64 {
        // SAFETY: simulated tasks take turns, and the subject says that nobody changes it.
        self.0[entry].with(|value| unsafe { *value })
    }

    fn add(&mut self, entry: usize) {
        // SAFETY: as above.
        self.0[entry].with_mut(|value| unsafe { *value += 1 });
    }
}

impl Clone for Table {
    fn clone(&self) -> Self {
        let copy = |entry| Padded(<Sim as Platform>::Cell::new(self.look(entry)));
        Self((0..self.0.len()).map(copy).collect())
    }
}

/// A way to share a table.
trait Shared: 'static {
    fn make(table: Table, nodes: &Nodes) -> Self;
    fn read(&self, look: &mut dyn FnMut(&Table));
    fn update(&self, change: &mut dyn FnMut(&mut Table));
}

impl Shared for ReplicatedOn<Sim, Table> {
    fn make(table: Table, nodes: &Nodes) -> Self {
        Self::on(nodes, table)
    }
    fn read(&self, look: &mut dyn FnMut(&Table)) {
        look(&self.read());
    }
    fn update(&self, change: &mut dyn FnMut(&mut Table)) {
        self.update(change);
    }
}

impl<L: RawRwLock<Sim>> Shared for Locked<Sim, L, Table> {
    fn make(table: Table, _: &Nodes) -> Self {
        Self::new(table)
    }
    fn read(&self, look: &mut dyn FnMut(&Table)) {
        self.read(look);
    }
    fn update(&self, change: &mut dyn FnMut(&mut Table)) {
        self.update(change);
    }
}

/// How data that all nodes read is kept: with a copy on each node, or once, behind a read-write
/// lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// A copy on each node.
    Replicated,
    /// One counter of readers, as most read-write locks have.
    CentralRw,
    /// Readers and writers take turns.
    PhaseFair,
    /// A count of readers for each core.
    PerCore,
}

impl Subject {
    /// All of them. The first is what the others are compared with.
    pub const ALL: [Self; 4] = [Self::Replicated, Self::CentralRw, Self::PhaseFair, Self::PerCore];

    /// What the tables call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Replicated => "`Replicated`",
            Self::CentralRw => "lock `central-rw`",
            Self::PhaseFair => "lock `phase-fair`",
            Self::PerCore => "lock `per-core`",
        }
    }
}

/// What the cores do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    /// Entries of the table.
    pub entries: usize,
    /// How many of them a read looks at.
    pub looks: usize,
    /// For how long the cores read.
    pub duration: Cycles,
    /// How much later than its last update core 0 begins the next one. `None` for never.
    pub update_every: Option<Cycles>,
}

/// What comes of it, in cycles of the simulated machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// The mean time that a read takes a core, on the cores that only read, or on the only core.
    pub read: f64,
    /// The mean time of an update, if there were any.
    pub update: Option<f64>,
}

/// Simulates reads. `cores` are used in compact order, node by node.
///
/// # Errors
/// If the machine does not have so many cores, or is simulated for too long.
pub fn simulate(
    subject: Subject,
    machine: &Description,
    cores: u32,
    work: Work,
) -> Result<Outcome, SimError> {
    match subject {
        Subject::Replicated => run::<ReplicatedOn<Sim, Table>>(machine, cores, work),
        Subject::CentralRw => run::<Locked<Sim, CentralRw<Sim>, Table>>(machine, cores, work),
        Subject::PhaseFair => run::<Locked<Sim, PhaseFair<Sim>, Table>>(machine, cores, work),
        Subject::PerCore => run::<Locked<Sim, PerCore<Sim>, Table>>(machine, cores, work),
    }
}

fn run<S: Shared>(machine: &Description, cores: u32, work: Work) -> Result<Outcome, SimError> {
    let mut simulation = Simulation::new(machine, Options { cores, seed: 1 })?;
    let node = |core| NodeId(machine.location(HardwareThread(core)).node);
    let shared = Rc::new(S::make(Table::new(work.entries), &Nodes::new((0..cores).map(node))));
    let cores_of_node = machine.topology.cores_per_node().min(cores);
    let spans = Rc::new(std::cell::RefCell::new(Vec::new()));
    for core in 0..cores {
        let (shared, spans) = (Rc::clone(&shared), Rc::clone(&spans));
        simulation.spawn(move || {
            let span = one_core(&*shared, core, work, cores_of_node);
            spans.borrow_mut().push(span);
        })?;
    }
    simulation.run()?;
    let spans = spans.borrow();
    let readers = spans.iter().filter(|span| cores == 1 || span.updates == 0);
    let (total, reads) =
        readers.fold((0, 0), |(sum, reads), span| (sum + span.reading.0, reads + span.reads));
    let updates: u32 = spans.iter().map(|span| span.updates).sum();
    let updating: u64 = spans.iter().map(|span| span.updating.0).sum();
    Ok(Outcome {
        read: total as f64 / reads as f64,
        update: (updates > 0).then(|| updating as f64 / f64::from(updates)),
    })
}

/// How long a core did what.
#[derive(Debug, Default)]
struct Span {
    reads: u64,
    reading: Cycles,
    updates: u32,
    updating: Cycles,
}

/// How many reads a core makes before it looks at the clock.
const READS_BETWEEN_LOOKS: u64 = 8;

/// Entries that a core looks at one after the other before it gives others a turn, as it warms up.
const SWEEP: usize = 16;

/// Reads, after warming up, and returns how long it took.
///
/// First, the cores of each node look at all of the table. So each line has its home on the node of somebody who
/// reads it: a copy's on its own node, and those of the only copy on all nodes alike.
fn one_core(shared: &impl Shared, core: u32, work: Work, cores_of_node: u32) -> Span {
    let own = (core % cores_of_node) as usize * SWEEP;
    for start in (own..work.entries).step_by(SWEEP * cores_of_node as usize) {
        let end = work.entries.min(start + SWEEP);
        shared.read(&mut |table| (start..end).for_each(|entry| _ = table.look(entry)));
    }
    let mut numbers = crate::rounds::Scattered(u64::from(core) * 7919 + 1);
    let mut read = || {
        shared.read(&mut |table| {
            for _ in 0..work.looks {
                table.look(numbers.draw() as usize % work.entries);
            }
        });
    };
    (0..READS_BETWEEN_LOOKS).for_each(|_| read());
    let (start, mut span) = (Sim::now(), Span::default());
    let mut last = start;
    loop {
        (0..READS_BETWEEN_LOOKS).for_each(|_| read());
        span.reads += READS_BETWEEN_LOOKS;
        let now = Sim::now();
        if now.since(start) >= work.duration {
            span.reading = Cycles(now.since(start).0 - span.updating.0);
            return span;
        }
        if core == 0 && work.update_every.is_some_and(|every| now.since(last) >= every) {
            shared.update(&mut |table| table.add(span.updates as usize % work.entries));
            last = Sim::now();
            span.updating += last.since(now);
            span.updates += 1;
        }
    }
}
