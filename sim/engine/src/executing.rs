//! How a task pays for phases that it executes, on the clock of its core.

use crate::occupancy::{Executed, Phase};
use kilocore_platform::Cycles;

use crate::costs::LONGEST_STEP;
use crate::engine::Engine;
use crate::execution::Execution;
use crate::ids::CoreId;
use crate::outcome::Activity;

impl Engine {
    /// The running task does some instructions of a phase.
    pub(crate) fn execute(&mut self, phase: &Phase, instructions: f64) -> Executed {
        let (core, task) = (self.current, self.running_task());
        let execution = self.steering.as_mut().and_then(|steering| steering.execution.as_mut());
        let execution = execution.expect("a simulation whose caches are shared by phases");
        let done = execution.execute(core, task, phase, instructions);
        let working = (phase.cpi * instructions).min(done.cycles);
        self.work(cycles(working));
        self.pass(Activity::Stalled, cycles(done.cycles - working));
        done
    }

    pub(crate) fn execution(&self) -> Option<&Execution> {
        self.steering.as_ref().and_then(|steering| steering.execution.as_ref())
    }

    /// The task of a core leaves it.
    #[inline]
    pub(crate) fn stop_executing(&mut self, core: CoreId) {
        if let Some(steering) = &mut self.steering
            && let Some(execution) = &mut steering.execution
        {
            execution.stop(core);
        }
    }
}

fn cycles(many: f64) -> Cycles {
    Cycles(many.round() as u64).min(LONGEST_STEP)
}
