//! How the engine calls whoever waits for a [time](crate::due).

use kilocore_platform::Cycles;

use crate::agenda::Event;
use crate::due::{Answer, Call};
use crate::engine::Engine;
use crate::state::TaskState;

impl Engine {
    /// Calls this at times that are [planned](Self::call_at).
    pub(crate) fn when_due(&mut self, call: Call) {
        self.due.call = Some(call);
    }

    /// Plans such a time.
    pub(crate) fn call_at(&mut self, time: Cycles) {
        self.agenda.plan(time.max(self.now()), Event::Due);
    }

    /// A task wants a core.
    pub(crate) fn call_what_waits(&mut self, time: Cycles) {
        if let Some(waits) = self.due.waits.take() {
            self.agenda.plan(time.max(waits), Event::Due);
        }
    }

    pub(crate) fn time_is_due(&mut self, time: Cycles) {
        let nobody_runs = self.cores.enumerate().all(|(_, core)| core.task.is_none());
        let Some(call) = &mut self.due.call else { return };
        let Answer { interrupts, next, waits } = call(time, nobody_runs);
        if waits {
            self.due.waits = Some(time);
        }
        if let Some(next) = next {
            self.agenda.plan(next.max(time), Event::Due);
        }
        if let Some(task) = interrupts
            && self.tasks[task].state == TaskState::Asleep
        {
            // As if its time were up.
            self.tasks[task].epoch.advance();
            let epoch = self.tasks[task].epoch;
            self.end_sleep(task, epoch, time, true);
        }
    }
}
