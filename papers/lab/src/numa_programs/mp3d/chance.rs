//! What becomes of two particles that collide, by chance.
//!
//! Two particles that collide keep the mean of their motions. Half the difference of each component
//! is dealt anew: the five go to the components in a random order with random signs (Baganoff and
//! McDonald, 'A collision-selection rule for a particle simulation method suited to vector
//! computers', 1990). So momentum and energy are what they were, and energy passes between flight
//! and rotation.

use kilocore_platform::Platform;

use super::ledger::MOTIONS;
use super::space::{Particle, Space, THERMAL};
use crate::numa_programs::random::Random;
use crate::numa_programs::word::{Word, words};

/// The orders of five things.
const ORDERS: usize = 120;
/// The chance to collide of two particles of the undisturbed gas that pass at the usual speed.
const USUAL: f32 = 0.5;

/// By how much a particle in a cell, and a unit of relative speed, adds to the chance to collide.
pub(super) fn eagerness(space: Space, particles: usize) -> f32 {
    let in_a_cell = (particles as f32 / space.free_cells() as f32).max(1.0);
    // The usual relative speed is the root of twice three components.
    USUAL / (in_a_cell * THERMAL * 6f32.sqrt())
}

/// What a thread keeps to itself: its random numbers, and what a collision is computed in.
#[repr(C)]
pub(super) struct Chance<P: Platform> {
    state: Word<P, u32>,
    means: [Word<P, f32>; MOTIONS],
    halves: [Word<P, f32>; MOTIONS],
    orders: [[Word<P, u32>; MOTIONS]; ORDERS],
}

impl<P: Platform> Chance<P> {
    pub(super) fn new(seed: u64, thread: usize) -> Self {
        let state = Random::new(seed, 1 + thread as u64).bits() as u32;
        Self {
            state: Word::new(state),
            means: words(0.0),
            halves: words(0.0),
            orders: core::array::from_fn(|number| order(number).map(Word::new)),
        }
    }

    /// Random bits, of which the higher are the better: a linear congruential generator.
    #[inline(always)]
    fn bits(&self) -> u32 {
        let next = self.state.get().wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.state.set(next);
        next
    }

    /// Draws a number from `0.0..1.0`, uniformly.
    #[inline(always)]
    pub(super) fn uniform(&self) -> f32 {
        (self.bits() >> 8) as f32 * (1.0 / (1 << 24) as f32)
    }

    /// Draws a number from `0..bound`, uniformly.
    #[inline(always)]
    pub(super) fn below(&self, bound: u32) -> u32 {
        ((u64::from(self.bits()) * u64::from(bound)) >> 32) as u32
    }

    /// Lets two particles collide.
    pub(super) fn collide(&self, one: &Particle<P>, other: &Particle<P>) {
        for component in 0..MOTIONS {
            let (a, b) = (one.motion[component].get(), other.motion[component].get());
            self.means[component].set(0.5 * (a + b));
            self.halves[component].set(0.5 * (a - b));
        }
        let order = &self.orders[self.below(ORDERS as u32) as usize];
        let signs = self.bits() >> (32 - MOTIONS);
        for (component, dealt) in order.iter().enumerate() {
            let half = self.halves[dealt.get() as usize].get();
            let half = if signs >> component & 1 == 0 { half } else { -half };
            let mean = self.means[component].get();
            one.motion[component].set(mean + half);
            other.motion[component].set(mean - half);
        }
    }
}

/// The order of that number: its digits, in the factorial system, say which of the rest comes next.
fn order(mut number: usize) -> [u32; MOTIONS] {
    let mut rest: Vec<u32> = (0..MOTIONS as u32).collect();
    core::array::from_fn(|at| {
        let choices = MOTIONS - at;
        let chosen = rest.remove(number % choices);
        number /= choices;
        chosen
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use kilocore_platform::Native;

    use super::*;
    use crate::numa_programs::word::vector;

    #[test]
    fn all_orders_are_there() {
        let orders: BTreeSet<[u32; MOTIONS]> = (0..ORDERS).map(order).collect();
        assert_eq!(orders.len(), ORDERS);
    }

    #[test]
    fn a_collision_keeps_momentum_and_energy() {
        let chance = Chance::<Native>::new(1, 0);
        let mut random = Random::new(1, 9);
        for _ in 0..200 {
            let pair = [(); 2].map(|()| Particle::<Native>::in_reservoir(&mut random));
            let sums = || {
                let [one, other] = pair.each_ref().map(|p| vector::<_, f32, 5>(&p.motion));
                let momentum: [f32; 3] = core::array::from_fn(|axis| one[axis] + other[axis]);
                let energy: f32 = one.iter().chain(&other).map(|m| m * m).sum();
                (momentum, energy)
            };
            let (momentum, energy) = sums();
            chance.collide(&pair[0], &pair[1]);
            let (momentum_after, energy_after) = sums();
            for axis in 0..3 {
                assert!((momentum[axis] - momentum_after[axis]).abs() < 1e-6);
            }
            assert!((energy - energy_after).abs() < 1e-5 * energy);
        }
    }
}
