//! Cores that allocate pages and release them, their own or those of others, as fast as they can.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::rc::Rc;
use std::str::FromStr;

use kilocore_machine::names::{UnknownName, find};
use kilocore_pages::FrameId;
use kilocore_platform::Platform;
use kilocore_sim::{Random, Sim};

use crate::simulated::world::{Others, World, wait_until};

/// Who releases what whom allocates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pattern {
    /// Each core has so many pages at a time as half its share of the last-level cache, and releases them
    /// itself.
    Own,
    /// Every other core releases what its neighbour allocates. One core alone releases its own.
    Pass,
}

impl Pattern {
    /// Both patterns, in the order of the variants.
    pub const ALL: [Pattern; 2] = [Pattern::Own, Pattern::Pass];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Pass => "pass",
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Pattern {
    type Err = UnknownName;
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        find("pattern", name, Self::ALL.map(|pattern| (pattern.name(), pattern)))
    }
}

/// The pages that are on their way from one core to another.
const ON_THE_WAY: usize = 64;

/// What all cores have in common. It is not simulated.
pub(crate) struct Handing {
    pub(crate) world: World,
    pattern: Pattern,
    cores: u32,
    /// The pages that each core has at a time.
    own_pages: u32,
    /// For each core that allocates for another, what is on its way.
    queues: Vec<RefCell<VecDeque<FrameId>>>,
    /// Pages allocated before measuring begins, and in all.
    warm: u64,
    all: u64,
    allocated: Cell<u64>,
}

impl Handing {
    pub(crate) fn new(
        world: World,
        pattern: Pattern,
        cores: u32,
        own_pages: u32,
        (warm, counted): (u64, u64),
    ) -> Self {
        Self {
            world,
            pattern,
            cores,
            own_pages,
            queues: (0..cores).map(|_| RefCell::default()).collect(),
            warm,
            all: warm + counted,
            allocated: Cell::new(0),
        }
    }

    /// Does what a core does, until all pages are allocated.
    pub(crate) fn run(self: &Rc<Self>, core: u32, others: &RefCell<Others>, mut random: Random) {
        let partner = core ^ 1;
        match self.pattern {
            Pattern::Pass if partner < self.cores && core < partner => {
                self.allocate_for_another(core, others);
            }
            Pattern::Pass if partner < self.cores => {
                self.release_of_another(partner, others, &mut random);
            }
            Pattern::Own | Pattern::Pass => self.use_own(others, &mut random),
        }
    }

    fn is_done(&self) -> bool {
        self.allocated.get() >= self.all
    }

    fn allocate(&self) -> Option<FrameId> {
        Sim::catch_up();
        if self.is_done() {
            return None;
        }
        let allocated = self.allocated.get() + 1;
        self.allocated.set(allocated);
        if allocated > self.warm {
            self.world.meter.open(Sim::now());
        }
        self.world.allocate(true)
    }

    fn use_own(&self, others: &RefCell<Others>, random: &mut Random) {
        // Cores are not in step.
        let mut most = 1 + (random.uniform() * f64::from(self.own_pages)) as u32;
        let mut own = Vec::new();
        while !self.is_done() {
            while own.len() < most as usize
                && let Some(frame) = self.allocate()
            {
                own.push(frame);
                self.world.use_others(others);
            }
            for frame in own.drain(..) {
                // SAFETY: it was allocated above, and is released once.
                unsafe { self.world.release(frame, 1, random) };
            }
            most = self.own_pages;
        }
    }

    fn allocate_for_another(&self, core: u32, others: &RefCell<Others>) {
        let queue = &self.queues[core as usize];
        while let Some(frame) = self.allocate() {
            wait_until(|| queue.borrow().len() < ON_THE_WAY);
            queue.borrow_mut().push_back(frame);
            self.world.use_others(others);
        }
    }

    fn release_of_another(&self, partner: u32, others: &RefCell<Others>, random: &mut Random) {
        let queue = &self.queues[partner as usize];
        loop {
            wait_until(|| !queue.borrow().is_empty() || self.is_done());
            let Some(frame) = queue.borrow_mut().pop_front() else { return };
            self.world.use_others(others);
            // SAFETY: the partner has allocated it and handed it over.
            unsafe { self.world.release(frame, 1, random) };
        }
    }
}
