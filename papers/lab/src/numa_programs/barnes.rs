//! BARNES: bodies that attract each other, by the method of Barnes and Hut.
//!
//! # The idea
//! Space is a cube that is cut into eight until each part has one body at most: a tree whose leaves
//! are bodies. To a body far away, a whole cell is as good as one body in its centre of mass. So a
//! body walks the tree and opens only the cells that are near for their size. Each step
//! 1. finds the cube, and builds the tree: all threads insert bodies, and lock a cell to change it;
//! 2. finds the cells' centres of mass, each thread those of the cells that it made;
//! 3. deals bodies to threads, so that neighbours stay together and all have as much to do as they
//!    had in the last step;
//! 4. computes the forces, which takes nearly all the time, and moves the bodies.
//!
//! The result does not depend on the number of threads: bodies that are the same make the same tree,
//! and each sum has an order.
//!
//! # Where it departs from its model
//! * A cell acts by its mass alone. The model can be built with quadrupole moments.
//! * The last step ends with the forces, so that they belong to the positions that are there.
//! * A walk keeps its stack itself and does not recurse. Its frames hold what those of a recursion
//!   would have to keep.

mod build;
mod check;
mod force;
mod mass;
mod plummer;
mod summary;
mod tree;
mod vector;
mod walk;
mod zones;

use core::ops::Range;

use kilocore_platform::Platform;

pub use self::summary::Summary;
use self::tree::{Body, Cell, Frame, MOST_LEVELS, World};
use self::walk::Walk;
use crate::numa_programs::error::{OutOfRange, WrongResult, count_in_range, in_range};
use crate::numa_programs::pages::Pages;
use crate::numa_programs::run::{self, Algorithm};
use crate::numa_programs::shares::share;
use crate::numa_programs::word::Word;

/// What BARNES computes.
///
/// Units are those in which the constant of gravitation and the mass of all bodies are 1, and their
/// energy is -1/4.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameters {
    /// How many bodies: 2 to 16,384.
    pub bodies: usize,
    /// How often the forces are computed: 1 to 1,000.
    pub steps: usize,
    /// A cell is opened if its size is more than this part of its distance: 0.1 to 1.
    pub theta: f64,
    /// The time of a step: 0 to 0.1.
    pub step: f64,
    /// Within this distance forces are softened: 0.001 to 1.
    pub softening: f64,
}

impl Parameters {
    /// Near the published count of references.
    pub const PUBLISHED: Self =
        Self { bodies: 4096, steps: 2, theta: 1.0, step: 0.025, softening: 0.05 };
    /// A small problem, for tests.
    pub const SMALL: Self = Self { bodies: 128, steps: 3, ..Self::PUBLISHED };

    pub(crate) fn validate(self) -> Result<(), OutOfRange> {
        count_in_range("bodies", self.bodies, 2, 16_384)?;
        count_in_range("steps", self.steps, 1, 1000)?;
        in_range("part of the distance", self.theta, 0.1, 1.0)?;
        in_range("time of a step", self.step, 0.0, 0.1)?;
        in_range("softening", self.softening, 0.001, 1.0)
    }
}

/// What a thread keeps to itself.
struct Own<P: Platform> {
    walk: Pages<Walk<P>>,
    stack: Pages<Frame<P>>,
    /// The bodies that are the thread's.
    bodies: Pages<Word<P, u32>>,
    /// The cells that it made in this step, in the order in which it did.
    cells: Pages<Word<P, u32>>,
}

pub(crate) struct Barnes<P: Platform> {
    parameters: Parameters,
    threads: usize,
    seed: u64,
    world: Pages<World<P>>,
    bodies: Pages<Body<P>>,
    /// A share for each thread, and a reserve for all. The first is the root.
    cells: Pages<Cell<P>>,
    own: Vec<Own<P>>,
}

/// What a thread knows of its lists.
#[derive(Clone, Copy)]
struct Mine {
    bodies: usize,
    cells: usize,
}

impl<P: Platform> Barnes<P> {
    pub(crate) fn new(parameters: Parameters, threads: usize, seed: u64) -> Self {
        let bodies = plummer::bodies(parameters.bodies, seed);
        let cells = tree::all_cells(parameters.bodies, threads);
        let numbers = |len| Pages::new(len, |_| Word::new(0));
        let own = || Own {
            walk: Pages::new(1, |_| Walk::new()),
            stack: Pages::new(MOST_LEVELS, |_| Frame::new()),
            bodies: numbers(parameters.bodies),
            cells: numbers(cells),
        };
        Self {
            parameters,
            threads,
            seed,
            world: Pages::new(1, |_| World::new(threads)),
            bodies: Pages::new(bodies.len(), |index| Body::new(&bodies[index])),
            cells: Pages::new(cells, |_| Cell::new()),
            own: (0..threads).map(|_| own()).collect(),
        }
    }

    /// Moves this thread's bodies. Velocities are those of the positions again once the next forces
    /// are known.
    fn advance(&self, me: usize, mine: Mine) {
        let step = self.parameters.step;
        for body in &self.own[me].bodies[..mine.bodies] {
            let body = &self.bodies[body.get() as usize];
            for axis in 0..3 {
                let kick = body.acceleration[axis].get() * (0.5 * step);
                let half_way = body.velocity[axis].get() + kick;
                body.position[axis].add(half_way * step);
                body.velocity[axis].set(half_way + kick);
            }
        }
    }
}

impl<P: Platform> Algorithm for Barnes<P> {
    fn thread(&self, me: usize) {
        let barrier = &self.world[0].barrier;
        let share = share(self.parameters.bodies, me, self.threads);
        let mut mine = Mine { bodies: share.len(), cells: 0 };
        for (word, body) in self.own[me].bodies.iter().zip(share) {
            word.set(body as u32);
        }
        for step in 0..self.parameters.steps {
            if me == 0 {
                self.begin_tree();
            }
            barrier.wait();
            self.find_bounds(me, mine);
            barrier.wait();
            mine.cells = self.build(me, mine);
            barrier.wait();
            self.find_masses(me, mine, step);
            barrier.wait();
            mine.bodies = self.take_zone(me);
            barrier.wait();
            self.find_forces(me, mine, step);
            barrier.wait();
            if step + 1 < self.parameters.steps {
                self.advance(me, mine);
            }
        }
    }

    fn check(&self) -> Result<run::Summary, WrongResult> {
        check::check(self).map(run::Summary::Barnes)
    }

    fn private_memory(&self) -> Vec<(usize, Range<usize>)> {
        let own = self.own.iter().enumerate();
        own.flat_map(|(thread, own)| {
            let addresses = [
                own.walk.addresses(),
                own.stack.addresses(),
                own.bodies.addresses(),
                own.cells.addresses(),
            ];
            addresses.map(|addresses| (thread, addresses))
        })
        .collect()
    }

    fn shared_memory(&self) -> Vec<Range<usize>> {
        vec![self.world.addresses(), self.bodies.addresses(), self.cells.addresses()]
    }
}
