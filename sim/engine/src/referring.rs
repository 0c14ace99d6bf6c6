//! What a task pays for a reference on a machine without caches.

use kilocore_platform::Cycles;

use crate::coherence::Access;
use crate::engine::Engine;
use crate::ids::{CoreId, LineId};
use crate::outcome::Activity;
use crate::uncached::{ReferenceKind, WORD_SHIFT};

fn kind_of(access: Access) -> ReferenceKind {
    match access {
        Access::Read => ReferenceKind::Read,
        Access::Write => ReferenceKind::Write,
        Access::Rmw => ReferenceKind::ReadModifyWrite,
    }
}

/// A reference that has to wait until all that is earlier has happened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TooEarly;

impl Engine {
    /// Lets the current core refer to memory, if the machine has no caches.
    ///
    /// # Errors
    /// [`TooEarly`] if others have to have their turn first.
    #[inline]
    pub(crate) fn refer(&mut self, address: usize, access: Access) -> Option<Result<(), TooEarly>> {
        let uncached = self.memory.uncached.as_mut()?;
        let core = &mut self.cores[self.current];
        if core.time > self.agenda.horizon().saturating_add(uncached.lookahead) {
            return Some(Err(TooEarly));
        }
        self.operations += 1;
        let waits = uncached.refer(self.current, address, kind_of(access), core.time);
        core.time += waits;
        let task = core.task.expect("a fiber runs on a core");
        self.tasks[task].times.add(Activity::Stalled, waits);
        if access != Access::Read && !uncached.watched.is_empty() {
            self.alert_watchers_of_word(address);
        }
        Some(Ok(()))
    }

    /// Lets a waiter refer to the word that it watches. Returns when it has read it, or `None` if the
    /// machine has caches.
    pub(crate) fn refer_again(&mut self, line: LineId, core: CoreId, at: Cycles) -> Option<Cycles> {
        let uncached = self.memory.uncached.as_mut()?;
        let address = uncached.watched.get(&line).copied()?;
        Some(at + uncached.refer(core, address, ReferenceKind::Read, at))
    }

    /// Remembers that a word is watched, if the machine has no caches.
    pub(crate) fn note_watched(&mut self, line: LineId, address: usize) {
        if let Some(uncached) = &mut self.memory.uncached {
            uncached.watched.insert(line, address);
        }
    }

    fn alert_watchers_of_word(&mut self, address: usize) {
        let Some(line) = self.memory.known_line(address, WORD_SHIFT) else { return };
        if self.memory.is_watched(line) {
            self.alert_watchers(line, self.now());
        }
    }
}
