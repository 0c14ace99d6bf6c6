//! Counting a stream.

use crate::{Burst, Contents, Ending, Event, EventKind};

/// What a stream amounts to so far.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally(Contents);

impl Tally {
    /// Counts an event. Sums stay at the largest number that there is.
    #[inline]
    pub fn count(&mut self, event: &Event) {
        let Self(contents) = self;
        contents.events += 1;
        contents.threads = contents.threads.max(event.thread.0.saturating_add(1));
        match &event.kind {
            EventKind::Burst(Burst { reads, writes, .. }) => {
                contents.bursts += 1;
                contents.reads = contents.reads.saturating_add((*reads).into());
                contents.writes = contents.writes.saturating_add((*writes).into());
            }
            EventKind::Quantum { instructions } => {
                contents.instructions = contents.instructions.after(*instructions);
            }
            _ => {}
        }
    }

    /// How many events there were.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.0.events
    }

    /// All of it, with what only the recorder knows.
    #[must_use]
    pub fn finish(self, ending: Ending, threads_unrecorded: u64) -> Contents {
        Contents { ending, threads_unrecorded, ..self.0 }
    }
}
