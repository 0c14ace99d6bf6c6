//! How much is simulated for a point, and what can keep it from that.

use kilocore_machine::Description;
use kilocore_sim::{Options, SimError, Simulation};
use thiserror::Error;

/// How much of a workload is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunSize {
    /// Threads; as many as cores if not given.
    pub threads: Option<u32>,
    /// Outermost sections that are counted, after a quarter as many that are not.
    pub sections: u64,
    /// Seeds all chance.
    pub seed: u64,
    /// Whether threads that wait long offer their cores to others, as Kilocore's locks do and most
    /// other implementations do not.
    pub waiters_yield: bool,
    /// Time slices of each thread that a point with more threads than cores lasts, at the least.
    pub slices: u32,
}

impl Default for RunSize {
    fn default() -> Self {
        Self { threads: None, sections: 16_000, seed: 1, waiters_yield: true, slices: 10 }
    }
}

/// Why a point could not be simulated.
#[derive(Debug, Error)]
pub enum PointError {
    /// The simulation could not be set up or did not end.
    #[error(transparent)]
    Simulation(#[from] SimError),
    /// The threads asked for are none, or too many for the host's memory.
    #[error("cannot simulate {0} threads (choose 1 to 8192)")]
    Threads(u32),
}

/// The largest number of threads: each takes a stack on the host.
const MOST_THREADS: u32 = 8192;

/// How many threads a point has, and the machine that they run on.
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
