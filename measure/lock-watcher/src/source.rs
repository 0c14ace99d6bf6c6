//! Where the records of a window come from: all cores, or the program's threads one by one.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::{Duration, Instant};

use kilocore_lock_profile::Rights;
use rand_core::Rng;

use crate::cores::Cores;
use crate::error::WatchError;
use crate::ids::{Pid, Tid};
use crate::looks::Looks;
use crate::threads::Threads;
use crate::watchpoints::MOST;
use crate::window::Window;

/// How often threads are looked at in a window.
const LOOKS: u32 = 4;

/// What is to be recorded, and of whom.
pub(crate) struct Asked<'a> {
    /// The threads of the program.
    pub(crate) threads: &'a BTreeMap<Tid, Pid>,
    /// Whether stacks are copied at switches.
    pub(crate) stacks: bool,
    /// Whether the processor watches something else in this window.
    pub(crate) watched: bool,
}

/// Waits for so long, and returns whether it is over.
type Wait<'a> = &'a mut dyn FnMut(Duration) -> bool;

/// Where records come from.
#[derive(Debug)]
pub(crate) enum Source {
    /// All cores: root and those who have the right see everything.
    Cores(Cores),
    /// The threads of the program, if they belong to whoever watches.
    Threads(Box<OwnThreads>),
}

/// The threads, and looks at them in windows.
#[derive(Debug)]
pub(crate) struct OwnThreads {
    threads: Threads,
    looks: Looks,
    bytes: Vec<u8>,
    /// Whether it cannot be seen in this window why threads leave their cores.
    reasons_unseen: bool,
}

impl Source {
    /// Opens all cores; threads, if the kernel refuses cores to this user.
    ///
    /// # Errors
    /// If it refuses both.
    pub(crate) fn open() -> Result<Self, WatchError> {
        match Cores::open() {
            Ok(cores) => Ok(Self::Cores(cores)),
            Err(error) if error.is_refusal() => OwnThreads::open().map(Self::Threads),
            Err(error) => Err(error),
        }
    }

    /// What this user may see.
    pub(crate) fn rights(&self) -> Rights {
        match self {
            Self::Cores(_) => Rights::WholeCores,
            Self::Threads(own) if own.threads.user_space_only() => Rights::OwnThreadsInUserSpace,
            Self::Threads(_) => Rights::OwnThreads,
        }
    }

    /// The share of threads that were followed, where they are followed one by one.
    pub(crate) fn followed_share(&self) -> Option<f64> {
        match self {
            Self::Cores(_) => None,
            Self::Threads(own) => Some(own.threads.followed_share()),
        }
    }

    /// Whether the processor's watchpoints are needed to see why threads leave their cores.
    pub(crate) fn needs_watchpoints(&self) -> bool {
        self.rights() == Rights::OwnThreadsInUserSpace
    }

    /// Begins a window.
    pub(crate) fn begin(&mut self, asked: &Asked<'_>, chance: &mut impl Rng) -> io::Result<()> {
        match self {
            Self::Cores(cores) => cores.begin(asked.stacks),
            Self::Threads(own) => own.begin(asked, chance),
        }
    }

    /// Waits while a window lasts. Returns whether all is over after it.
    pub(crate) fn wait(
        &mut self,
        length: Duration,
        asked: &Asked<'_>,
        chance: &mut impl Rng,
        wait: Wait<'_>,
    ) -> bool {
        match self {
            Self::Threads(own) if own.threads.user_space_only() => {
                own.wait(length, asked, chance, wait)
            }
            _ => wait(length),
        }
    }

    /// Ends the window.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        match self {
            Self::Cores(cores) => cores.end(),
            Self::Threads(own) => own.threads.end(),
        }
    }

    /// Moves what was recorded into the window, as far as it is about `members`, and sorts it.
    pub(crate) fn give(&mut self, window: &mut Window, members: &BTreeSet<Pid>) {
        match self {
            Self::Cores(cores) => {
                let mut bytes = Vec::new();
                cores.drain(&mut bytes);
                window.take_switches(&|id| cores.kind(id), &bytes, members);
                window.sort();
            }
            Self::Threads(own) => own.give(window, members),
        }
    }

    /// Forgets what was known of a process, which executes another program now.
    pub(crate) fn forget(&mut self, pid: Pid) {
        if let Self::Threads(own) = self {
            own.looks.forget(|known| known == pid);
        }
    }
}

impl OwnThreads {
    fn open() -> Result<Box<Self>, WatchError> {
        let (threads, looks) = (Threads::open()?, Looks::default());
        Ok(Box::new(Self { threads, looks, bytes: Vec::new(), reasons_unseen: false }))
    }

    fn begin(&mut self, asked: &Asked<'_>, chance: &mut impl Rng) -> io::Result<()> {
        self.threads.follow(asked.threads, chance);
        let entries = self.entries(asked);
        self.bytes.clear();
        self.threads.begin(asked.threads, asked.stacks, &entries)
    }

    /// Where the threads of each process enter the system calls that they sleep in, to be watched
    /// by the processor.
    ///
    /// It has too few watchpoints for these places and for words. And each hit of a place delays a
    /// thread, so that a lock whose word is watched at the same time would be taken less often than
    /// it is by itself.
    fn entries(&mut self, asked: &Asked<'_>) -> BTreeMap<Pid, Vec<u64>> {
        self.reasons_unseen = self.threads.user_space_only() && asked.watched;
        if asked.watched || !self.threads.user_space_only() {
            return BTreeMap::new();
        }
        let pids: BTreeSet<Pid> = asked.threads.values().copied().collect();
        self.looks.forget(|pid| !pids.contains(&pid));
        pids.into_iter().map(|pid| (pid, self.looks.places(pid, MOST))).collect()
    }

    /// Waits, and looks at the threads at random moments meanwhile.
    fn wait(
        &mut self,
        length: Duration,
        asked: &Asked<'_>,
        chance: &mut impl Rng,
        wait: Wait<'_>,
    ) -> bool {
        let begin = Instant::now();
        let mut moments: Vec<Duration> = (0..LOOKS)
            .map(|_| length.mul_f64(f64::from(chance.next_u32()) / f64::from(u32::MAX)))
            .collect();
        moments.sort_unstable();
        for moment in moments {
            if wait(moment.saturating_sub(begin.elapsed())) {
                return true;
            }
            self.looks.look(asked.threads, asked.stacks, chance);
            // Buffers are small.
            self.threads.drain(&mut self.bytes);
        }
        wait(length.saturating_sub(begin.elapsed()))
    }

    fn give(&mut self, window: &mut Window, members: &BTreeSet<Pid>) {
        self.threads.drain(&mut self.bytes);
        window.take_switches(&|id| self.threads.kind(id), &self.bytes, members);
        window.sort();
        window.reasons_unseen = self.reasons_unseen;
        self.looks.tell(window);
    }
}
