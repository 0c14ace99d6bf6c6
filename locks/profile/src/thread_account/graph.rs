//! Who waited for whom: the forest of waits, swept over the time of each window.
//!
//! At each moment a waiting thread waits for one other: for the holder of the lock if that is known,
//! or else for the thread that woke it in the end. These links make trees, whose roots wait for
//! nobody. A thread's *size* is how many threads wait in its tree at it and below, itself included if
//! it waits. As time goes by, an edge gains one for each own wait ("directly") and the size of the
//! waiting thread ("in all"). That is *wPerf*'s cascaded redistribution: while a thread that others
//! wait for waits itself, their waits count for its edge. A root gains its size, and so each moment
//! of waiting ends up at one root.
//!
//! Waiters for the same lock hang below the lock, and the lock below its holder. When a lock of ten
//! thousand waiters changes hands, only the lock moves.

use std::collections::BTreeMap;

use kilocore_figures::Nanoseconds;

use crate::{WaitedFor, WordKind};

use crate::thread_account::holders::{Hold, holds};
use crate::thread_account::kept::{Activity, ThreadIndex, Turn, Wait, Window, WordIndex};
use crate::thread_account::roles::RoleId;

/// What an edge weighs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Weight {
    pub(crate) direct: Nanoseconds,
    pub(crate) in_all: Nanoseconds,
}

/// The graph of all windows.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Graph {
    pub(crate) edges: BTreeMap<(RoleId, WaitedFor, WordIndex), Weight>,
    /// How long threads waited, directly or through others, for each party that waited for nobody, by
    /// what that one did.
    pub(crate) ends: BTreeMap<(WaitedFor, Activity), Nanoseconds>,
    /// The time of the windows in it.
    pub(crate) time: Nanoseconds,
}

impl Graph {
    fn edge(&mut self, from: RoleId, to: WaitedFor, word: WordIndex, weight: Weight) {
        let edge = self.edges.entry((from, to, word)).or_default();
        edge.direct = edge.direct.saturating_add(weight.direct);
        edge.in_all = edge.in_all.saturating_add(weight.in_all);
    }

    fn end(&mut self, party: WaitedFor, doing: Activity, waited: Nanoseconds) {
        let end = self.ends.entry((party, doing)).or_default();
        *end = end.saturating_add(waited);
    }
}

/// How many steps along chains of waits are taken at most. Chains are short, so that this is hardly
/// ever reached: only a ring of thousands of threads that wake each other makes long ones. The sweep
/// then ends with the window, after some seconds.
const MOST_STEPS: u64 = 400_000_000;

/// The graph of `windows`. `parties` has the party of each thread, and `kinds` the kind of each word.
pub(crate) fn graph(windows: &[Window], parties: &[WaitedFor], kinds: &[WordKind]) -> Graph {
    let mut forest = Forest {
        graph: Graph::default(),
        parties,
        nodes: vec![Node::default(); parties.len()],
        locks: vec![Lock::default(); kinds.len()],
        steps: 0,
    };
    for window in windows {
        forest.sweep(&moments(window, kinds));
        forest.graph.time = forest.graph.time.saturating_add(window.length());
        if forest.steps > MOST_STEPS {
            break;
        }
    }
    forest.graph
}

/// What changes at a moment. At the same moment, waits end before others begin, so that nobody waits
/// for two at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Ends(ThreadIndex),
    Free(WordIndex),
    Held(WordIndex, ThreadIndex),
    Begins(ThreadIndex, WordIndex, Next),
    Does(ThreadIndex, Activity),
}

/// For whom a thread waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    Nobody,
    Thread(ThreadIndex),
    /// The holder of this lock.
    Lock(WordIndex),
}

/// All changes of a window in the order of time.
fn moments(window: &Window, kinds: &[WordKind]) -> Vec<(u64, Change)> {
    let mut turns: BTreeMap<WordIndex, Vec<Turn>> = BTreeMap::new();
    for turn in &window.turns {
        let kind = kinds.get(turn.word.get()).copied().unwrap_or_default();
        if kind.is_lock() || kind == WordKind::Unknown {
            turns.entry(turn.word).or_default().push(*turn);
        }
    }
    let held: BTreeMap<WordIndex, Vec<Hold>> = turns
        .iter()
        .map(|(&word, turns)| {
            let shared = kinds.get(word.get()) == Some(&WordKind::ReadWriteLock);
            (word, holds(turns, shared, window.from, window.until))
        })
        .collect();
    let mut moments = Vec::with_capacity(2 * window.waits.len());
    for wait in window.waits.iter().filter(|wait| wait.from < wait.until) {
        let known = held.get(&wait.word).and_then(|holds| held_since(holds, wait));
        let by_waker = wait.waker.map_or(Next::Nobody, Next::Thread);
        let mut part = |from: u64, until: u64, next| {
            if from < until {
                moments.push((from, Change::Begins(wait.thread, wait.word, next)));
                moments.push((until, Change::Ends(wait.thread)));
            }
        };
        let since = known.unwrap_or(wait.until).max(wait.from);
        part(wait.from, since, by_waker);
        part(since, wait.until, Next::Lock(wait.word));
    }
    for (&word, holds) in &held {
        for hold in holds {
            moments.push((hold.from, Change::Held(word, hold.thread)));
            moments.push((hold.until, Change::Free(word)));
        }
    }
    moments.extend(
        window.begins.iter().map(|begin| (begin.at, Change::Does(begin.thread, begin.doing))),
    );
    moments.sort_unstable();
    moments
}

/// From when on it is known during a wait who held the lock, if another thread did.
fn held_since(holds: &[Hold], wait: &Wait) -> Option<u64> {
    let first = holds.partition_point(|hold| hold.until <= wait.from);
    let during = holds[first..].iter().take_while(|hold| hold.from < wait.until);
    during.filter(|hold| hold.thread != wait.thread).map(|hold| hold.from).next()
}

/// A thread in the forest.
#[derive(Debug, Clone, Copy, Default)]
struct Node {
    /// Until when its figures are counted.
    since: u64,
    size: u64,
    wait: Option<Link>,
    /// What it does if it does not wait.
    doing: Activity,
}

/// The wait of a thread.
#[derive(Debug, Clone, Copy)]
struct Link {
    role: RoleId,
    word: WordIndex,
    next: Next,
    /// Whether the thread hangs below `next`. It does not if that would close a circle.
    joined: bool,
}

/// A lock in the forest.
#[derive(Debug, Clone, Default)]
struct Lock {
    since: u64,
    holder: Option<ThreadIndex>,
    /// Whether it hangs below its holder. It does not if that would close a circle.
    joined: bool,
    /// Of each role the waiters, and the sum of their sizes.
    waiters: BTreeMap<RoleId, (u64, u64)>,
}

impl Lock {
    fn size(&self) -> u64 {
        self.waiters.values().map(|&(_, size)| size).sum()
    }

    /// Whom the lock hangs below.
    fn next(&self) -> Next {
        self.holder.filter(|_| self.joined).map_or(Next::Nobody, Next::Thread)
    }
}

struct Forest<'a> {
    graph: Graph,
    parties: &'a [WaitedFor],
    nodes: Vec<Node>,
    locks: Vec<Lock>,
    steps: u64,
}

impl Forest<'_> {
    fn sweep(&mut self, moments: &[(u64, Change)]) {
        for &(at, change) in moments {
            match change {
                Change::Ends(thread) => self.end(thread, at),
                Change::Free(word) => self.change_holder(word, None, at),
                Change::Held(word, thread) => self.change_holder(word, Some(thread), at),
                Change::Begins(thread, word, next) => self.begin(thread, word, next, at),
                Change::Does(thread, doing) => {
                    self.count_thread(thread, at);
                    self.nodes[thread.get()].doing = doing;
                }
            }
        }
        // The next window knows nothing of this one. No wait is left to count.
        for &(_, change) in moments {
            if let Change::Does(thread, _) = change {
                self.nodes[thread.get()].doing = Activity::Unknown;
            }
        }
    }

    fn begin(&mut self, thread: ThreadIndex, word: WordIndex, next: Next, at: u64) {
        let WaitedFor::Role(role) = self.parties[thread.get()] else { return };
        if self.nodes[thread.get()].wait.is_some() {
            return;
        }
        self.count_thread(thread, at);
        let joined = next != Next::Nobody && !self.leads_to(next, Next::Thread(thread));
        let node = &mut self.nodes[thread.get()];
        node.size += 1;
        node.wait = Some(Link { role, word, next, joined });
        let size = node.size;
        if !joined {
            return;
        }
        if let Next::Lock(lock) = next {
            self.count_lock(lock, at);
            self.locks[lock.get()].waiters.entry(role).or_default().0 += 1;
        }
        self.resize_above(thread, Growth::More(size), at);
    }

    fn end(&mut self, thread: ThreadIndex, at: u64) {
        self.count_thread(thread, at);
        let Node { size, wait, .. } = self.nodes[thread.get()];
        let Some(link) = wait else { return };
        if link.joined {
            self.resize_above(thread, Growth::Less(size), at);
            if let Next::Lock(lock) = link.next {
                let waiters = &mut self.locks[lock.get()].waiters;
                if let Some(of_role) = waiters.get_mut(&link.role) {
                    of_role.0 = of_role.0.saturating_sub(1);
                    if of_role.0 == 0 {
                        waiters.remove(&link.role);
                    }
                }
            }
        }
        let node = &mut self.nodes[thread.get()];
        node.wait = None;
        node.size = node.size.saturating_sub(1);
    }

    fn change_holder(&mut self, word: WordIndex, holder: Option<ThreadIndex>, at: u64) {
        self.count_lock(word, at);
        let size = self.locks[word.get()].size();
        let old = self.locks[word.get()].next();
        self.resize(old, Growth::Less(size), at);
        let next = holder.map_or(Next::Nobody, Next::Thread);
        let joined = holder.is_some() && !self.leads_to(next, Next::Lock(word));
        let lock = &mut self.locks[word.get()];
        (lock.holder, lock.joined) = (holder, joined);
        let new = lock.next();
        self.resize(new, Growth::More(size), at);
    }

    /// Whether the chain of waits from `from` on comes to `goal`.
    fn leads_to(&mut self, from: Next, goal: Next) -> bool {
        let mut at = from;
        while at != Next::Nobody {
            if at == goal {
                return true;
            }
            self.steps += 1;
            at = match at {
                Next::Nobody => Next::Nobody,
                Next::Lock(lock) => self.locks[lock.get()].next(),
                Next::Thread(thread) => self.joined_above(thread),
            };
        }
        false
    }

    /// Whom a thread hangs below.
    fn joined_above(&self, thread: ThreadIndex) -> Next {
        let link = self.nodes[thread.get()].wait.filter(|link| link.joined);
        link.map_or(Next::Nobody, |link| link.next)
    }

    /// Changes the sizes of all that `thread` hangs below, but not its own.
    fn resize_above(&mut self, thread: ThreadIndex, change: Growth, at: u64) {
        let Some(link) = self.nodes[thread.get()].wait.filter(|link| link.joined) else { return };
        let next = match link.next {
            Next::Lock(lock) => {
                self.count_lock(lock, at);
                let lock = &mut self.locks[lock.get()];
                change.apply(&mut lock.waiters.entry(link.role).or_default().1);
                lock.next()
            }
            next => next,
        };
        self.resize(next, change, at);
    }

    /// Changes the size of a thread and of all that it hangs below.
    fn resize(&mut self, from: Next, change: Growth, at: u64) {
        let mut next = from;
        while let Next::Thread(thread) = next {
            self.steps += 1;
            self.count_thread(thread, at);
            change.apply(&mut self.nodes[thread.get()].size);
            next = match self.nodes[thread.get()].wait.filter(|link| link.joined) {
                Some(Link { role, next: Next::Lock(lock), .. }) => {
                    self.count_lock(lock, at);
                    let lock = &mut self.locks[lock.get()];
                    change.apply(&mut lock.waiters.entry(role).or_default().1);
                    lock.next()
                }
                Some(link) => link.next,
                None => Next::Nobody,
            };
        }
    }

    /// Counts the time since the thread was last looked at.
    fn count_thread(&mut self, thread: ThreadIndex, at: u64) {
        let node = &mut self.nodes[thread.get()];
        let ns = at.saturating_sub(node.since);
        node.since = at;
        let in_all = Nanoseconds(node.size.saturating_mul(ns));
        if in_all == Nanoseconds(0) {
            return;
        }
        let Some(Link { role, word, next, joined }) = node.wait else {
            self.graph.end(self.parties[thread.get()], node.doing, in_all);
            return;
        };
        let to = match next {
            // The lock counts for all its waiters.
            Next::Lock(_) if joined => return,
            Next::Lock(_) | Next::Nobody => WaitedFor::Unknown,
            Next::Thread(other) => self.parties[other.get()],
        };
        self.graph.edge(role, to, word, Weight { direct: Nanoseconds(ns), in_all });
        if !joined {
            self.graph.end(WaitedFor::Unknown, Activity::Unknown, in_all);
        }
    }

    /// Counts the time of a lock's waiters since it was last looked at.
    fn count_lock(&mut self, word: WordIndex, at: u64) {
        let lock = &mut self.locks[word.get()];
        let ns = at.saturating_sub(lock.since);
        lock.since = at;
        if ns == 0 {
            return;
        }
        let to = lock.holder.map_or(WaitedFor::Unknown, |holder| self.parties[holder.get()]);
        for (&role, &(count, size)) in &lock.waiters {
            let [direct, in_all] = [count, size].map(|times| Nanoseconds(times.saturating_mul(ns)));
            let weight = Weight { direct, in_all };
            self.graph.edge(role, to, word, weight);
            if !lock.joined {
                self.graph.end(WaitedFor::Unknown, Activity::Unknown, weight.in_all);
            }
        }
    }
}

/// A size grows or shrinks.
#[derive(Debug, Clone, Copy)]
enum Growth {
    More(u64),
    Less(u64),
}

impl Growth {
    fn apply(self, size: &mut u64) {
        *size = match self {
            Self::More(more) => size.saturating_add(more),
            Self::Less(less) => size.saturating_sub(less),
        };
    }
}

#[cfg(test)]
mod tests;
