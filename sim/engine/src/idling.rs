//! Cores that their last thread has left, and what it takes to wake a thread there.
//!
//! A core does not become idle at once. What it does until then decides what a wake costs, as in Linux:
//! * **The thread leaves it**, which takes half of a switch. Who wakes a thread of this core meanwhile interrupts the core,
//!   which takes notice when it is idle.
//! * **It goes idle**: it stops its timer, for example, which is dear where a hypervisor intercepts that. It looks for
//!   work once more before it halts. So who wakes a thread meanwhile sends no interrupt, and pays a futex call. But all
//!   that was done has to be undone before the thread runs.
//! * **It is idle.** An interrupt ends that, and after a while in which the core went to a deeper state, this takes longer.
//!
//! A machine file without `os.idle_entry_ns` has cores that are idle at once.

use kilocore_platform::Cycles;

use crate::engine::Engine;
use crate::ids::{CoreId, TaskId};

/// What a core does that its last thread has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Idling {
    Leaving,
    Going,
    Idle,
}

impl Engine {
    /// Prepares the wake of a task that sleeps. Returns what it costs the running task.
    pub(crate) fn prepare_wake(&mut self, task: TaskId) -> Cycles {
        let (core, now) = (self.home_of(task), self.now());
        let since = self.cores[core].time;
        let entered = since + self.costs.idle_entry;
        let (cost, runs_at) = match self.idling(core, now) {
            Idling::Leaving => (self.costs.wake, Some(entered + self.costs.wake_latency)),
            Idling::Going => (self.costs.futex_call, Some(entered + self.costs.idle_return)),
            Idling::Idle => (self.costs.wake, None),
        };
        self.tasks[task].runs_at = runs_at;
        cost
    }

    /// What a core does at a moment. One that has a task counts as idle: it goes on when it has not.
    fn idling(&self, core: CoreId, now: Cycles) -> Idling {
        let slot = &self.cores[core];
        let since = now.since(slot.time);
        if slot.task.is_some() || since >= self.costs.idle_entry {
            Idling::Idle
        } else if since < Cycles(self.costs.context_switch.0 / 2) {
            Idling::Leaving
        } else {
            Idling::Going
        }
    }

    /// Moves an idle core's clock on to `time`, for a task that was woken there. Returns how long the core takes to wake.
    pub(crate) fn wake_core(&mut self, core: CoreId, time: Cycles, task: TaskId) -> Cycles {
        let runs_at = self.tasks[task].runs_at.take();
        let slot = &mut self.cores[core];
        let idle = time.since(slot.time);
        slot.time = slot.time.max(time);
        let mean = match runs_at.filter(|_| self.tasks[task].core == core) {
            Some(at) => at.since(time),
            None if idle > self.costs.deep_idle_after => {
                self.costs.wake_latency + self.costs.deep_idle_exit
            }
            None => self.costs.wake_latency,
        };
        self.noise.as_deref_mut().map_or(mean, |noise| noise.wake(mean))
    }
}
