//! Whether the forces are right, and what motion conserves is conserved.
//!
//! Forces are compared with sums over all bodies. A cell that is not opened is taken for a point,
//! with an error that grows as the square of its size over its distance. So the bounds grow as the
//! square of theta. Their factors are about twice the worst that was seen with 2 to 4,096 bodies and
//! some dozen seeds. The fewer the bodies, the larger are errors: the worst was seen with 64, and with
//! 4,096 it was a quarter of it. The other bounds are several times what was seen.

use kilocore_platform::Platform;

use super::summary::Summary;
use super::vector::{Vector, minus, squared};
use super::{Barnes, plummer};
use crate::numa_programs::error::{WrongResult, bounded};
use crate::numa_programs::random::digest;
use crate::numa_programs::word::vector;

/// The most that forces may be off with theta 1: the root of the mean square of the errors, as a
/// part of the same of the forces.
const FORCE_ERROR: f64 = 0.2;
/// The most that a single force may be off, as a part of the same.
const WORST_FORCE_ERROR: f64 = 1.0;
/// The most that the energy may change in ten steps, as a part of it.
const ENERGY_DRIFT: f64 = 0.01;
/// The most that momentum may come to be in ten steps, as a part of what it would be if all bodies
/// went one way.
const MOMENTUM: f64 = 0.01;
/// Bodies whose forces are compared.
const COMPARED: usize = 512;

/// A body in plain memory.
#[derive(Clone, Copy)]
struct Star {
    mass: f64,
    position: Vector,
    velocity: Vector,
}

pub(super) fn check<P: Platform>(barnes: &Barnes<P>) -> Result<Summary, WrongResult> {
    let stars: Vec<Star> = barnes
        .bodies
        .iter()
        .map(|body| Star {
            mass: body.mass.get(),
            position: vector(&body.position),
            velocity: vector(&body.velocity),
        })
        .collect();
    let softening = barnes.parameters.softening;
    let theta_squared = barnes.parameters.theta * barnes.parameters.theta;
    let tens_of_steps = (barnes.parameters.steps as f64 / 10.0).max(1.0);
    let (force_error, worst) = force_errors(barnes, &stars);
    bounded("the error of forces", force_error, 0.0, FORCE_ERROR * theta_squared)?;
    bounded("the error of a force", worst, 0.0, WORST_FORCE_ERROR * theta_squared)?;
    let before: Vec<Star> = plummer::bodies(stars.len(), barnes.seed)
        .iter()
        .map(|&plummer::Start { mass, position, velocity }| Star { mass, position, velocity })
        .collect();
    let before = energy(&before, softening);
    let energy_drift = ((energy(&stars, softening) - before) / before).abs();
    bounded("the drift of the energy", energy_drift, 0.0, ENERGY_DRIFT * tens_of_steps)?;
    let momentum = momentum(&stars);
    bounded("the momentum", momentum, 0.0, MOMENTUM * tens_of_steps)?;
    let interactions: f64 = barnes.bodies.iter().map(|body| f64::from(body.cost.get())).sum();
    let numbers = stars.iter().flat_map(|star| star.position.into_iter().chain(star.velocity));
    Ok(Summary {
        bodies: stars.len(),
        interactions: interactions / stars.len() as f64,
        force_error,
        worst_force_error: worst,
        energy_drift,
        momentum,
        digest: numbers.fold(0, |so_far, number| digest(so_far, number.to_bits())),
    })
}

/// The errors of forces, as a part of the mean force: in the mean square, and the worst.
fn force_errors<P: Platform>(barnes: &Barnes<P>, stars: &[Star]) -> (f64, f64) {
    let softening_squared = barnes.parameters.softening * barnes.parameters.softening;
    let (mut errors, mut worst, mut forces, mut compared) = (0.0, 0f64, 0.0, 0.0);
    for number in (0..stars.len()).step_by(stars.len().div_ceil(COMPARED)) {
        let mut wanted = [0.0; 3];
        for star in stars {
            let towards = minus(star.position, stars[number].position);
            let distance_squared = squared(towards) + softening_squared;
            let factor = star.mass / (distance_squared * distance_squared.sqrt());
            wanted = core::array::from_fn(|axis| wanted[axis] + factor * towards[axis]);
        }
        let error = squared(minus(vector(&barnes.bodies[number].acceleration), wanted));
        errors += error;
        worst = worst.max(error);
        forces += squared(wanted);
        compared += 1.0;
    }
    ((errors / forces).sqrt(), (worst * compared / forces).sqrt())
}

fn energy(stars: &[Star], softening: f64) -> f64 {
    let mut energy = 0.0;
    for (number, star) in stars.iter().enumerate() {
        energy += 0.5 * star.mass * squared(star.velocity);
        for other in &stars[..number] {
            let distance_squared =
                squared(minus(star.position, other.position)) + softening * softening;
            energy -= star.mass * other.mass / distance_squared.sqrt();
        }
    }
    energy
}

fn momentum(stars: &[Star]) -> f64 {
    let sum = |axis: usize| stars.iter().map(|star| star.mass * star.velocity[axis]).sum();
    let one_way: f64 = stars.iter().map(|star| star.mass * squared(star.velocity).sqrt()).sum();
    squared(core::array::from_fn(sum)).sqrt() / one_way
}

#[cfg(test)]
mod tests {
    use kilocore_platform::Native;

    use super::*;
    use crate::numa_programs::barnes::Parameters;
    use crate::numa_programs::run::Algorithm;

    fn after(parameters: Parameters) -> Barnes<Native> {
        let barnes = Barnes::new(parameters, 1, 1);
        barnes.thread(0);
        check(&barnes).unwrap();
        barnes
    }

    #[test]
    fn a_force_that_is_wrong_is_noticed() {
        let barnes = after(Parameters::SMALL);
        let force = &barnes.bodies[17].acceleration;
        set(force, vector(force).map(|x| -x));
        let wrong = check(&barnes).unwrap_err();
        assert!(wrong.to_string().starts_with("the error of"), "{wrong}");
    }

    fn set(words: &[crate::numa_programs::word::Word<Native, f64>; 3], values: Vector) {
        crate::numa_programs::word::set_vector(words, values);
    }

    #[test]
    fn energy_that_was_lost_is_noticed() {
        let barnes = after(Parameters::SMALL);
        for body in &*barnes.bodies {
            set(&body.velocity, vector(&body.velocity).map(|x| 0.95 * x));
        }
        assert!(check(&barnes).is_err());
    }

    #[test]
    fn momentum_from_nowhere_is_noticed() {
        let barnes = after(Parameters::SMALL);
        for body in &*barnes.bodies {
            body.velocity[0].add(0.02);
        }
        assert!(check(&barnes).is_err());
    }

    #[test]
    fn cells_that_are_seldom_taken_for_points_give_better_forces() {
        let fine = Barnes::<Native>::new(Parameters { theta: 0.3, ..Parameters::SMALL }, 1, 1);
        fine.thread(0);
        let fine = check(&fine).unwrap();
        assert!(fine.force_error < 0.3 * check(&after(Parameters::SMALL)).unwrap().force_error);
    }
}
