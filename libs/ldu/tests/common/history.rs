//! Histories, and a check whether they are linearizable. A history is linearizable if all
//! operations can be put into one order with two properties. If one operation returned before
//! another was called, it comes first. And each read finds what the updates before it have left.
//!
//! The search for such an order is that of Wing and Gong (1993). As in Lowe (2017), it remembers
//! the states that have led nowhere. In the worst case it takes time exponential in the number of
//! operations, but it is quick for the dozen that a checked program makes.

use std::collections::HashSet;
use std::sync::Mutex;

use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Insert(usize),
    Remove(usize),
    /// Contains what was found: a bit for each object.
    Read(u64),
}

#[derive(Debug, Clone, Copy)]
pub struct Event {
    pub called: u64,
    pub returned: u64,
    pub operation: Operation,
}

/// Records the operations of an execution.
///
/// Its clock is a word of the platform, which is increased with acquire and release. So if one
/// operation returned before another was called, it also happened before the other. The check needs
/// this: if nothing orders two operations, one may miss what the other has seen, whichever was
/// first. But such a clock also hides missing orderings in the log. So a program should also be
/// checked without the clock.
#[derive(Debug)]
pub struct History<P: Platform> {
    clock: Option<P::U64>,
    events: Mutex<Vec<Event>>,
}

impl<P: Platform> History<P> {
    /// Returns an empty history. It stays empty unless `recorded` is true.
    pub fn new(recorded: bool) -> Self {
        Self { clock: recorded.then(|| P::U64::new(0)), events: Mutex::default() }
    }

    /// Calls `run`, which makes an operation, and records the operation that `run` returns.
    pub fn record<R>(&self, run: impl FnOnce() -> (Operation, R)) -> R {
        let Some(clock) = &self.clock else { return run().1 };
        let called = clock.fetch_add(1, Ordering::AcqRel);
        let (operation, result) = run();
        let returned = clock.fetch_add(1, Ordering::AcqRel);
        self.events.lock().unwrap().push(Event { called, returned, operation });
        result
    }

    pub fn assert_linearizable(&self) {
        let events = self.events.lock().unwrap();
        assert!(is_linearizable(&events), "not linearizable: {events:?}");
    }
}

/// Returns whether a history that begins with an empty structure is linearizable.
pub fn is_linearizable(events: &[Event]) -> bool {
    assert!(events.len() <= 32, "the search is exponential");
    extend(events, 0, 0, &mut HashSet::new())
}

/// Returns whether the events that are not in `done` can follow in some order, from the state
/// `members`. `hopeless` contains the pairs for which this is known to be false.
fn extend(events: &[Event], done: u32, members: u64, hopeless: &mut HashSet<(u32, u64)>) -> bool {
    let open = |index: &usize| done >> index & 1 == 0;
    let Some(first_return) = (0..events.len()).filter(open).map(|i| events[i].returned).min()
    else {
        return true;
    };
    if hopeless.contains(&(done, members)) {
        return false;
    }
    for index in (0..events.len()).filter(open) {
        let event = events[index];
        if event.called > first_return {
            continue; // something else returned before it was called
        }
        let after = match event.operation {
            Operation::Insert(id) => (members >> id & 1 == 0).then_some(members | 1 << id),
            Operation::Remove(id) => (members >> id & 1 == 1).then_some(members & !(1 << id)),
            Operation::Read(found) => (found == members).then_some(members),
        };
        if after.is_some_and(|after| extend(events, done | 1 << index, after, hopeless)) {
            return true;
        }
    }
    hopeless.insert((done, members));
    false
}
