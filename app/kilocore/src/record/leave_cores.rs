//! Leaving cores to a program that runs on while its forecast is made.
//!
//! The forecast takes as many cores as had nothing to do while the program was watched. If that is not one core,
//! it takes those that there are at the lowest priority, so that the program goes first.

use std::time::{Duration, Instant};

use kilocore_linux::CoreTimes;
use kilocore_process::{CpuId, allowed_cores, confine};

/// What the cores' time went to before the program was watched.
#[derive(Debug)]
pub(crate) struct BeforeWatching {
    times: CoreTimes,
    at: Instant,
}

impl BeforeWatching {
    pub(crate) fn look() -> Self {
        Self { times: CoreTimes::now(), at: Instant::now() }
    }

    /// Leaves the program the cores that it has used since.
    pub(crate) fn give_way(&self) {
        let (now, watched) = (CoreTimes::now(), self.at.elapsed());
        let idle = |core: CpuId| {
            let since = now.of_since(&[core], &self.times).unwrap_or_default();
            (core, since.idle)
        };
        let idle: Vec<(CpuId, Duration)> = allowed_cores().into_iter().map(idle).collect();
        let free = free(idle, watched);
        if free.is_empty() || confine(&free).is_err() {
            // SAFETY: integers only. A refusal, which there is no reason for, does no harm.
            unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, 19) };
        }
    }
}

/// A core counts as one that has nothing to do if it lacks no more than this: the watching itself takes some time.
const NEARLY: f64 = 0.25;

/// As many cores as were idle on average, those first that were idle for longest.
fn free(mut idle: Vec<(CpuId, Duration)>, watched: Duration) -> Vec<CpuId> {
    let all: Duration = idle.iter().map(|(_, idle)| idle).sum();
    let cores = all.as_secs_f64() / watched.as_secs_f64() + NEARLY;
    idle.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    idle.into_iter().map(|(core, _)| core).take(cores as usize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The free ones of cores 0, 1, … that were idle for so many milliseconds of a second.
    fn of(idle: &[u64]) -> Vec<u32> {
        let idle = (0..).map(CpuId).zip(idle.iter().copied().map(Duration::from_millis));
        free(idle.collect(), Duration::from_secs(1)).into_iter().map(|core| core.0).collect()
    }

    #[test]
    fn as_many_cores_are_taken_as_were_idle() {
        assert_eq!(of(&[980, 30, 990, 20]), [2, 0]);
        assert_eq!(of(&[1_000, 990]), [0, 1]);
        // A server that keeps no core for itself, half of the time on each.
        assert_eq!(of(&[500, 510, 490, 500]), [1, 0]);
    }

    #[test]
    fn where_no_core_is_idle_none_is_taken() {
        assert!(of(&[300, 200, 0]).is_empty());
        assert!(of(&[]).is_empty());
        assert!(free(vec![(CpuId(0), Duration::ZERO)], Duration::ZERO).is_empty());
    }
}
