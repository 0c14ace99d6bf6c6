//! The forces on a thread's bodies.

use kilocore_platform::Platform;

use super::build::ROOT;
use super::tree::Link;
use super::{Barnes, Mine};
use crate::numa_programs::word::vector;

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
