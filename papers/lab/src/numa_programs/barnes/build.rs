//! Building the tree.
//!
//! A thread that inserts a body goes down from the root without a lock. It locks the cell in which
//! the body goes to a part that is empty or has a body, and looks again. If there is a body, a new
//! cell takes its place, and the way goes on there. A cell becomes reachable when it is complete, so
//! others need no lock to go through it.

use kilocore_platform::{AtomicInt, Ordering, Platform};

use super::tree::{Link, cells_start, reserve_start};
use super::vector::Vector;
use super::{Barnes, Mine};
use crate::numa_programs::lock::holding;
use crate::numa_programs::word::{set_vector, vector};

/// The number of the root among the cells.
pub(super) const ROOT: usize = 0;

/// The cube of a cell.
#[derive(Clone, Copy)]
pub(super) struct Cube {
    centre: Vector,
    pub(super) size: f64,
}

impl Cube {
    /// In which part of the cube a place is.
    #[inline]
    fn part(&self, place: Vector) -> usize {
        (0..3).fold(0, |part, axis| part << 1 | usize::from(place[axis] >= self.centre[axis]))
    }

    /// The cube of a part.
    #[inline]
    fn of_part(&self, part: usize) -> Self {
        let size = self.size / 2.0;
        let centre = core::array::from_fn(|axis| {
            let above = part >> (2 - axis) & 1 == 1;
            self.centre[axis] + if above { size / 2.0 } else { -size / 2.0 }
        });
        Self { centre, size }
    }
}

/// The cells that a thread may make.
struct Supply {
    next: usize,
    end: usize,
    made: usize,
}

impl<P: Platform> Barnes<P> {
    /// Empties the tree and the box. One thread does that for all.
    pub(super) fn begin_tree(&self) {
        let world = &self.world[0];
        set_vector(&world.low, [f64::INFINITY; 3]);
        set_vector(&world.high, [f64::NEG_INFINITY; 3]);
        world.reserved.set(0);
        self.cells[ROOT].clear();
    }

    /// Widens the box to this thread's bodies.
    pub(super) fn find_bounds(&self, me: usize, mine: Mine) {
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for body in &self.own[me].bodies[..mine.bodies] {
            let place = vector(&self.bodies[body.get() as usize].position);
            low = core::array::from_fn(|axis| low[axis].min(place[axis]));
            high = core::array::from_fn(|axis| high[axis].max(place[axis]));
        }
        let world = &self.world[0];
        holding::<P, _>(&world.lock, || {
            for axis in 0..3 {
                world.low[axis].set(world.low[axis].get().min(low[axis]));
                world.high[axis].set(world.high[axis].get().max(high[axis]));
            }
        });
    }

    /// The cube of the root, which has all bodies in it.
    pub(super) fn cube(&self) -> Cube {
        let (low, high) = (vector(&self.world[0].low), vector(&self.world[0].high));
        let widest = (0..3).map(|axis| high[axis] - low[axis]).fold(0.0, f64::max);
        // A little wider, so that roundings put nobody outside.
        let size = if widest > 0.0 { widest * 1.000_01 } else { 1.0 };
        Cube { centre: core::array::from_fn(|axis| (low[axis] + high[axis]) / 2.0), size }
    }

    /// Inserts this thread's bodies, and returns how many cells it made.
    pub(super) fn build(&self, me: usize, mine: Mine) -> usize {
        let bodies = self.parameters.bodies;
        let start = cells_start(bodies, me, self.threads);
        let mut supply =
            Supply { next: start, end: cells_start(bodies, me + 1, self.threads), made: 0 };
        if start == ROOT {
            self.own[me].cells[0].set(ROOT as u32);
            supply.next += 1;
            supply.made = 1;
        }
        let cube = self.cube();
        for body in &self.own[me].bodies[..mine.bodies] {
            self.insert(me, &mut supply, cube, body.get() as usize);
        }
        supply.made
    }

    fn insert(&self, me: usize, supply: &mut Supply, mut cube: Cube, body: usize) {
        let place = vector(&self.bodies[body].position);
        let mut cell = ROOT;
        loop {
            let part = cube.part(place);
            let child = &self.cells[cell].children[part];
            let mut link = Link::decode(child.follow());
            if !matches!(link, Link::Cell(_)) {
                link = holding::<P, _>(&self.cells[cell].lock, || {
                    let mut link = Link::decode(child.follow());
                    match link {
                        Link::Nothing => child.publish(Link::Body(body).encode()),
                        Link::Body(other) => {
                            let between = self.cell_around(me, supply, cube.of_part(part), other);
                            link = Link::Cell(between);
                            child.publish(link.encode());
                        }
                        Link::Cell(_) => {}
                    }
                    link
                });
            }
            let Link::Cell(below) = link else { return };
            cell = below;
            cube = cube.of_part(part);
        }
    }

    /// Makes a cell with one body in it.
    fn cell_around(&self, me: usize, supply: &mut Supply, cube: Cube, body: usize) -> usize {
        let number = self.take_cell(supply);
        self.own[me].cells[supply.made].set(number as u32);
        supply.made += 1;
        let cell = &self.cells[number];
        cell.clear();
        let part = cube.part(vector(&self.bodies[body].position));
        cell.children[part].set(Link::Body(body).encode());
        number
    }

    fn take_cell(&self, supply: &mut Supply) -> usize {
        if supply.next < supply.end {
            supply.next += 1;
            return supply.next - 1;
        }
        let taken = self.world[0].reserved.cell().fetch_add(1, Ordering::Relaxed) as usize;
        let number = reserve_start(self.parameters.bodies, self.threads) + taken;
        assert!(number < self.cells.len(), "bodies are too close together to be told apart");
        number
    }
}
