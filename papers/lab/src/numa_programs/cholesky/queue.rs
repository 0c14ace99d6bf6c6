//! The queue of tasks.
//!
//! Each task enters the queue once, so a place in it is used once. A thread takes the number of the
//! next place, whether or not there is a task in it yet, and waits until there is. The work is over
//! for whoever gets a number beyond the last place.

use core::ops::Range;

use kilocore_platform::{Padded, Platform, Wait};

use crate::numa_programs::lock::{Lock, free, holding};
use crate::numa_programs::pages::Pages;
use crate::numa_programs::word::Word;

#[repr(C)]
struct Ends<P: Platform> {
    takers: Padded<End<P>>,
    givers: Padded<End<P>>,
}

/// An end of the queue: the number of the next place there.
#[repr(C)]
struct End<P: Platform> {
    lock: Lock<P>,
    next: Word<P, u32>,
}

pub(super) struct Queue<P: Platform> {
    ends: Pages<Ends<P>>,
    tasks: Pages<Word<P, u32>>,
}

impl<P: Platform> Queue<P> {
    /// A queue for that many tasks, some of which are in it already.
    pub(super) fn new(tasks: usize, ready: impl Iterator<Item = usize>) -> Self {
        let ready: Vec<u32> = ready.map(|task| task as u32).collect();
        let end = |next: usize| Padded(End { lock: free(), next: Word::new(next as u32) });
        Self {
            ends: Pages::new(1, |_| Ends { takers: end(0), givers: end(ready.len()) }),
            tasks: Pages::new(tasks, |at| Word::new(ready.get(at).copied().unwrap_or(0))),
        }
    }

    /// Takes a task, for which it may have to wait. `None` if there will be none.
    pub(super) fn take(&self) -> Option<u32> {
        let Ends { takers, givers } = &self.ends[0];
        let place = holding::<P, _>(&takers.lock, || {
            let place = takers.next.get();
            takers.next.set(place + 1);
            place
        });
        let task = self.tasks.get(place as usize)?;
        if givers.next.follow() <= place {
            P::wait_until(givers.next.cell(), Wait::Spin, |given| given > place);
        }
        Some(task.get())
    }

    /// Puts in a task that was not in it before.
    pub(super) fn give(&self, task: u32) {
        let givers = &self.ends[0].givers;
        holding::<P, _>(&givers.lock, || {
            let place = givers.next.get();
            self.tasks[place as usize].set(task);
            // Whoever takes the task sees all that was done for it.
            givers.next.publish(place + 1);
        });
    }

    pub(super) fn addresses(&self) -> [Range<usize>; 2] {
        [self.ends.addresses(), self.tasks.addresses()]
    }
}
