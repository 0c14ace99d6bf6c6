//! A step of a particle.

use kilocore_platform::Platform;

use super::Mp3d;
use super::ledger::{Ledger, Motion};
use super::space::FLOW;
use crate::numa_programs::shares::share;
use crate::numa_programs::word::{set_vector, vector};

/// How far from the far walls particles stay, so that roundings keep them inside.
const MARGIN: f32 = 1.0 / 1024.0;

impl<P: Platform> Mp3d<P> {
    /// Moves a particle, and lets it collide where it comes to.
    pub(super) fn step(&self, me: usize, number: usize, ledger: &mut Ledger) {
        let particle = &self.particles[number];
        let old = vector(&particle.place);
        let before: Motion = vector(&particle.motion);
        let mut motion = before;
        let mut place: [f32; 3] = core::array::from_fn(|axis| old[axis] + motion[axis]);
        if place[0] < 0.0 || place[0] >= self.space.size[0] as f32 {
            (place, motion) = self.enter(me);
            ledger.entries += 1;
        } else {
            self.reflect(&mut place, &mut motion);
        }
        let mut cell = self.space.cell_at(place);
        if self.cells[cell].solid.get() != 0 {
            // Back the way it came.
            place = old;
            cell = particle.cell.get() as usize;
            for component in &mut motion[..3] {
                *component = -*component;
            }
            ledger.bounces += 1;
        }
        set_vector(&particle.place, place);
        particle.cell.set(cell as u32);
        if motion != before {
            set_vector(&particle.motion, motion);
            ledger.change(before, motion);
        }
        let cell = &self.cells[cell];
        cell.count(motion, self.parameters.updates);
        ledger.collisions += u32::from(self.meet(me, number, motion, cell));
    }

    /// A place and a motion for a particle that comes in.
    fn enter(&self, me: usize) -> ([f32; 3], Motion) {
        let chance = &self.own[me][0];
        let own = share(self.reservoir.len(), me, self.threads);
        let other = own.start + chance.below(own.len() as u32) as usize;
        let mut motion: Motion = vector(&self.reservoir[other].motion);
        motion[0] += FLOW;
        let [_, height, width] = self.space.size.map(|size| size as f32 - MARGIN);
        let place = [chance.uniform() * FLOW, chance.uniform() * height, chance.uniform() * width];
        (place, motion)
    }

    /// Floor, ceiling and side walls are smooth.
    #[inline(always)]
    fn reflect(&self, place: &mut [f32; 3], motion: &mut Motion) {
        for axis in 1..3 {
            let far = self.space.size[axis] as f32;
            let at = place[axis];
            if at < 0.0 || at >= far {
                let reflected = if at < 0.0 { -at } else { 2.0 * far - at };
                place[axis] = reflected.clamp(0.0, far - MARGIN);
                motion[axis] = -motion[axis];
            }
        }
    }
}
