//! What a task pays for an access to memory, on the clock of its core.

use kilocore_platform::Cycles;

use crate::coherence::Access;
use crate::engine::Engine;
use crate::ids::LineId;
use crate::outcome::Activity;
use crate::referring::TooEarly;

/// An access that has to wait for its turn.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Turn {
    /// It is one to a line that others may have.
    Line(LineId),
    /// It is one on a machine without caches.
    Reference(TooEarly),
}

impl Engine {
    /// Whether it is the kernel that spins, when the running task does, and not the program.
    pub(crate) fn spins_in_kernel(&mut self, does: bool) {
        let task = self.running_task();
        self.tasks[task].spins_in_kernel = does;
    }

    /// What the running task does when it spins.
    pub(crate) fn spinning(&self) -> Activity {
        match self.tasks[self.running_task()].spins_in_kernel {
            true => Activity::System,
            false => Activity::Spinning,
        }
    }

    /// Charges for an access that nobody else can notice, if it is one and may happen now. Returns
    /// what the access has to wait for if it is not.
    #[inline]
    pub(crate) fn access_privately(&mut self, address: usize, access: Access) -> Option<Turn> {
        if let Some(referred) = self.refer(address, access) {
            return referred.err().map(Turn::Reference);
        }
        self.operations += 1;
        let core = &mut self.cores[self.current];
        let line = self.memory.line_at(address, self.costs.line_shift, core.place.node);
        // Another core's request needs at least the lookahead to get here, so that it cannot
        // have been served before.
        let soon_enough = core.time <= self.agenda.horizon().saturating_add(self.costs.lookahead);
        if !soon_enough || !self.memory.hits(line, core.place.cache, access) {
            return Some(Turn::Line(line));
        }
        let cost = match access {
            Access::Read | Access::Write => self.costs.hit,
            Access::Rmw => self.costs.rmw + core.stores_done.since(core.time),
        };
        // As `pass` does, but without looking the core up once more: this is where most accesses go.
        core.time += cost;
        let task = core.task.expect("a fiber runs on a core");
        self.tasks[task].times.add(Activity::Working, cost);
        None
    }

    /// Charges for an access, at the current core's time.
    pub(crate) fn access(&mut self, line: LineId, access: Access) {
        if self.memory.uncached.is_some() {
            // Only the kernel's own words get here.
            return self.pass(Activity::Working, self.costs.rmw);
        }
        let cost = match access {
            Access::Rmw => self.costs.rmw,
            Access::Read | Access::Write => self.costs.hit,
        };
        self.access_at(line, access, cost);
    }

    /// Charges for an access that takes a core so long once it has the line.
    pub(crate) fn access_at(&mut self, line: LineId, access: Access, cost: Cycles) {
        let core = self.current_core();
        let (now, cache) = (core.time, core.place.cache);
        // An atomic operation waits until the core's earlier stores are done.
        let issue = match access {
            Access::Rmw => now.max(core.stores_done),
            Access::Read | Access::Write => now,
        };
        let done = if self.memory.hits(line, cache, access) {
            issue
        } else {
            self.memory.serve(&self.costs, line, cache, access, issue)
        };
        if access == Access::Write {
            // The store leaves the core at once and takes effect when the line has come.
            let core = &mut self.cores[self.current];
            core.stores_done = core.stores_done.max(done);
        } else {
            self.pass(Activity::Stalled, done - now);
        }
        self.pass(Activity::Working, cost);
        if access != Access::Read && self.memory.is_watched(line) {
            self.alert_watchers(line, done);
        }
    }
}
