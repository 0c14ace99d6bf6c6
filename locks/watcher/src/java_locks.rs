//! Locks of Java: the words that tell who has them, as the machine's own memory says.
//!
//! A thread that waits for a lock sleeps on a word of its own, but the machine notes for which lock it
//! waits. So after each window, some threads of each machine are looked at, and what they wait for is
//! watched like any other lock.
//!
//! An idle monitor may be deflated, and its memory used for something else. That shows: then the window
//! in which it happened is thrown away, and all that was known of the word. Other locks are objects. The
//! collector may move them, so after a collection has begun, none of them is watched until a thread
//! is found waiting for it again. If it is at another place then, it takes what was known with it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::java_threads::{Inside, JavaLock, Memory, VARIABLES, thread_ids};
use crate::word_names::Names;

use crate::ids::{Pid, Tid, Word};
use crate::memory::read;

/// The library that the machine is.
const LIBRARY: &str = "libjvm.so";
/// How many threads of a machine are looked at after a window.
const LOOKS: usize = 64;
/// How often a machine is asked where it keeps what. One that has just been started may not know yet.
const MOST_ASKED: u32 = 8;
/// Functions that give a monitor back, by parts of their names. If there are waiters, they take it
/// once more before they wake one.
const GIVE_BACK: [&str; 2] = ["13ObjectMonitor4exitE", "13ObjectMonitor13ExitOnSuspendclE"];

/// A Java virtual machine whose locks can be read.
#[derive(Debug)]
struct VirtualMachine {
    inside: Inside,
    /// The code that gives monitors back.
    give_back: Vec<Range<u64>>,
}

/// A lock of a Java program that is followed from one window to the next.
#[derive(Debug)]
struct TrackedLock {
    lock: JavaLock,
    /// The class of its object, if that could be read.
    class: Option<String>,
    /// Whether it may have been moved since a thread was found waiting for it.
    lost: bool,
    /// Whether one was found since that may be this one, or another.
    doubtful: bool,
}

/// What is known of all.
#[derive(Debug, Default)]
pub(crate) struct JavaLocks {
    /// Of those machines that do not say where they keep what, nothing.
    machines: BTreeMap<Pid, Option<VirtualMachine>>,
    /// How often each was asked.
    asked: BTreeMap<Pid, u32>,
    locks: BTreeMap<Word, TrackedLock>,
}

/// A thread that was found waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FoundWaiter {
    pub(crate) word: Word,
    pub(crate) tid: Tid,
    /// Where the lock was before the collector moved it.
    pub(crate) moved_from: Option<Word>,
}

/// The memory of a process.
struct ProcessMemory(Pid);

impl Memory for ProcessMemory {
    fn read(&self, address: u64, length: usize) -> Vec<u8> {
        read(self.0, address, length)
    }
}

impl JavaLocks {
    /// Whether a machine need not be asked any more where it keeps what.
    pub(crate) fn knows(&self, pid: Pid) -> bool {
        let is_known = self.machines.get(&pid).is_some_and(Option::is_some);
        is_known || self.asked.get(&pid).is_some_and(|asked| *asked >= MOST_ASKED)
    }

    /// Finds out where a machine keeps what, by its library.
    pub(crate) fn add(&mut self, pid: Pid, names: &Names) {
        let gives_back = |name: &str| GIVE_BACK.iter().any(|part| name.contains(part));
        let wanted = |name: &str| gives_back(name) || name.starts_with(VARIABLES);
        let found = names.definitions(LIBRARY, &wanted);
        let code = found.iter().filter(|(name, _)| gives_back(name));
        let give_back: Vec<_> = code.map(|(_, code)| code.clone()).collect();
        let mut variables = |name: &str| found.get(name).map(|at| at.start);
        let inside = Inside::of(&mut variables, &ProcessMemory(pid));
        *self.asked.entry(pid).or_default() += 1;
        self.machines.insert(pid, inside.map(|inside| VirtualMachine { inside, give_back }));
    }

    /// Whether one of these processes is a machine whose locks can be found.
    pub(crate) fn is_needed(&self, members: &BTreeSet<Pid>) -> bool {
        self.machines.iter().any(|(pid, machine)| machine.is_some() && members.contains(pid))
    }

    /// Which threads of these processes wait for which locks, among some of the threads.
    pub(crate) fn look(&mut self, members: &BTreeSet<Pid>, chance: u64) -> Vec<FoundWaiter> {
        let mut found = Vec::new();
        for (pid, machine) in &mut self.machines {
            let Some(machine) = machine.as_mut().filter(|_| members.contains(pid)) else {
                continue;
            };
            let mut waiting =
                machine.inside.waiting(&ProcessMemory(*pid), (chance as usize, LOOKS));
            // Without the functions' names, acquisitions that only hand a monitor over would count.
            let has_names = !machine.give_back.is_empty();
            waiting.retain(|w| has_names || !matches!(w.lock, JavaLock::Monitor { .. }));
            let ids = if waiting.is_empty() { None } else { thread_ids(pid.0) };
            for waits in waiting {
                let tid = ids.as_ref().map_or(Some(&waits.tid), |ids| ids.get(&waits.tid));
                let Some(tid) = tid else { continue };
                let word = Word { pid: *pid, address: waits.lock.word() };
                let moved_from = keep(&mut self.locks, word, waits.lock, waits.class);
                found.push(FoundWaiter { word, tid: Tid(*tid), moved_from });
            }
        }
        found
    }

    /// Whether a word is that of a lock, and what its users call that.
    pub(crate) fn what(&self, word: Word) -> Option<&'static str> {
        Some(match self.locks.get(&word)?.lock {
            JavaLock::Monitor { .. } => "Java monitor",
            JavaLock::Synchronizer { .. } => "Java java.util.concurrent lock",
        })
    }

    /// The class of a lock's object, if it is known.
    pub(crate) fn class(&self, word: Word) -> Option<&str> {
        self.locks.get(&word)?.class.as_deref()
    }

    /// Whether the lock of a word may be elsewhere by now.
    pub(crate) fn is_lost(&self, word: Word) -> bool {
        self.locks.get(&word).is_some_and(|known| known.lost)
    }

    /// Whether the lock of a word may be one that was found elsewhere.
    pub(crate) fn is_doubtful(&self, word: Word) -> bool {
        self.locks.get(&word).is_some_and(|known| known.doubtful)
    }

    /// Finds out which locks are still where they were. Returns the words of those that are no more.
    pub(crate) fn check(&mut self) -> Vec<Word> {
        let mut gone = Vec::new();
        for (word, known) in &mut self.locks {
            let machine = self.machines.get(&word.pid).and_then(Option::as_ref);
            let is_still = machine.is_some_and(|machine| {
                machine.inside.is_still(&ProcessMemory(word.pid), &known.lock)
            });
            match known.lock {
                JavaLock::Monitor { .. } if !is_still => gone.push(*word),
                JavaLock::Monitor { .. } => {}
                JavaLock::Synchronizer { .. } => known.lost |= !is_still,
            }
        }
        self.locks.retain(|word, _| !gone.contains(word));
        gone
    }

    /// Whether code at an address of a process gives a monitor back, even if it takes it in between.
    pub(crate) fn gives_back(&self, pid: Pid, address: u64) -> bool {
        let machine = self.machines.get(&pid).and_then(Option::as_ref);
        machine.is_some_and(|machine| machine.give_back.iter().any(|code| code.contains(&address)))
    }

    /// Forgets a process, which has executed another program.
    pub(crate) fn forget(&mut self, pid: Pid) {
        self.machines.remove(&pid);
        self.asked.remove(&pid);
        self.locks.retain(|word, _| word.pid != pid);
    }
}

/// Keeps a lock that is known to be there at this moment. Returns where it was before, if it is the only
/// one of its class that may have been moved.
fn keep(
    locks: &mut BTreeMap<Word, TrackedLock>,
    word: Word,
    lock: JavaLock,
    class: Option<String>,
) -> Option<Word> {
    let is_new = locks.get(&word).is_none_or(|known| !same_class(&known.lock, &lock));
    let mut moved_from = None;
    if is_new {
        let mut lost: Vec<(&Word, &mut TrackedLock)> = locks
            .iter_mut()
            .filter(|(of, known)| {
                of.pid == word.pid && known.lost && same_class(&known.lock, &lock)
            })
            .collect();
        match lost.as_mut_slice() {
            [(before, _)] => moved_from = Some(**before),
            several => several.iter_mut().for_each(|(_, known)| known.doubtful = true),
        }
    }
    if let Some(before) = moved_from {
        locks.remove(&before);
    }
    locks.insert(word, TrackedLock { lock, class, lost: false, doubtful: false });
    moved_from
}

fn same_class(one: &JavaLock, other: &JavaLock) -> bool {
    match (one, other) {
        (JavaLock::Synchronizer { class: one, .. }, JavaLock::Synchronizer { class, .. }) => {
            one == class
        }
        (JavaLock::Monitor { .. }, JavaLock::Monitor { .. }) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PID: Pid = Pid(1);

    fn word(address: u64) -> Word {
        Word { pid: PID, address }
    }

    fn found(locks: &mut JavaLocks, address: u64, class: u64) -> Option<Word> {
        let lock = JavaLock::Synchronizer { word: address, class, collections: 0 };
        keep(&mut locks.locks, word(address), lock, None)
    }

    #[test]
    fn a_lock_that_the_collector_moved_is_recognized_if_it_is_the_only_one() {
        let mut locks = JavaLocks::default();
        assert_eq!(found(&mut locks, 0x10, 1), None);
        assert_eq!(found(&mut locks, 0x20, 2), None);
        assert!(!locks.is_lost(word(0x10)));
        // There is no machine that could say that anything is where it was.
        assert!(locks.check().is_empty());
        assert!(locks.is_lost(word(0x10)) && locks.is_lost(word(0x20)));
        assert_eq!(found(&mut locks, 0x20, 2), None, "it is where it was");
        assert!(!locks.is_lost(word(0x20)));
        assert_eq!(found(&mut locks, 0x30, 1), Some(word(0x10)));
        assert_eq!(locks.what(word(0x10)), None);
        assert_eq!(locks.what(word(0x30)), Some("Java java.util.concurrent lock"));
    }

    #[test]
    fn of_two_that_may_have_been_moved_none_is_taken_for_the_one_that_is_found() {
        let mut locks = JavaLocks::default();
        for address in [0x10, 0x20] {
            found(&mut locks, address, 1);
        }
        locks.check();
        assert_eq!(found(&mut locks, 0x30, 1), None);
        assert!(locks.is_doubtful(word(0x10)) && locks.is_doubtful(word(0x20)));
        assert_eq!(found(&mut locks, 0x20, 1), None);
        assert!(!locks.is_doubtful(word(0x20)) && locks.is_doubtful(word(0x10)));
    }

    #[test]
    fn a_monitor_that_is_no_more_is_forgotten() {
        let mut locks = JavaLocks::default();
        let lock = JavaLock::Monitor { word: 0x40, object: 7 };
        keep(&mut locks.locks, word(0x40), lock, Some("java.lang.Object".to_owned()));
        assert_eq!(locks.what(word(0x40)), Some("Java monitor"));
        assert_eq!(locks.check(), [word(0x40)]);
        assert_eq!(locks.what(word(0x40)), None);
    }
}
