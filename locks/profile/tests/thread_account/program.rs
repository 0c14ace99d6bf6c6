//! A program that is written down by hand: threads, windows, events.

use std::collections::BTreeMap;

use kilocore_lock_profile::thread_account::{
    Account, Event, EventKind, Nanoseconds, Reason, Thread, ThreadId, Word, WordKind,
};
use kilocore_lock_profile::{Activities, ThreadTimes, WaitEdge, WaitedFor};

/// The process of all threads.
pub(crate) const PROCESS: u32 = 100;

/// The word at an address.
pub(crate) fn word(address: u64) -> Word {
    Word { space: PROCESS, address }
}

/// A thread leaves its core to wait at a word.
pub(crate) fn waits(address: u64) -> EventKind {
    EventKind::Out(Reason::Futex(word(address)))
}

/// A thread is woken.
pub(crate) fn woken_by(thread: u32) -> EventKind {
    EventKind::Waking { by: Some(ThreadId(thread)) }
}

/// An account with its threads and words.
#[derive(Default)]
pub(crate) struct Program {
    pub(crate) account: Account,
    threads: Vec<Thread>,
    kinds: BTreeMap<Word, WordKind>,
}

impl Program {
    /// A program with these threads. The first one is the main thread.
    pub(crate) fn new(threads: &[(u32, &str)]) -> Self {
        let thread = |(index, &(id, name)): (usize, &(u32, &str))| Thread {
            id: ThreadId(id),
            process: PROCESS,
            name: name.to_owned(),
            function: None,
            main: index == 0,
        };
        let threads = threads.iter().enumerate().map(thread).collect();
        Self { threads, ..Self::default() }
    }

    /// Says what the word at an address is for.
    pub(crate) fn kind(mut self, address: u64, kind: WordKind) -> Self {
        self.kinds.insert(word(address), kind);
        self
    }

    /// Says how many cores there are.
    pub(crate) fn on_cores(mut self, cores: u32) -> Self {
        self.account.on_cores(cores);
        self
    }

    /// A window with these events, and these threads that ran throughout.
    pub(crate) fn window(
        mut self,
        (from, until): (u64, u64),
        events: &[(u64, u32, EventKind)],
        running: &[u32],
    ) -> Self {
        self.account.begin_window(Nanoseconds(from));
        for &(at, thread, what) in events {
            self.account.take(&Event { at: Nanoseconds(at), thread: ThreadId(thread), what });
        }
        for &thread in running {
            self.account.quiet(ThreadId(thread), None);
        }
        self.account.end_window(Nanoseconds(until));
        self
    }

    /// The same with times in milliseconds: long enough to be found something in.
    pub(crate) fn long_window(
        self,
        (from, until): (u64, u64),
        events: &[(u64, u32, EventKind)],
        running: &[u32],
    ) -> Self {
        const MS: u64 = 1_000_000;
        let events: Vec<_> =
            events.iter().map(|&(at, thread, what)| (at * MS, thread, what)).collect();
        self.window((from * MS, until * MS), &events, running)
    }

    pub(crate) fn times(self) -> ThreadTimes {
        let kind = |word| self.kinds.get(&word).copied().unwrap_or_default();
        self.account.finish(&self.threads, &kind, &|word| format!("word {}", word.address))
    }
}

/// What the role of that name did.
pub(crate) fn of(times: &ThreadTimes, name: &str) -> Activities {
    times.roles[role(times, name) as usize].times
}

/// The id of the role of that name.
pub(crate) fn role(times: &ThreadTimes, name: &str) -> u32 {
    times.roles.iter().find(|role| role.name == name).expect("there is such a role").id
}

/// The edge from one role to another; no name is nobody known.
pub(crate) fn edge(times: &ThreadTimes, from: &str, to: &str) -> Option<WaitEdge> {
    let from = role(times, from);
    let to = if to.is_empty() { WaitedFor::Unknown } else { WaitedFor::Role(role(times, to)) };
    times.edges.iter().find(|edge| edge.from == from && edge.to == to).copied()
}
