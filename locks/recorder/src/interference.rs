//! What others take of a program's cores while it runs, and what becomes of these cores.

use std::time::Duration;

use kilocore_figures::Nanoseconds;
use kilocore_linux::{CoreTimes, processor_time};
use kilocore_lock_profile::Interference;
use kilocore_process::{CpuId, allowed_cores};

use crate::load::LoadSampler;

/// What the cores' time went to before a run.
#[derive(Debug)]
pub(crate) struct Before {
    cores: Vec<CpuId>,
    /// How many of them this process may not use anyway, as a program may that runs already.
    not_ours: u32,
    times: CoreTimes,
    /// The processor time of this process, which watches the program.
    own: Duration,
    load: LoadSampler,
}

/// What was not the program's doing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Surroundings {
    /// What others took of the cores.
    pub(crate) interference: Option<Interference>,
    /// How many of the cores are not there any more, or may not be used any more.
    pub(crate) cores_lost: u32,
}

impl Before {
    /// Looks at these cores.
    pub(crate) fn look(cores: &[CpuId]) -> Self {
        Self {
            cores: cores.to_vec(),
            not_ours: lost(cores, &allowed_cores()),
            times: CoreTimes::now(),
            own: own_time(),
            load: LoadSampler::start(),
        }
    }

    /// What there was since, if the program has used so much processor time. A descendant that nobody
    /// has waited for is one of the others.
    pub(crate) fn since(self, program: Duration) -> Surroundings {
        let load = self.load.finish();
        let all = CoreTimes::now().of_since(&self.cores, &self.times);
        let interference = all.map(|all| {
            let own = own_time().saturating_sub(self.own);
            let others = all.busy.saturating_sub(program).saturating_sub(own);
            Interference {
                others: Nanoseconds::from(others).calculated(),
                stolen: Nanoseconds::from(all.stolen).calculated(),
                load,
            }
        });
        let cores_lost = lost(&self.cores, &allowed_cores()).saturating_sub(self.not_ours);
        Surroundings { interference, cores_lost }
    }
}

/// How many of the cores are no longer among those that are allowed. The kernel takes a core that is turned
/// off, or that a set of cores no longer has, from every process that may not use it: from this one, too.
fn lost(before: &[CpuId], now: &[CpuId]) -> u32 {
    before.iter().filter(|core| !now.contains(core)).count() as u32
}

fn own_time() -> Duration {
    processor_time(std::process::id()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use kilocore_process::confine;

    use super::*;

    #[test]
    fn cores_that_are_taken_meanwhile_are_counted() {
        let all = allowed_cores();
        assert_eq!(Before::look(&all).since(Duration::ZERO).cores_lost, 0);
        let before = Before::look(&all);
        // Of this test's thread alone.
        confine(&all[..1]).expect("it may use that one");
        let lost = before.since(Duration::ZERO).cores_lost;
        confine(&all).expect("and all of them again");
        assert_eq!(lost as usize, all.len() - 1);
    }
}
