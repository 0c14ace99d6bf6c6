//! The records of bodies and cells, and their numbers.

use core::array::from_fn;

use kilocore_platform::Platform;

use super::plummer::Start;
use crate::numa_programs::barrier::Barrier;
use crate::numa_programs::lock::{Lock, free};
use crate::numa_programs::shares::share;
use crate::numa_programs::word::{Word, words};

/// The most levels of a tree. Only bodies in the same place would need more.
pub(super) const MOST_LEVELS: usize = 256;

/// A body of the system, which the cells of the tree refer to by its number.
#[repr(C)]
pub(super) struct Body<P: Platform> {
    pub(super) mass: Word<P, f64>,
    pub(super) position: [Word<P, f64>; 3],
    pub(super) velocity: [Word<P, f64>; 3],
    pub(super) acceleration: [Word<P, f64>; 3],
    pub(super) potential: Word<P, f64>,
    /// How many bodies and cells acted on it in the last step.
    pub(super) cost: Word<P, u32>,
}

impl<P: Platform> Body<P> {
    pub(super) fn new(start: &Start) -> Self {
        Self {
            mass: Word::new(start.mass),
            position: from_fn(|axis| Word::new(start.position[axis])),
            velocity: from_fn(|axis| Word::new(start.velocity[axis])),
            acceleration: words(0.0),
            potential: Word::new(0.0),
            cost: Word::new(1),
        }
    }
}

/// A cell of the tree: a cube of space, with the mass that is in it.
#[repr(C)]
pub(super) struct Cell<P: Platform> {
    pub(super) mass: Word<P, f64>,
    /// Its centre of mass.
    pub(super) position: [Word<P, f64>; 3],
    /// [Links](Link) to what is in each part.
    pub(super) children: [Word<P, u32>; 8],
    pub(super) lock: Lock<P>,
    /// The cost of all bodies in it.
    pub(super) cost: Word<P, u32>,
    /// The step, counted from 1, whose mass and cost these are.
    pub(super) complete: Word<P, u32>,
}

impl<P: Platform> Cell<P> {
    pub(super) fn new() -> Self {
        Self {
            mass: Word::new(0.0),
            position: words(0.0),
            children: words(0),
            lock: free(),
            cost: Word::new(0),
            complete: Word::new(0),
        }
    }

    /// Forgets the children of an earlier step.
    pub(super) fn clear(&self) {
        for child in &self.children {
            child.set(0);
        }
    }
}

/// What all threads use besides.
#[repr(C)]
pub(super) struct World<P: Platform> {
    pub(super) barrier: Barrier<P>,
    pub(super) lock: Lock<P>,
    /// Cells that were taken from the reserve.
    pub(super) reserved: Word<P, u32>,
    /// The corners of the box around all bodies.
    pub(super) low: [Word<P, f64>; 3],
    pub(super) high: [Word<P, f64>; 3],
}

impl<P: Platform> World<P> {
    pub(super) fn new(threads: usize) -> Self {
        Self {
            barrier: Barrier::new(threads),
            lock: free(),
            reserved: Word::new(0),
            low: words(0.0),
            high: words(0.0),
        }
    }
}

/// What a walk of the tree has to remember of a cell that it is in.
#[repr(C)]
pub(super) struct Frame<P: Platform> {
    pub(super) cell: Word<P, u32>,
    /// The child that comes next.
    pub(super) next: Word<P, u32>,
    /// The square of the distance within which a child is opened.
    pub(super) near: Word<P, f64>,
}

impl<P: Platform> Frame<P> {
    pub(super) fn new() -> Self {
        Self { cell: Word::new(0), next: Word::new(0), near: Word::new(0.0) }
    }
}

/// What is in a part of a cell.
#[derive(Clone, Copy)]
pub(super) enum Link {
    Nothing,
    Body(usize),
    Cell(usize),
}

/// The highest bit tells cells from bodies.
const CELL: u32 = 1 << 31;

impl Link {
    #[inline(always)]
    pub(super) fn decode(word: u32) -> Self {
        match word {
            0 => Self::Nothing,
            cell if cell & CELL != 0 => Self::Cell((cell & !CELL) as usize),
            body => Self::Body(body as usize - 1),
        }
    }

    #[inline(always)]
    pub(super) fn encode(self) -> u32 {
        match self {
            Self::Nothing => 0,
            Self::Body(body) => body as u32 + 1,
            Self::Cell(cell) => cell as u32 | CELL,
        }
    }
}

/// How many cells there are: for each thread twice as many as it has bodies, which is more than most
/// need, and a reserve for those whose bodies are close together.
pub(super) fn all_cells(bodies: usize, threads: usize) -> usize {
    reserve_start(bodies, threads) + bodies + MOST_LEVELS
}

/// The first cell of a thread's own.
pub(super) fn cells_start(bodies: usize, thread: usize, threads: usize) -> usize {
    2 * share(bodies, thread, threads).start + 16 * thread
}

/// The first cell of the reserve.
pub(super) fn reserve_start(bodies: usize, threads: usize) -> usize {
    2 * bodies + 16 * threads
}
