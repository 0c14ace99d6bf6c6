//! How much is simulated for a point, and the errors that prevent it.

use kilocore_machine::Description;
use kilocore_points::Elsewhere;
use kilocore_sim::{Options, SimError, Simulation};
use thiserror::Error;

/// How much of a workload is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunSize {
    /// Number of threads. If `None`, there are as many threads as cores.
    pub threads: Option<u32>,
    /// Outermost sections that are counted. A quarter as many come before them and are not counted.
    pub sections: u64,
    /// The seed of all random numbers.
    pub seed: u64,
    /// Whether threads that wait for long yield their cores to other threads. Kilocore's locks do
    /// so; most other implementations do not.
    pub waiters_yield: bool,
    /// The least number of time slices for each thread in a point with more threads than cores.
    pub slices: u32,
    /// If not `None`, a point with a core for each thread whose simulation is dear ends once it has
    /// this many sections, those that are not counted included. Dear is what takes many steps of the simulator,
    /// some tenth of a second of a host's time: waiters that write while they wait, on many cores.
    pub sections_if_dear: Option<u64>,
}

impl Default for RunSize {
    fn default() -> Self {
        Self {
            threads: None,
            sections: 16_000,
            seed: 1,
            waiters_yield: true,
            slices: 10,
            sections_if_dear: None,
        }
    }
}

/// Why a point could not be simulated.
#[derive(Debug, Error)]
pub enum PointError {
    /// The simulation could not be set up or did not end.
    #[error(transparent)]
    Simulation(#[from] SimError),
    /// The number of threads is zero, or too large for the host's memory.
    #[error("cannot simulate {0} threads (choose 1 to 8192)")]
    Threads(u32),
    /// The point is simulated by another process.
    #[error(transparent)]
    Elsewhere(#[from] Elsewhere),
}

/// The largest number of threads. Each thread takes a stack on the host.
const MOST_THREADS: u32 = 8192;

/// Returns how many threads a point has and the machine on which they run.
pub(crate) fn set_up(
    machine: &Description,
    cores: u32,
    size: RunSize,
) -> Result<(u32, Simulation), PointError> {
    let threads = size.threads.unwrap_or(cores);
    if threads == 0 || threads > MOST_THREADS {
        return Err(PointError::Threads(threads));
    }
    let mut simulation = Simulation::new(machine, Options { cores, seed: size.seed })?;
    if !size.waiters_yield {
        simulation.keep_waiters_on_cores();
    }
    Ok((threads, simulation))
}
