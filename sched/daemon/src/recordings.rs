//! What the measuring library records in programs that are started with it, read while they run.
//!
//! Each process maps a file in a folder of ours and counts there. The counts are words that only grow, so a
//! window is a difference between two readings, and nobody waits for anybody. A word is written and read as
//! a whole; words that belong together may be read a moment apart, which the next window makes good. A block
//! that is just being made cannot be read; what is behind it is then read a moment later, or in the next
//! window.
//!
//! The files of processes that are gone are removed at once, so that a build with thousands of them does not
//! fill the memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use kilocore_linux::cycles;
use kilocore_lock_profile::{Family, LockCounts, Recording};
use kilocore_process::recording_folder::{Folder, process_of};
use kilocore_sched_policy::Nanos;

use crate::named::Named;
use crate::tree::Tree;

/// What the library's file is called, without its ending.
const LIBRARY: &str = "libkilocore_measure";

/// A file that is being changed is read so many times at most in a window.
const TRIES: u32 = 3;

/// A process has so many windows in which to load the library and take its first lock.
const PATIENCE: u32 = 3;

/// What happened to a lock in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Recent {
    /// Its address; `None` if it stands for all locks of a place in the code.
    pub(crate) address: Option<u64>,
    pub(crate) family: Family,
    /// How often it was acquired.
    pub(crate) acquired: u64,
    /// How long threads waited for it, all together, who got it in the window.
    pub(crate) waited: Nanos,
    /// How many threads waited for it at the window's end.
    pub(crate) waiters: u32,
}

/// What was read last of a lock.
#[derive(Debug, Clone, Copy, Default)]
struct Before {
    acquired: u64,
    cycles: u64,
}

/// What is known of a process.
#[derive(Debug, Default)]
struct Process {
    /// The name of its recording in the folder.
    name: String,
    locks: BTreeMap<u32, Before>,
    /// Of one without a recording: the file that it executes, and how often the library was not there.
    image: PathBuf,
    missing: u32,
}

/// Reads the recordings of a folder.
#[derive(Debug)]
pub(crate) struct Recordings {
    folder: Folder,
    processes: BTreeMap<Named, Process>,
    cycles: u64,
    acquired: u64,
    /// The most processes at a time without the library.
    without: usize,
}

impl Recordings {
    /// Makes the folder into which programs record.
    pub(crate) fn begin(folder: PathBuf) -> io::Result<Self> {
        let folder = Folder::make(folder)?;
        Ok(Self { folder, processes: BTreeMap::new(), cycles: cycles(), acquired: 0, without: 0 })
    }

    /// How often locks were acquired so far.
    pub(crate) fn acquired(&self) -> u64 {
        self.acquired
    }

    /// Says of how many processes the locks are not recorded, if of any.
    pub(crate) fn unseen(&self) -> Option<String> {
        (self.without > 0).then(|| {
            format!(
                "the locks of {} processes that do not load the measuring library, such as static ones, \
                 but for what other sources show",
                self.without
            )
        })
    }

    /// What happened to all locks of each process since the last call, which is so long ago.
    pub(crate) fn take(&mut self, tree: &Tree, length: Nanos) -> BTreeMap<Named, Vec<Recent>> {
        let now = cycles();
        let passed = now.saturating_sub(self.cycles).max(1);
        self.cycles = now;
        let alive: BTreeSet<Named> = tree.threads().map(|thread| thread.process).collect();
        let mut files = self.files(&alive);
        self.processes.retain(|process, _| alive.contains(process));
        let mut taken = BTreeMap::new();
        let mut without = 0;
        for process in alive {
            let known = self.processes.entry(process).or_default();
            match files.remove(&process.id) {
                Some(name) => {
                    if known.name != name {
                        *known = Process { name, ..Process::default() };
                    }
                    let counts = read(&self.folder.path().join(&known.name)).unwrap_or_default();
                    let recent = |counts: &LockCounts| known.recent(counts, length, passed);
                    let recent: Vec<Recent> = counts.iter().map(recent).collect();
                    self.acquired += recent.iter().map(|lock| lock.acquired).sum::<u64>();
                    taken.insert(process, recent);
                }
                None => without += usize::from(known.is_without_library(process.id)),
            }
        }
        self.without = self.without.max(without);
        taken
    }

    /// The name of the newest recording of each process. Files of others are removed.
    fn files(&self, alive: &BTreeSet<Named>) -> BTreeMap<u32, String> {
        let mut newest: BTreeMap<u32, (u64, String)> = BTreeMap::new();
        let names = fs::read_dir(self.folder.path()).into_iter().flatten().flatten();
        for name in names.filter_map(|entry| entry.file_name().into_string().ok()) {
            let Some((pid, moment)) = process_of(&name) else { continue };
            let process = Named { id: pid, started: 0 };
            let ours = alive.range(process..).next().is_some_and(|of| of.id == pid);
            if !ours && !Path::new(&format!("/proc/{pid}")).exists() {
                let _ = fs::remove_file(self.folder.path().join(&name));
            } else if let Some((than, older)) = newest.get_mut(&pid) {
                // The process has executed another program.
                let over = if moment > *than {
                    *than = moment;
                    std::mem::replace(older, name)
                } else {
                    name
                };
                let _ = fs::remove_file(self.folder.path().join(over));
            } else {
                newest.insert(pid, (moment, name));
            }
        }
        newest.into_iter().map(|(pid, (_, name))| (pid, name)).collect()
    }
}

impl Process {
    fn recent(&mut self, counts: &LockCounts, length: Nanos, passed: u64) -> Recent {
        let before = self.locks.entry(counts.block).or_default();
        let waited = counts.waited_cycles.saturating_sub(before.cycles);
        let waited = u128::from(waited) * u128::from(length.0) / u128::from(passed);
        let acquired = counts.acquired.saturating_sub(before.acquired);
        *before = Before { acquired: counts.acquired, cycles: counts.waited_cycles };
        Recent {
            address: counts.address,
            family: counts.family,
            acquired,
            waited: Nanos(u64::try_from(waited).unwrap_or(u64::MAX)),
            waiters: counts.waiters,
        }
    }

    /// Whether a process that has no recording has not loaded the library either, though it had time to.
    fn is_without_library(&mut self, pid: u32) -> bool {
        let image = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
        if image != self.image {
            (self.image, self.missing) = (image, 0);
        }
        if self.missing < PATIENCE {
            let maps = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
            let mut names = maps.windows(LIBRARY.len());
            self.missing += u32::from(!names.any(|bytes| bytes == LIBRARY.as_bytes()));
        }
        self.missing >= PATIENCE
    }
}

/// Reads the counts of a recording; `None` if nothing can be read now.
fn read(path: &Path) -> Option<Vec<LockCounts>> {
    let recording = (0..TRIES).find_map(|_| Recording::open(path).ok())?;
    Some(recording?.lock_counts())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording_folder::recordings_folder;

    #[test]
    fn what_a_lock_counted_before_the_window_is_not_of_the_window() {
        let mut process = Process::default();
        let counts = |acquired, waited_cycles| LockCounts {
            block: 7,
            address: Some(64),
            family: Family::Mutex,
            acquired,
            waited_cycles,
            waiters: 0,
        };
        let mut window = |counts| {
            let recent = process.recent(&counts, Nanos(1_000), 4_000);
            (recent.acquired, recent.waited.0)
        };
        assert_eq!(window(counts(5, 2_000)), (5, 500));
        assert_eq!(window(counts(8, 2_400)), (3, 100));
        assert_eq!(window(counts(8, 2_400)), (0, 0));
        assert_eq!(window(counts(0, 0)), (0, 0), "a damaged one that counts backwards");
    }

    #[test]
    fn of_several_recordings_of_a_process_the_newest_stays_and_those_of_the_dead_go() {
        let folder = recordings_folder().expect("a plain path");
        let recordings = Recordings::begin(folder.clone()).expect("room");
        let name = |process: &str| format!("{process}-{}.kcrec", "0".repeat(32));
        // No process has such a number.
        for process in ["1-20", "1-100", "1-3", "4194305-9"] {
            fs::write(folder.join(name(process)), "").expect("room");
        }
        // What is not named like a recording is none, however it may be meant.
        for other in ["1.lost", "1-101.kcrec"] {
            fs::write(folder.join(other), "").expect("room");
        }
        let newest = recordings.files(&BTreeSet::from([Named { id: 1, started: 5 }]));
        assert_eq!(newest, BTreeMap::from([(1, name("1-100"))]));
        let mut left: Vec<_> = fs::read_dir(&folder)
            .expect("a folder")
            .map(|entry| entry.unwrap().file_name())
            .filter(|name| name != "broker")
            .collect();
        left.sort();
        assert_eq!(left, [name("1-100").as_str(), "1-101.kcrec", "1.lost"]);
        drop(recordings);
        assert!(!folder.exists());
    }
}
