//! What happens to particles, other than among themselves.

/// The components of a particle's motion: three of its velocity and two of its rotation.
pub(super) const MOTIONS: usize = 5;

pub(super) type Motion = [f32; MOTIONS];

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
    /// What all particles with those motions have.
    pub(super) fn of_all(motions: impl Iterator<Item = Motion>) -> Self {
        let mut ledger = Self::default();
        for motion in motions {
            ledger.change([0.0; MOTIONS], motion);
        }
        ledger
    }

    /// Books the change of a particle's motion.
    #[inline(always)]
    pub(super) fn change(&mut self, before: Motion, after: Motion) {
        for axis in 0..3 {
            self.momentum[axis] += f64::from(after[axis]) - f64::from(before[axis]);
        }
        self.energy += energy(after) - energy(before);
    }
}

fn energy(motion: Motion) -> f64 {
    0.5 * motion.iter().map(|&m| f64::from(m) * f64::from(m)).sum::<f64>()
}
