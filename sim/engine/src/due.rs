//! Times that somebody waits for who is no task, such as a timer.

use std::fmt;

use kilocore_platform::Cycles;

use crate::agenda::Event;
use crate::engine::Engine;
use crate::ids::TaskId;
use crate::state::TaskState;

/// What is called when a time has come. It must not call the simulator.
type Call = Box<dyn FnMut(Cycles) -> Answer + Send>;

/// What is to happen at a time that has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Answer {
    /// A task that sleeps no longer, if it does.
    pub interrupts: Option<TaskId>,
    /// The next time to call at.
    pub next: Option<Cycles>,
}

/// What happens at such times.
#[derive(Default)]
pub(crate) struct Due(Option<Call>);

impl fmt::Debug for Due {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Due").field(&self.0.is_some()).finish()
    }
}

impl Engine {
    /// Calls this at times that are [planned](Self::call_at).
    pub(crate) fn when_due(&mut self, call: Call) {
        self.due = Due(Some(call));
    }

    /// Plans such a time.
    pub(crate) fn call_at(&mut self, time: Cycles) {
        self.agenda.plan(time.max(self.now()), Event::Due);
    }

    pub(crate) fn time_is_due(&mut self, time: Cycles) {
        let Some(call) = &mut self.due.0 else { return };
        let Answer { interrupts, next } = call(time);
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
