//! Centres of mass, from the leaves to the root.
//!
//! A thread goes through the cells that it made, the last one first, and waits for children that are
//! not complete yet. Nobody waits for ever: a child was made after its parent, so that of all cells
//! that are not complete, the youngest has nothing to wait for.

use kilocore_platform::{Platform, Wait};

use super::tree::Link;
use super::vector::Vector;
use super::{Barnes, Mine};
use crate::numa_programs::word::{set_vector, vector};

impl<P: Platform> Barnes<P> {
    pub(super) fn find_masses(&self, me: usize, mine: Mine, step: usize) {
        let now = step as u32 + 1;
        for cell in self.own[me].cells[..mine.cells].iter().rev() {
            self.find_mass(cell.get() as usize, now);
        }
    }

    fn find_mass(&self, number: usize, now: u32) {
        let cell = &self.cells[number];
        let (mut mass, mut moment, mut cost) = (0.0, [0.0; 3], 0);
        for child in &cell.children {
            let (part, place): (f64, Vector) = match Link::decode(child.get()) {
                Link::Nothing => continue,
                Link::Body(body) => {
                    let body = &self.bodies[body];
                    cost += body.cost.get();
                    (body.mass.get(), vector(&body.position))
                }
                Link::Cell(below) => {
                    let below = &self.cells[below];
                    if below.complete.follow() != now {
                        P::wait_until(below.complete.cell(), Wait::Spin, |step| step == now);
                    }
                    cost += below.cost.get();
                    (below.mass.get(), vector(&below.position))
                }
            };
            mass += part;
            moment = core::array::from_fn(|axis| moment[axis] + part * place[axis]);
        }
        cell.mass.set(mass);
        set_vector(&cell.position, moment.map(|moment| moment / mass));
        cell.cost.set(cost);
        cell.complete.publish(now);
    }
}
