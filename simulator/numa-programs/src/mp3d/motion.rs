//! A step of a particle.

use kilocore_platform::Platform;

use super::Mp3d;
use super::space::{FLOW, MOTIONS, Particle};
use crate::shares::share;
use crate::word::{set_vector, vector};

/// How far from the far walls particles stay, so that roundings keep them inside.
const MARGIN: f32 = 1.0 / 1024.0;

/// What walls, obstacle and reservoir did to particles, and how many collisions there were.
///
/// It is as small as the registers of a processor, so it is not in memory.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ledger {
    pub(super) momentum: [f64; 3],
    pub(super) energy: f64,
    pub(super) collisions: u32,
    pub(super) bounces: u32,
    pub(super) entries: u32,
}

impl Ledger {
    /// What all those particles have.
    pub(super) fn of_all<P: Platform>(particles: &[Particle<P>]) -> Self {
        let mut ledger = Self::default();
        for particle in particles {
            ledger.change([0.0; MOTIONS], vector(&particle.motion));
        }
        ledger
    }

    #[inline(always)]
    fn change(&mut self, before: [f32; MOTIONS], after: [f32; MOTIONS]) {
        for axis in 0..3 {
            self.momentum[axis] += f64::from(after[axis]) - f64::from(before[axis]);
        }
        self.energy += energy(after) - energy(before);
    }
}

fn energy(motion: [f32; MOTIONS]) -> f64 {
    0.5 * motion.iter().map(|&m| f64::from(m) * f64::from(m)).sum::<f64>()
}

impl<P: Platform> Mp3d<P> {
    /// Moves a particle, and lets it collide where it comes to.
    pub(super) fn step(&self, me: usize, number: usize, ledger: &mut Ledger) {
        let particle = &self.particles[number];
        let old = vector(&particle.place);
        let before: [f32; MOTIONS] = vector(&particle.motion);
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
    fn enter(&self, me: usize) -> ([f32; 3], [f32; MOTIONS]) {
        let chance = &self.own[me][0];
        let own = share(self.reservoir.len(), me, self.threads);
        let other = own.start + chance.below(own.len() as u32) as usize;
        let mut motion: [f32; MOTIONS] = vector(&self.reservoir[other].motion);
        motion[0] += FLOW;
        let [_, height, width] = self.space.size.map(|size| size as f32 - MARGIN);
        let place = [chance.uniform() * FLOW, chance.uniform() * height, chance.uniform() * width];
        (place, motion)
    }

    /// Floor, ceiling and side walls are smooth.
    #[inline(always)]
    fn reflect(&self, place: &mut [f32; 3], motion: &mut [f32; MOTIONS]) {
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
