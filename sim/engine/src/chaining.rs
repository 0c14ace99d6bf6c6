//! What happens to tasks, told to their [chains](crate::chain), if there are any.

use kilocore_platform::Cycles;

use crate::chain::{Chain, Place, Stop, Waits};
use crate::engine::Engine;
use crate::ids::{CoreId, TaskId};

impl Engine {
    /// A task has been made: by the one that runs, or it is the first.
    pub(crate) fn chain_begins(&mut self, task: TaskId) {
        let by = self.cores[self.current].task;
        let now = self.now();
        let Some(chains) = &mut self.chains else { return };
        chains.know(task, now);
        if let Some(by) = by {
            chains.refine(by, &self.tasks[by].times);
            chains.end_wait(task, Waits::Made, by, now, &self.tasks[by].times);
        }
    }

    /// The running task stops, of its own accord.
    #[inline]
    pub(crate) fn chain_waits(&mut self, task: TaskId, why: Stop, at: Cycles) {
        if let Some(chains) = &mut self.chains {
            chains.refine(task, &self.tasks[task].times);
            chains.stop(task, why, at, &self.tasks[task].times);
        }
    }

    /// A task that ran stops.
    #[inline]
    pub(crate) fn chain_stops(&mut self, task: TaskId, why: Stop, at: Cycles) {
        if let Some(chains) = &mut self.chains {
            chains.stop(task, why, at, &self.tasks[task].times);
        }
    }

    /// A task that does not run wants a core.
    #[inline]
    pub(crate) fn chain_wants_core(&mut self, task: TaskId, at: Cycles) {
        if let Some(chains) = &mut self.chains {
            chains.ready(task, at);
        }
    }

    /// A task runs from now on.
    #[inline]
    pub(crate) fn chain_runs(&mut self, task: TaskId, at: Cycles) {
        if let Some(chains) = &mut self.chains {
            chains.run(task, at, &self.tasks[task].times);
        }
    }

    /// The running task has ended the wait of another one.
    #[inline]
    pub(crate) fn chain_ends_wait(&mut self, task: TaskId, how: Waits) {
        let now = self.now();
        let by = self.cores[self.current].task;
        if let Some(chains) = &mut self.chains
            && let Some(by) = by
        {
            chains.refine(by, &self.tasks[by].times);
            chains.end_wait(task, how, by, now, &self.tasks[by].times);
        }
    }

    /// A task goes on although nobody has ended its wait.
    #[inline]
    pub(crate) fn chain_goes_on_by_itself(&mut self, task: TaskId) {
        if let Some(chains) = &mut self.chains {
            chains.forget_end(task);
        }
    }

    /// A task has left a core, and another one takes it.
    #[inline]
    pub(crate) fn chain_passes_core(&mut self, core: CoreId, from: Option<TaskId>, to: TaskId) {
        if let Some(chains) = &mut self.chains
            && let Some(from) = from
        {
            chains.pass_core(to, from, self.cores[core].time, &self.tasks[from].times);
        }
    }

    /// A task has ended.
    #[inline]
    pub(crate) fn chain_ends(&mut self, task: TaskId) {
        if let Some(chains) = &mut self.chains {
            chains.end(task);
        }
    }

    /// The running task is at a place from now on.
    #[inline]
    pub(crate) fn chain_is_at(&mut self, place: Place) {
        let task = self.running_task();
        if let Some(chains) = &mut self.chains {
            chains.tell(task, place, &self.tasks[task].times);
        }
    }

    /// The running task computes at a place: a sample.
    #[inline]
    pub(crate) fn chain_samples(&mut self, place: Place) {
        let task = self.running_task();
        if let Some(chains) = &mut self.chains {
            chains.sample(task, place);
        }
    }

    /// All chains begin now.
    pub(crate) fn chains_begin_anew(&mut self) {
        let now = self.now();
        if let Some(chains) = &mut self.chains {
            chains.begin_anew(now, |task| self.tasks[task].times);
        }
    }

    /// The chain that bounds what the running task has done.
    pub(crate) fn chain(&self) -> Option<Chain> {
        let task = self.running_task();
        let chains = self.chains.as_ref()?;
        Some(chains.of(task, self.now(), &self.tasks[task].times))
    }
}
