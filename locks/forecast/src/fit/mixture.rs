//! Mixtures of phases: the workloads that are weighed.

use crate::fit::background::Background;

/// How a program's time on one core is divided between its phases.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mixture {
    /// What the program does that no lock can mend.
    pub(crate) background: Background,
    /// The share of the background.
    pub(crate) background_share: f64,
    /// The share of work that all cores divide among them.
    pub(crate) parallel_share: f64,
}

impl Mixture {
    /// The share of the lock phase.
    #[must_use]
    pub(crate) fn lock_share(&self) -> f64 {
        1.0 - self.background_share - self.parallel_share
    }
}

/// Shares of the background, with their weight before anything is measured. Large shares weigh
/// little, because programs that people run on many cores do not spend most of their time in serial
/// code.
const BACKGROUND_SHARES: [(f64, f64); 9] = [
    (0.002, 1.0),
    (0.005, 1.0),
    (0.01, 1.0),
    (0.02, 1.0),
    (0.05, 1.0),
    (0.1, 0.5),
    (0.2, 0.25),
    (0.4, 0.25),
    (0.8, 0.1),
];

/// Shares of parallel work in the time that the background leaves.
const PARALLEL_SHARES: [f64; 9] = [0.0, 0.3, 0.6, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995];

/// All mixtures, each with its weight before anything is measured.
pub(crate) fn all() -> Vec<(Mixture, f64)> {
    let kinds = Background::ALL.len() as f64;
    let mut mixtures = Vec::new();
    for parallel in PARALLEL_SHARES {
        let none = Background::ALL[0];
        mixtures.push((mixture(none, 0.0, parallel), 1.0));
        for &background in Background::ALL {
            for (share, weight) in BACKGROUND_SHARES {
                let share = share * background.smallness();
                mixtures.push((mixture(background, share, parallel), weight / kinds));
            }
        }
    }
    mixtures
}

fn mixture(background: Background, background_share: f64, parallel: f64) -> Mixture {
    Mixture { background, background_share, parallel_share: (1.0 - background_share) * parallel }
}
