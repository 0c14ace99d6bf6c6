//! Times that somebody waits for who is no task, such as a timer.

use std::fmt;

use kilocore_platform::Cycles;

use crate::ids::TaskId;

/// What is called when a time has come, and with whether no task has a core then. It must not call the simulator.
pub(crate) type Call = Box<dyn FnMut(Cycles, bool) -> Answer + Send>;

/// What is to happen at a time that has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Answer {
    /// A task that sleeps no longer, if it does.
    pub interrupts: Option<TaskId>,
    /// The next time to call at.
    pub next: Option<Cycles>,
    /// Whether the time has not come in truth, as nobody ran: it is called again at that time when a task wants a core.
    pub waits: bool,
}

/// What happens at such times.
#[derive(Default)]
pub(crate) struct Due {
    pub(crate) call: Option<Call>,
    /// A time that has come, at which it is called again when a task wants a core.
    pub(crate) waits: Option<Cycles>,
}

impl fmt::Debug for Due {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Due").field("waits", &self.waits).finish_non_exhaustive()
    }
}
