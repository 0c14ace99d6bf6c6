//! Whether particles are where they can be, and have the motion that something gave them.
//!
//! Collisions keep momentum and energy. Walls, the obstacle and the reservoir change them, and the
//! program books by how much. So what the particles had at the beginning, with what was booked, is
//! what they have at the end.
//!
//! Where updates race, some of it is lost, and the bounds are wide. A collision that is half lost
//! changes the sums by about a third of a particle's share, in any direction. If a tenth of all are
//! lost, which takes 32 threads in 64 cells, then the sums are off by a tenth of the root of steps
//! over particles. The bound is the whole root.

use kilocore_platform::Platform;

use super::ledger::Ledger;
use super::space::{FLOW, motions};
use super::summary::Summary;
use super::{Mp3d, Updates};
use crate::numa_programs::error::{WrongResult, bounded};
use crate::numa_programs::word::vector;

/// The most that momentum and energy may be off, as a part of those of the flow, by roundings.
const ROUNDINGS: f64 = 1e-5;
/// The least part of the particles that is counted where updates race.
const COUNTED: f64 = 0.75;
/// How many more may not be counted, as there may be few.
const NOT_COUNTED: f64 = 8.0;

pub(super) fn check<P: Platform>(mp3d: &Mp3d<P>) -> Result<Summary, WrongResult> {
    places(mp3d)?;
    let exact = mp3d.threads == 1 || mp3d.parameters.updates == Updates::Atomic;
    let particles = mp3d.particles.len();
    let counted: u32 = mp3d.cells.iter().map(|cell| cell.population.get()).sum();
    let least = if exact { particles as f64 } else { COUNTED * particles as f64 - NOT_COUNTED };
    bounded("the number of particles in cells", f64::from(counted), least, particles as f64)?;

    let tunnel = &mp3d.tunnel[0];
    let booked = Ledger {
        momentum: vector(&tunnel.momentum),
        energy: tunnel.energy.get(),
        ..Ledger::default()
    };
    let (momentum_error, energy_error) =
        errors(&mp3d.initial, &booked, &Ledger::of_all(motions(&mp3d.particles)), particles);
    let races = (mp3d.parameters.steps as f64 / particles as f64).sqrt();
    let most = if exact { ROUNDINGS } else { races };
    bounded("the error of the momentum", momentum_error, 0.0, most)?;
    bounded("the error of the energy", energy_error, 0.0, most)?;

    let now = Ledger::of_all(motions(&mp3d.reservoir));
    let reservoir = errors(&mp3d.initial_reservoir, &Ledger::default(), &now, mp3d.reservoir.len());
    bounded("the error of the reservoir's momentum", reservoir.0, 0.0, ROUNDINGS)?;
    bounded("the error of the reservoir's energy", reservoir.1, 0.0, ROUNDINGS)?;
    Ok(Summary {
        particles,
        counted,
        collisions: tunnel.collisions.get(),
        bounces: tunnel.bounces.get(),
        entries: tunnel.entries.get(),
        momentum_error,
        energy_error,
    })
}

/// Whether each particle is inside, outside the obstacle, and in the cell that it says.
fn places<P: Platform>(mp3d: &Mp3d<P>) -> Result<(), WrongResult> {
    for (index, particle) in mp3d.particles.iter().enumerate() {
        let place = vector(&particle.place);
        for (at, size) in place.into_iter().zip(mp3d.space.size) {
            bounded("a particle's place", f64::from(at), 0.0, size as f64)?;
        }
        let differs = |what, found, wanted| WrongResult::Differs { what, index, found, wanted };
        if !mp3d.space.contains(place) {
            return Err(differs("a place inside for particle", 0.0, 1.0));
        }
        let (cell, wanted) = (particle.cell.get(), mp3d.space.cell_at(place));
        if cell as usize != wanted {
            return Err(differs("the cell of particle", f64::from(cell), wanted as f64));
        }
        if mp3d.space.is_solid(wanted) {
            return Err(differs("whether it is in the obstacle, for particle", 1.0, 0.0));
        }
    }
    Ok(())
}

/// How far the end is from the beginning and what was booked: momentum, as a part of that of as many
/// particles in the flow, and energy, as a part of it.
fn errors(before: &Ledger, booked: &Ledger, after: &Ledger, particles: usize) -> (f64, f64) {
    let squared: f64 = (0..3)
        .map(|axis| after.momentum[axis] - before.momentum[axis] - booked.momentum[axis])
        .map(|off| off * off)
        .sum();
    let energy = before.energy + booked.energy;
    let momentum = squared.sqrt() / (particles as f64 * f64::from(FLOW));
    (momentum, ((after.energy - energy) / energy).abs())
}

#[cfg(test)]
mod tests {
    use kilocore_platform::Native;

    use super::*;
    use crate::numa_programs::mp3d::Parameters;
    use crate::numa_programs::run::Algorithm;

    fn after() -> Mp3d<Native> {
        let mp3d = Mp3d::new(Parameters::SMALL, 1, 1);
        mp3d.thread(0);
        let summary = check(&mp3d).unwrap();
        assert!(summary.collisions > 0 && summary.bounces > 0 && summary.entries > 0);
        mp3d
    }

    #[test]
    fn a_particle_outside_is_noticed() {
        let mp3d = after();
        mp3d.particles[3].place[1].set(-0.5);
        assert!(check(&mp3d).is_err());
    }

    #[test]
    fn a_particle_in_the_obstacle_is_noticed() {
        let mp3d = after();
        let space = mp3d.space;
        let solid = (0..space.cells()).find(|&cell| space.is_solid(cell)).unwrap();
        let [length, height, _] = space.size;
        let corner = [solid % length, solid / length % height, solid / (length * height)];
        crate::numa_programs::word::set_vector(
            &mp3d.particles[3].place,
            corner.map(|at| at as f32 + 0.5),
        );
        mp3d.particles[3].cell.set(solid as u32);
        assert!(check(&mp3d).is_err());
    }

    #[test]
    fn momentum_that_nobody_booked_is_noticed() {
        let mp3d = after();
        mp3d.particles[3].motion[0].add(0.1);
        assert!(check(&mp3d).is_err());
    }

    #[test]
    fn energy_that_is_lost_is_noticed() {
        let mp3d = after();
        // A rotation has no part in the momentum.
        let fastest = mp3d
            .particles
            .iter()
            .max_by(|a, b| a.motion[4].get().abs().total_cmp(&b.motion[4].get().abs()));
        fastest.unwrap().motion[4].set(0.0);
        assert!(check(&mp3d).is_err());
    }

    #[test]
    fn a_particle_that_was_not_counted_is_noticed() {
        let mp3d = after();
        let cell = mp3d.cells.iter().find(|cell| cell.population.get() > 0).unwrap();
        cell.population.set(cell.population.get() - 1);
        assert!(check(&mp3d).is_err());
    }
}
