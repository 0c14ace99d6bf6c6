//! Which particles collide.

use kilocore_platform::Platform;

use super::Mp3d;
use super::ledger::Motion;
use super::space::Cell;
use crate::numa_programs::shares::share;

impl<P: Platform> Mp3d<P> {
    /// Lets a particle collide with the partner that waits in its cell, or wait there itself.
    /// Returns whether it collided.
    #[inline(always)]
    pub(super) fn meet(&self, me: usize, number: usize, motion: Motion, cell: &Cell<P>) -> bool {
        let chance = &self.own[me][0];
        if let Some(partner) = cell.find_partner(self.parameters.updates) {
            let partner = &self.particles[partner];
            let speed_squared: f32 = (0..3)
                .map(|axis| motion[axis] - partner.motion[axis].get())
                .map(|difference| difference * difference)
                .sum();
            let likelihood = cell.last.get() as f32 * self.eagerness * speed_squared.sqrt();
            if chance.uniform() < likelihood {
                cell.release_partner(self.parameters.updates);
                chance.collide(&self.particles[number], partner);
                return true;
            }
        }
        cell.leave_partner(number);
        false
    }

    /// Lets each of a thread's particles in the reservoir collide with another one of them.
    pub(super) fn mix_reservoir(&self, me: usize) {
        let own = share(self.reservoir.len(), me, self.threads);
        let chance = &self.own[me][0];
        for number in own.clone() {
            let other = own.start + chance.below(own.len() as u32) as usize;
            if other != number {
                chance.collide(&self.reservoir[number], &self.reservoir[other]);
            }
        }
    }
}
