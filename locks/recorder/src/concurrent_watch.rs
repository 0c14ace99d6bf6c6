//! Watching a run from outside while the library under it records.
//!
//! The library counts every use of every pthread lock. What watching adds are locks of other kinds,
//! processes that the library is not in, and where the threads' time went.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use kilocore_lock_profile::{Object, ObjectKind, Outside, Process, Run};
use kilocore_lock_watcher::{Options, Pid, ProcessScope, WatchError};

use crate::conduct::SEED;

/// Which part of a run counts, as the watcher is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counting {
    /// What this process and its descendants do from now on counts, and what they did before does
    /// not.
    Begin(u32),
    /// What they do from now on does not count.
    End,
}

/// Watches while it counts. Returns what was seen last, or `None` if the program had ended before
/// anybody could look.
pub(crate) fn watch(told: &Receiver<Counting>, library: &Path) -> Result<Option<Run>, WatchError> {
    let mut seen = None;
    let mut next = told.recv().ok();
    while let Some(what) = next.take() {
        if let Counting::Begin(pid) = what {
            let mut wait = |time: Duration| match told.recv_timeout(time) {
                Ok(what) => {
                    next = Some(what);
                    true
                }
                Err(RecvTimeoutError::Disconnected) => true,
                Err(RecvTimeoutError::Timeout) => false,
            };
            let options = Options {
                scope: ProcessScope::Tree,
                attached: false,
                library: Some(library),
                seed: SEED,
            };
            seen = match kilocore_lock_watcher::watch(Pid(pid), &options, &mut wait) {
                Ok(run) => Some(run),
                Err(WatchError::NoProcess(_)) => None,
                Err(error) => return Err(error),
            };
        }
        if next.is_none() {
            next = told.recv().ok();
        }
    }
    Ok(seen)
}

/// What was recorded, and what watching adds to it.
pub(crate) fn together(mut recorded: Run, watched: Run) -> Run {
    let mut new = Vec::new();
    for process in watched.processes {
        let same = recorded.processes.iter_mut().filter(|own| own.pid == process.pid);
        match same.max_by_key(|own| own.executable == process.executable) {
            Some(own) => add(own, process),
            None if is_empty(&process) => {}
            None => new.push(process),
        }
    }
    if let Some(outside) = &mut recorded.outside {
        see(outside, &new);
    }
    recorded.processes.extend(new);
    Run { times: watched.times, watching: watched.watching, ..recorded }
}

fn is_empty(process: &Process) -> bool {
    process.locks.is_empty() && process.conditions.is_empty() && process.barriers.is_empty()
}

/// Adds what is not recorded. The watcher has left out what it knew to be.
fn add(own: &mut Process, watched: Process) {
    let lies_in = |of: u64, kind, address: u64| {
        of != 0 && address != 0 && Object::at(of, kind).place.contains(&address)
    };
    let mut id = own.locks.iter().map(|lock| lock.id + 1).max().unwrap_or(0);
    for mut lock in watched.locks {
        if !own.locks.iter().any(|own| lies_in(own.address, ObjectKind::Lock, lock.address)) {
            lock.id = id;
            id += 1;
            own.locks.push(lock);
        }
    }
    own.locks.sort_by_key(|lock| std::cmp::Reverse(lock.uses()));
    let conditions = watched.conditions.into_iter();
    let unknown: Vec<_> = conditions
        .filter(|condition| {
            let at = condition.address;
            !own.conditions.iter().any(|own| lies_in(own.address, ObjectKind::Condition, at))
        })
        .collect();
    own.conditions.extend(unknown);
    let barriers = watched.barriers.into_iter();
    let unknown: Vec<_> = barriers
        .filter(|barrier| {
            let at = barrier.address;
            !own.barriers.iter().any(|own| lies_in(own.address, ObjectKind::Barrier, at))
        })
        .collect();
    own.barriers.extend(unknown);
}

/// Processes that left no recording are known after all if they were watched.
fn see(outside: &mut Outside, watched: &[Process]) {
    let before = outside.unrecorded.len();
    outside
        .unrecorded
        .retain(|image| !watched.iter().any(|process| process.executable == image.executable));
    if outside.unrecorded.len() < before {
        let all_are_known = outside.unrecorded.is_empty();
        outside.running_unrecorded = all_are_known.then_some(0);
    }
}

#[cfg(test)]
mod tests {
    use kilocore_lock_profile::{Lock, Unrecorded, Watching, WhyUnrecorded};

    use super::*;

    fn lock(id: u32, address: u64) -> Lock {
        Lock { id, address, acquisitions: 1, ..Lock::default() }
    }

    fn process(pid: u32, executable: &str, locks: Vec<Lock>) -> Process {
        Process { pid, executable: executable.to_owned(), locks, ..Process::default() }
    }

    fn unrecorded(executable: &str) -> Unrecorded {
        let (pid, executable) = (9, executable.to_owned());
        Unrecorded { pid, executable, why: WhyUnrecorded::Static }
    }

    #[test]
    fn watched_locks_are_added_to_those_recorded() {
        let outside = Outside {
            unrecorded: vec![unrecorded("/go"), unrecorded("/other")],
            running_unrecorded: Some(7),
            ..Outside::default()
        };
        let recorded = Run {
            processes: vec![process(1, "/c", vec![lock(4, 0x1000)])],
            outside: Some(outside),
            ..Run::default()
        };
        let watched = Run {
            processes: vec![
                process(1, "/c", vec![lock(0, 0x1004), lock(1, 0x2000)]),
                process(2, "/go", vec![lock(0, 0x3000)]),
                process(3, "/idle", Vec::new()),
            ],
            watching: Some(Watching::default()),
            ..Run::default()
        };
        let run = together(recorded, watched);
        let locks = |at: usize| -> Vec<(u32, u64)> {
            run.processes[at].locks.iter().map(|lock| (lock.id, lock.address)).collect()
        };
        assert_eq!(run.processes.len(), 2);
        assert_eq!(locks(0), [(4, 0x1000), (5, 0x2000)], "0x1004 lies in the first one");
        assert_eq!(locks(1), [(0, 0x3000)]);
        let outside = run.outside.expect("it was looked at");
        assert_eq!(outside.unrecorded, [unrecorded("/other")]);
        assert_eq!(outside.running_unrecorded, None);
        assert!(run.watching.is_some());
    }
}
