//! The bodies at the beginning: a model of Plummer's for a cluster of stars.
//!
//! In Plummer's model (1911) the mass within radius r is s³, where s is r over the root of 1 + r².
//! The largest of three uniform numbers is distributed as s. Speeds are drawn by rejection (Aarseth,
//! Hénon and Wielen, 1974). Apart from square roots, this takes nothing that differs from one C
//! library to the next.

use core::f64::consts::PI;

use super::vector::Vector;
use crate::numa_programs::random::Random;

/// A body at the beginning.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start {
    pub(super) mass: f64,
    pub(super) position: Vector,
    pub(super) velocity: Vector,
}

/// How far out bodies may be, in radii of the model.
const FARTHEST: f64 = 9.0;

/// The bodies of a seed, whose centre rests at the origin.
pub(super) fn bodies(count: usize, seed: u64) -> Vec<Start> {
    let mut random = Random::new(seed, 0);
    let mut bodies: Vec<Start> = (0..count).map(|_| body(&mut random, count)).collect();
    for axis in 0..3 {
        let share = |sum: f64| sum / count as f64;
        let centre = share(bodies.iter().map(|body| body.position[axis]).sum());
        let drift = share(bodies.iter().map(|body| body.velocity[axis]).sum());
        for body in &mut bodies {
            body.position[axis] -= centre;
            body.velocity[axis] -= drift;
        }
    }
    bodies
}

fn body(random: &mut Random, count: usize) -> Start {
    // From the model's units to those in which the energy is -1/4.
    let length = 3.0 * PI / 16.0;
    let radius = loop {
        let s = random.uniform().max(random.uniform()).max(random.uniform());
        let radius = s / (1.0 - s * s).sqrt();
        if radius < FARTHEST {
            break radius;
        }
    };
    let escape = core::f64::consts::SQRT_2 / (1.0 + radius * radius).sqrt().sqrt();
    let speed = escape * part_of_escape(random);
    Start {
        mass: 1.0 / count as f64,
        position: direction(random).map(|x| x * radius * length),
        velocity: direction(random).map(|x| x * speed / length.sqrt()),
    }
}

/// The speed as a part of that of escape, x, of density x² times (1 - x²) to the power of 7/2.
fn part_of_escape(random: &mut Random) -> f64 {
    loop {
        let (part, height) = (random.uniform(), 0.1 * random.uniform());
        let rest = 1.0 - part * part;
        if height < part * part * rest * rest * rest * rest.sqrt() {
            return part;
        }
    }
}

fn direction(random: &mut Random) -> Vector {
    loop {
        let place: Vector = core::array::from_fn(|_| 2.0 * random.uniform() - 1.0);
        let squared: f64 = place.iter().map(|x| x * x).sum();
        if squared > 0.001 && squared < 1.0 {
            return place.map(|x| x / squared.sqrt());
        }
    }
}
