//! Who gives waiting threads what they wait for, by the writes to the word at which they sleep.
//!
//! Whoever has something for the waiters of a condition writes to its word and then wakes one. So the
//! last thread to write there before a waiter has a core again is the one who gave it what it waited
//! for. Some conditions are also written to by their waiters, when they come back: the first write of
//! a thread after it slept there tells nothing.

use std::collections::BTreeMap;

use kilocore_lock_profile::thread_account::{
    self as time, Event, EventKind, Reason, ThreadId, WordKind,
};

use crate::document::Named;
use crate::ids::{Moment, Pid, Tid, Word};
use crate::watched::Watched;

/// Who wrote to a word, in the order of time.
type Writes = Vec<(Moment, Tid)>;

/// The writes to words at which threads wait for work, by the window in which they were.
pub(crate) fn writers(
    watched: &BTreeMap<Word, Watched>,
    words: &BTreeMap<Word, Named>,
) -> BTreeMap<Moment, BTreeMap<Word, Writes>> {
    let mut all: BTreeMap<Moment, BTreeMap<Word, Writes>> = BTreeMap::new();
    let is_condition =
        |word: &Word| words.get(word).is_some_and(|named| named.kind == WordKind::Condition);
    for (word, watched) in watched.iter().filter(|(word, _)| is_condition(word)) {
        // Where only some threads were watched, the last to write may be another.
        for watch in watched.windows.iter().filter(|watch| !watch.few) {
            let operations = watch.history.operations.iter();
            let wrote = operations.filter(|operation| !operation.failed);
            let writes = wrote.map(|operation| (operation.at, operation.tid)).collect();
            all.entry(watch.begin).or_default().insert(*word, writes);
        }
    }
    all
}

/// A thread's sleep at a word.
struct Sleep {
    word: Word,
    from: u64,
    to: u64,
}

/// When the threads that slept at these words became ready, and by whom. `events` are those of the
/// window.
pub(crate) fn wakings<'a>(
    events: &'a [Event],
    writes: &'a BTreeMap<Word, Writes>,
) -> impl Iterator<Item = Event> + 'a {
    let sleeps = sleeps(events);
    let gives: BTreeMap<Word, Writes> = writes
        .iter()
        .map(|(word, writes)| (*word, without_returns(*word, writes, &sleeps)))
        .collect();
    let mut told = Vec::new();
    for (thread, sleeps) in sleeps {
        for Sleep { word, from, to } in sleeps {
            let Some(gives) = gives.get(&word) else { continue };
            let before = gives.partition_point(|(at, _)| at.0 <= to);
            let own = Tid(thread.0);
            let last = gives[..before].iter().rev().take_while(|(at, _)| at.0 >= from);
            let Some((at, by)) = last.clone().find(|(_, by)| *by != own) else { continue };
            let by = Some(ThreadId(by.0));
            told.push(Event {
                at: time::Nanoseconds(at.0),
                thread,
                what: EventKind::Waking { by },
            });
        }
    }
    told.into_iter()
}

/// When which threads slept where, as far as the window shows both ends.
fn sleeps(events: &[Event]) -> BTreeMap<ThreadId, Vec<Sleep>> {
    let mut sorted: Vec<&Event> = events.iter().collect();
    sorted.sort_by_key(|event| event.at);
    let mut open: BTreeMap<ThreadId, (Word, u64)> = BTreeMap::new();
    let mut sleeps: BTreeMap<ThreadId, Vec<Sleep>> = BTreeMap::new();
    for event in sorted {
        let slept = match event.what {
            EventKind::Out(_) | EventKind::In => open.remove(&event.thread),
            _ => continue,
        };
        match (event.what, slept) {
            (EventKind::In, Some((word, from))) => {
                let sleep = Sleep { word, from, to: event.at.0 };
                sleeps.entry(event.thread).or_default().push(sleep);
            }
            (EventKind::Out(Reason::Futex(word)), _) => {
                let word = Word { pid: Pid(word.space), address: word.address };
                open.insert(event.thread, (word, event.at.0));
            }
            _ => {}
        }
    }
    sleeps
}

/// The writes but for the first of each thread after it slept there.
fn without_returns(
    word: Word,
    writes: &[(Moment, Tid)],
    sleeps: &BTreeMap<ThreadId, Vec<Sleep>>,
) -> Writes {
    let mut last_of: BTreeMap<Tid, u64> = BTreeMap::new();
    let mut gives = Vec::new();
    for (at, tid) in writes {
        let since = last_of.insert(*tid, at.0).unwrap_or(0);
        let own = sleeps.get(&ThreadId(tid.0)).map_or(&[][..], Vec::as_slice);
        let returned = own.partition_point(|sleep| sleep.to <= at.0);
        let back = own[..returned].iter().rev().take_while(|sleep| sleep.to > since);
        if !back.into_iter().any(|sleep| sleep.word == word) {
            gives.push((*at, *tid));
        }
    }
    gives
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUEUE: Word = Word { pid: Pid(7), address: 0x40 };

    fn event(at: u64, thread: u32, what: EventKind) -> Event {
        Event { at: time::Nanoseconds(at), thread: ThreadId(thread), what }
    }

    fn waits() -> EventKind {
        EventKind::Out(Reason::Futex(time::Word { space: 7, address: 0x40 }))
    }

    #[test]
    fn who_wrote_last_woke_but_for_those_who_only_come_back() {
        let events = [
            event(10, 1, waits()),
            event(12, 2, waits()),
            event(30, 1, EventKind::In),
            event(40, 2, EventKind::In),
            event(60, 1, waits()),
            event(70, 1, EventKind::In),
            event(80, 2, waits()),
            event(85, 2, EventKind::In),
        ];
        // Thread 3 gives at 20. The first comes back at 32, and gives something itself at 38. Nobody
        // wrote between 60 and 70. At 82, the second itself wrote.
        let writes = [(20, 3), (32, 1), (38, 1), (41, 2), (82, 2)];
        let writes = writes.map(|(at, tid)| (Moment(at), Tid(tid))).to_vec();
        let writes = BTreeMap::from([(QUEUE, writes)]);
        let told: Vec<_> = wakings(&events, &writes).collect();
        let by = |thread| EventKind::Waking { by: Some(ThreadId(thread)) };
        assert_eq!(told, [event(20, 1, by(3)), event(38, 2, by(1))]);
        let elsewhere = BTreeMap::from([(Word { address: 0x80, ..QUEUE }, Vec::new())]);
        assert_eq!(wakings(&events, &elsewhere).count(), 0);
    }
}
