//! What others take of a program's cores while it runs.

use std::time::Duration;

use kilocore_figures::Nanoseconds;
use kilocore_linux::{CoreTimes, processor_time};
use kilocore_lock_profile::Interference;
use kilocore_process::CpuId;

/// What the cores' time went to before a run.
#[derive(Debug, Clone)]
pub(crate) struct Before {
    cores: Vec<CpuId>,
    times: CoreTimes,
    /// The processor time of this process, which watches the program.
    own: Duration,
}

impl Before {
    /// Looks at these cores.
    pub(crate) fn look(cores: &[CpuId]) -> Self {
        Self { cores: cores.to_vec(), times: CoreTimes::now(), own: own_time() }
    }

    /// What others took since, if the program has used so much processor time. A descendant that nobody
    /// has waited for is one of the others.
    pub(crate) fn since(&self, program: Duration) -> Option<Interference> {
        let all = CoreTimes::now().of_since(&self.cores, &self.times)?;
        let own = own_time().saturating_sub(self.own);
        let others = all.busy.saturating_sub(program).saturating_sub(own);
        Some(Interference {
            others: Nanoseconds::from(others).calculated(),
            stolen: Nanoseconds::from(all.stolen).calculated(),
        })
    }
}

fn own_time() -> Duration {
    processor_time(std::process::id()).unwrap_or_default()
}
