//! The tunnel, its cells and the particles.

use core::array::from_fn;

use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform};

use super::ledger::{Ledger, MOTIONS, Motion};
use super::parameters::Updates;
use crate::numa_programs::barrier::Barrier;
use crate::numa_programs::lock::{Lock, free, holding};
use crate::numa_programs::random::Random;
use crate::numa_programs::word::{Word, vector, words};

/// How fast the gas flows, in cells a step.
pub(super) const FLOW: f32 = 0.6;
/// The deviation of each component of the thermal motion. The flow is four times as fast.
pub(super) const THERMAL: f32 = 0.15;

/// The space that the gas flows through, divided into cells.
#[derive(Debug, Clone, Copy)]
pub(super) struct Space {
    pub(super) size: [usize; 3],
}

impl Space {
    pub(super) fn new(size: [usize; 3]) -> Self {
        Self { size }
    }

    pub(super) fn cells(self) -> usize {
        self.size.iter().product()
    }

    /// The cell of a place inside.
    #[inline(always)]
    pub(super) fn cell_at(self, place: [f32; 3]) -> usize {
        let [x, y, z] = place.map(|at| at as usize);
        x + self.size[0] * (y + self.size[1] * z)
    }

    pub(super) fn contains(self, place: [f32; 3]) -> bool {
        place.into_iter().zip(self.size).all(|(at, size)| at >= 0.0 && at < size as f32)
    }

    /// Whether a cell is part of the obstacle: a wedge on the floor that rises along the flow.
    pub(super) fn is_solid(self, cell: usize) -> bool {
        let [length, height, width] = self.size;
        let (x, y, z) = (cell % length, cell / length % height, cell / (length * height));
        let (front, back) = ((2 * length / 5).max(1), 7 * length / 10);
        let beside = z < width / 4 || z >= width - width / 4;
        !beside && (front..back).contains(&x) && y * 2 * (back - front) < height * (x + 1 - front)
    }

    pub(super) fn free_cells(self) -> usize {
        (0..self.cells()).filter(|&cell| !self.is_solid(cell)).count()
    }
}

/// A particle, in the 36 bytes that it had in the model.
#[repr(C)]
pub(super) struct Particle<P: Platform> {
    pub(super) place: [Word<P, f32>; 3],
    pub(super) motion: [Word<P, f32>; MOTIONS],
    pub(super) cell: Word<P, u32>,
}

impl<P: Platform> Particle<P> {
    /// A particle somewhere in the flow, but not in the obstacle.
    pub(super) fn in_flow(space: Space, random: &mut Random) -> Self {
        loop {
            let place = space.size.map(|size| (random.uniform() * size as f64) as f32);
            // A place just below the border may be rounded to it.
            if !space.contains(place) || space.is_solid(space.cell_at(place)) {
                continue;
            }
            let particle = Self::in_reservoir(random);
            particle.motion[0].add(FLOW);
            particle.cell.set(space.cell_at(place) as u32);
            return Self { place: place.map(Word::new), ..particle };
        }
    }

    /// A particle of the reservoir, which is nowhere.
    pub(super) fn in_reservoir(random: &mut Random) -> Self {
        let motion = from_fn(|_| Word::new((random.normal() * f64::from(THERMAL)) as f32));
        Self { place: words(0.0), motion, cell: Word::new(0) }
    }
}

/// The motions of particles.
pub(super) fn motions<P: Platform>(particles: &[Particle<P>]) -> impl Iterator<Item = Motion> {
    particles.iter().map(|particle| vector(&particle.motion))
}

/// A cell, in the 40 bytes that it had in the model without locks.
#[repr(C)]
pub(super) struct Cell<P: Platform> {
    pub(super) solid: Word<P, u32>,
    /// The particles that have come to it in this step.
    pub(super) population: Word<P, u32>,
    /// Those that were in it after the last step.
    pub(super) last: Word<P, u32>,
    /// 1 and the number of a particle that waits for another one to collide with; 0 if none does.
    pub(super) partner: Word<P, u32>,
    /// Sums over all steps and particles: of the components of velocity, and of their squares.
    sums: [Word<P, f32>; 6],
}

impl<P: Platform> Cell<P> {
    pub(super) fn new(solid: bool, population: u32) -> Self {
        Self {
            solid: Word::new(u32::from(solid)),
            population: Word::new(population),
            last: Word::new(0),
            partner: Word::new(0),
            sums: words(0.0),
        }
    }

    pub(super) fn begin_step(&self) {
        self.last.set(self.population.get());
        self.population.set(0);
        self.partner.set(0);
    }

    /// Counts a particle that has come.
    #[inline(always)]
    pub(super) fn count(&self, motion: Motion, updates: Updates) {
        let [u, v, w, ..] = motion;
        let more = [u, v, w, u * u, v * v, w * w];
        match updates {
            Updates::Racy => {
                self.population.add(1);
                for (sum, more) in self.sums.iter().zip(more) {
                    sum.add(more);
                }
            }
            Updates::Atomic => {
                self.population.cell().fetch_add(1, Ordering::Relaxed);
                for (sum, more) in self.sums.iter().zip(more) {
                    add_in_one_step(sum, more);
                }
            }
        }
    }

    /// Looks for a partner that waits, which stays there for others to see if updates race.
    #[inline(always)]
    pub(super) fn find_partner(&self, updates: Updates) -> Option<usize> {
        let word = match updates {
            // Acquire: the partner's thread has moved it.
            Updates::Racy => self.partner.follow(),
            Updates::Atomic => self.partner.cell().swap(0, Ordering::Acquire),
        };
        word.checked_sub(1).map(|number| number as usize)
    }

    /// Notes that the partner who was found waits no longer.
    #[inline(always)]
    pub(super) fn release_partner(&self, updates: Updates) {
        // In one step, it was taken when it was found.
        if updates == Updates::Racy {
            self.partner.set(0);
        }
    }

    /// Leaves a partner for the next one, in the place of one that may wait.
    #[inline(always)]
    pub(super) fn leave_partner(&self, number: usize) {
        self.partner.publish(number as u32 + 1);
    }
}

fn add_in_one_step<P: Platform>(word: &Word<P, f32>, more: f32) {
    let mut old = word.cell().load(Ordering::Relaxed);
    loop {
        let new = (f32::from_bits(old) + more).to_bits();
        let done =
            word.cell().compare_exchange_weak(old, new, Ordering::Relaxed, Ordering::Relaxed);
        match done {
            Ok(_) => return,
            Err(now) => old = now,
        }
    }
}

/// What all threads use besides: the barrier, and what has happened to the particles.
#[repr(C)]
pub(super) struct Tunnel<P: Platform> {
    pub(super) barrier: Barrier<P>,
    lock: Lock<P>,
    pub(super) collisions: Word<P, u32>,
    pub(super) bounces: Word<P, u32>,
    pub(super) entries: Word<P, u32>,
    pub(super) momentum: [Word<P, f64>; 3],
    pub(super) energy: Word<P, f64>,
}

impl<P: Platform> Tunnel<P> {
    pub(super) fn new(threads: usize) -> Self {
        Self {
            barrier: Barrier::new(threads),
            lock: free(),
            collisions: Word::new(0),
            bounces: Word::new(0),
            entries: Word::new(0),
            momentum: words(0.0),
            energy: Word::new(0.0),
        }
    }

    /// Adds what has happened to a thread's particles.
    pub(super) fn add(&self, ledger: &Ledger) {
        holding::<P, _>(&self.lock, || {
            self.collisions.add(ledger.collisions);
            self.bounces.add(ledger.bounces);
            self.entries.add(ledger.entries);
            for (sum, more) in self.momentum.iter().zip(ledger.momentum) {
                sum.add(more);
            }
            self.energy.add(ledger.energy);
        });
    }
}
