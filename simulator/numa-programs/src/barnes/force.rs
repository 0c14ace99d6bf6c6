//! The forces on a thread's bodies.
//!
//! What a walk has of its body, and of the body or cell that it looks at, is in memory of the
//! thread's own. In the model these are variables of each process that all its functions share.

use kilocore_platform::Platform;

use super::build::ROOT;
use super::tree::Link;
use super::{Barnes, Mine};
use crate::word::{Word, set_vector, vector, words};

/// A walk of the tree for one body.
#[repr(C)]
pub(super) struct Walk<P: Platform> {
    position: [Word<P, f64>; 3],
    acceleration: [Word<P, f64>; 3],
    potential: Word<P, f64>,
    /// From the body to what acts on it.
    towards: [Word<P, f64>; 3],
    distance_squared: Word<P, f64>,
    /// How many have acted on it.
    acted: Word<P, u32>,
}

impl<P: Platform> Walk<P> {
    pub(super) fn new() -> Self {
        Self {
            position: words(0.0),
            acceleration: words(0.0),
            potential: Word::new(0.0),
            towards: words(0.0),
            distance_squared: Word::new(0.0),
            acted: Word::new(0),
        }
    }

    fn begin(&self, position: [f64; 3]) {
        set_vector(&self.position, position);
        set_vector(&self.acceleration, [0.0; 3]);
        self.potential.set(0.0);
        self.acted.set(0);
    }

    /// Looks at a place and returns the square of its distance.
    #[inline(always)]
    fn look_at(&self, place: &[Word<P, f64>; 3]) -> f64 {
        let mut squared = 0.0;
        for (axis, place) in place.iter().enumerate() {
            let towards = place.get() - self.position[axis].get();
            self.towards[axis].set(towards);
            squared += towards * towards;
        }
        self.distance_squared.set(squared);
        squared
    }

    /// Lets a mass act that is where the walk looks at.
    #[inline(always)]
    fn act(&self, mass: f64, softening_squared: f64) {
        let squared = self.distance_squared.get() + softening_squared;
        let potential = mass / squared.sqrt();
        self.potential.set(self.potential.get() - potential);
        let factor = potential / squared;
        for axis in 0..3 {
            self.acceleration[axis].add(factor * self.towards[axis].get());
        }
        self.acted.add(1);
    }
}

impl<P: Platform> Barnes<P> {
    /// Computes the forces on this thread's bodies and mends their velocities.
    pub(super) fn find_forces(&self, me: usize, mine: Mine, step: usize) {
        let half_step = 0.5 * self.parameters.step;
        let walk = &self.own[me].walk[0];
        let size = self.cube().size;
        for number in &self.own[me].bodies[..mine.bodies] {
            let number = number.get() as usize;
            let body = &self.bodies[number];
            walk.begin(vector(&body.position));
            self.walk(me, number, size);
            for axis in 0..3 {
                let now = walk.acceleration[axis].get();
                if step > 0 {
                    // The last kick took the force at the step's beginning for its second half.
                    let change = now - body.acceleration[axis].get();
                    body.velocity[axis].add(change * half_step);
                }
                body.acceleration[axis].set(now);
            }
            body.potential.set(walk.potential.get());
            body.cost.set(walk.acted.get());
        }
    }

    /// Lets everything act on a body, in a cube of that size.
    fn walk(&self, me: usize, body: usize, size: f64) {
        let (walk, stack) = (&self.own[me].walk[0], &self.own[me].stack);
        let softening_squared = self.parameters.softening * self.parameters.softening;
        let near = size / (2.0 * self.parameters.theta);
        let mut depth = 1;
        stack[0].cell.set(ROOT as u32);
        stack[0].next.set(0);
        stack[0].near.set(near * near);
        while depth > 0 {
            let frame = &stack[depth - 1];
            let next = frame.next.get() as usize;
            if next == 8 {
                depth -= 1;
                continue;
            }
            frame.next.set(next as u32 + 1);
            match Link::decode(self.cells[frame.cell.get() as usize].children[next].get()) {
                Link::Nothing => {}
                Link::Body(other) => {
                    if other != body {
                        walk.look_at(&self.bodies[other].position);
                        walk.act(self.bodies[other].mass.get(), softening_squared);
                    }
                }
                Link::Cell(below) => {
                    let cell = &self.cells[below];
                    let near = frame.near.get();
                    if walk.look_at(&cell.position) < near {
                        stack[depth].cell.set(below as u32);
                        stack[depth].next.set(0);
                        stack[depth].near.set(near / 4.0);
                        depth += 1;
                    } else {
                        walk.act(cell.mass.get(), softening_squared);
                    }
                }
            }
        }
    }
}
