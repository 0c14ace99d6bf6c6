//! MP3D: a thin gas that flows past an obstacle at high speed.
//!
//! # The idea
//! A wind tunnel is divided into cells. Particles fly through it, each thread moving those that are
//! its own, wherever they are. Two particles that come to the same cell in a step may collide, the
//! likelier the denser the cell is and the faster they pass. So a particle that came first is left
//! in the cell as a partner for the next one. Each particle also adds to the counts of its cell. So
//! all threads write to all cells, in no order: the program has next to no locality.
//!
//! Units are the width of a cell and the time of a step. All particles have the mass 1.
//!
//! # Races
//! Like its model, the program updates cells without a lock ([`Updates::Racy`]). Counts are lost now
//! and then, and two threads may collide with the same partner, of which one collision is half lost.
//! A statistical method can bear that. With [`Updates::Atomic`] nothing is lost.
//!
//! # Whose the particles are
//! Particles lie in shared memory, as in the model: whoever collides with one writes to it. So does
//! the reservoir. A thread keeps its random numbers to itself, and what a collision is computed in.
//!
//! # Where it departs from its model
//! * The obstacle is a wedge made of whole cells, from which particles bounce back the way they
//!   came. The model has a geometry file.
//! * A particle that leaves comes in anew, with the thermal motion of one of the reservoir. The
//!   reservoir of each thread is apart, while the model has one.
//! * It samples the flow in every step: each particle adds its velocity, and the squares of it, to
//!   sums of its cell.

mod chance;
mod check;
mod collision;
mod ledger;
mod motion;
mod parameters;
mod space;
mod summary;

use core::ops::Range;

use kilocore_platform::Platform;

use self::chance::Chance;
use self::ledger::Ledger;
pub use self::parameters::{Parameters, Updates};
use self::space::{Cell, Particle, Space, Tunnel};
pub use self::summary::Summary;
use crate::numa_programs::error::WrongResult;
use crate::numa_programs::pages::{Pages, addresses_by_thread};
use crate::numa_programs::random::Random;
use crate::numa_programs::run::{self, Algorithm};
use crate::numa_programs::shares::share;

/// One of how many particles the reservoir has a particle for.
const PER_RESERVOIR: usize = 16;

pub(crate) struct Mp3d<P: Platform> {
    parameters: Parameters,
    threads: usize,
    space: Space,
    /// By how much a particle in a cell, and a unit of relative speed, adds to the chance to collide.
    eagerness: f32,
    tunnel: Pages<Tunnel<P>>,
    cells: Pages<Cell<P>>,
    particles: Pages<Particle<P>>,
    /// Particles of the gas that flows in, seen from the flow.
    reservoir: Pages<Particle<P>>,
    /// What the particles had at the beginning, of momentum and energy.
    initial: Ledger,
    initial_reservoir: Ledger,
    own: Vec<Pages<Chance<P>>>,
}

impl<P: Platform> Mp3d<P> {
    pub(crate) fn new(parameters: Parameters, threads: usize, seed: u64) -> Self {
        let space = Space::new(parameters.cells);
        let mut random = Random::new(seed, 0);
        let particles = Pages::new(parameters.particles, |_| Particle::in_flow(space, &mut random));
        let in_reservoir = (parameters.particles / PER_RESERVOIR).max(2 * threads);
        let reservoir = Pages::new(in_reservoir, |_| Particle::in_reservoir(&mut random));
        let mut populations = vec![0; space.cells()];
        for particle in &*particles {
            populations[particle.cell.get() as usize] += 1;
        }
        let cells = Pages::new(space.cells(), |number| {
            Cell::new(space.is_solid(number), populations[number])
        });
        Self {
            parameters,
            threads,
            space,
            eagerness: chance::eagerness(space, parameters.particles),
            tunnel: Pages::new(1, |_| Tunnel::new(threads)),
            cells,
            initial: Ledger::of_all(space::motions(&particles)),
            initial_reservoir: Ledger::of_all(space::motions(&reservoir)),
            particles,
            reservoir,
            own: (0..threads).map(|thread| Pages::new(1, |_| Chance::new(seed, thread))).collect(),
        }
    }
}

impl<P: Platform> Algorithm for Mp3d<P> {
    fn thread(&self, me: usize) {
        let tunnel = &self.tunnel[0];
        let shares = |all| share(all, me, self.threads);
        for _ in 0..self.parameters.steps {
            for cell in &self.cells[shares(self.cells.len())] {
                cell.begin_step();
            }
            tunnel.barrier.wait();
            let mut ledger = Ledger::default();
            for number in shares(self.particles.len()) {
                self.step(me, number, &mut ledger);
            }
            self.mix_reservoir(me);
            tunnel.add(&ledger);
            tunnel.barrier.wait();
        }
    }

    fn check(&self) -> Result<run::Summary, WrongResult> {
        check::check(self).map(run::Summary::Mp3d)
    }

    fn private_memory(&self) -> Vec<(usize, Range<usize>)> {
        addresses_by_thread(&self.own).collect()
    }

    fn shared_memory(&self) -> Vec<Range<usize>> {
        vec![
            self.tunnel.addresses(),
            self.cells.addresses(),
            self.particles.addresses(),
            self.reservoir.addresses(),
        ]
    }
}
