//! Histories, and whether they are linearizable: whether all operations can be put into one order
//! that respects which returned before which was called, and in which each read gives what the
//! updates before it left.
//!
//! The search is that of Wing and Gong (1993), with the states that led nowhere remembered as Lowe
//! (2017) does: exponential in the number of operations at worst, and quick for the dozen that a
//! checked program makes.

use std::collections::HashSet;
use std::sync::Mutex;

use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Insert(usize),
    Remove(usize),
    /// What was found: a bit for each object.
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
/// Its clock is a word of the platform, added to with acquire and release, so that whatever has
/// returned before something else is called also happened before it. Only then does its order
/// bind: of two operations that nothing orders, one may miss what the other has seen, whichever
/// was first. But such a clock also hides what the program itself fails to order, so that a
/// program should be checked without it, too.
#[derive(Debug)]
pub struct History<P: Platform> {
    clock: Option<P::U64>,
    events: Mutex<Vec<Event>>,
}

impl<P: Platform> History<P> {
    /// Nothing yet, and nothing ever unless `recorded`.
    pub fn new(recorded: bool) -> Self {
        Self { clock: recorded.then(|| P::U64::new(0)), events: Mutex::default() }
    }

    /// Makes an operation, which says what it was.
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

/// Whether a history that begins with an empty structure is linearizable.
pub fn is_linearizable(events: &[Event]) -> bool {
    assert!(events.len() <= 32, "the search is exponential");
    extend(events, 0, 0, &mut HashSet::new())
}

/// Whether the events that are not in `done` can follow, from the state `members`.
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
