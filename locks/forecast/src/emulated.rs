//! What a program did where it was itself executed on the machine of a forecast.

use kilocore_figures::Provenance;
use serde::Serialize;

/// The program's own runs on the simulated machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EmulatedThere {
    /// Always `emulated`.
    pub provenance: Provenance,
    /// How many cycles an instruction was taken to need.
    pub cycles_per_instruction: f64,
    /// Whether that was measured, of this program on this host, and not assumed.
    pub is_timed: bool,
    /// The runs: of the program as it is, and under the recommended locks.
    pub points: Vec<EmulatedPoint>,
    /// Whether the forecast is near all of them, or `None` if it has none of them.
    pub agrees: Option<bool>,
}

/// A run on a number of cores.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EmulatedPoint {
    /// The lock in the place of its mutexes, or `None` for its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock: Option<&'static str>,
    /// The lock in the place of its read-write locks, or `None` for its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rwlock: Option<&'static str>,
    /// The number of cores.
    pub cores: u32,
    /// The fewest cores on which it ran.
    pub fewest: u32,
    /// How many times as fast as with its own locks on the fewest cores.
    pub speedup: f64,
    /// The least and the most of runs that differ by nothing but chance, if chance decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_chance: Option<[f64; 2]>,
    /// The speedup in the forecast.
    pub forecast: Option<f64>,
}

impl EmulatedPoint {
    /// Whether it is of the program with its own locks.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.lock.is_none() && self.rwlock.is_none()
    }

    /// The least and the greatest speedup that were seen.
    pub(crate) fn speedups(&self) -> [f64; 2] {
        self.by_chance.unwrap_or([self.speedup; 2])
    }
}

impl Default for EmulatedThere {
    fn default() -> Self {
        let provenance = Provenance::Emulated;
        Self {
            provenance,
            cycles_per_instruction: 1.0,
            is_timed: false,
            points: Vec::new(),
            agrees: None,
        }
    }
}
