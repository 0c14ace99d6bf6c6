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
pub(crate) type Wait<'a> = &'a mut dyn FnMut(Duration) -> bool;

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

    /// Chooses the threads that are followed in the next window, where not all are.
    pub(crate) fn follow(&mut self, threads: &BTreeMap<Tid, Pid>, chance: &mut impl Rng) {
        if let Self::Threads(own) = self {
            own.threads.follow(threads, chance);
        }
    }

    /// Whether it is recorded when a thread leaves its core.
    pub(crate) fn follows(&self, tid: Tid) -> bool {
        match self {
            Self::Cores(_) => true,
            Self::Threads(own) => own.threads.follows(tid),
        }
    }

    /// Begins a window: from now on it is recorded what was asked for.
    pub(crate) fn begin(&mut self, asked: &Asked<'_>) -> io::Result<()> {
        match self {
            Self::Cores(cores) => cores.begin(asked.stacks),
            Self::Threads(own) => own.begin(asked),
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

    /// Ends the window: nothing is recorded from now on. What was recorded stays in the buffers.
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
                window.traced = cores.traces();
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

    fn begin(&mut self, asked: &Asked<'_>) -> io::Result<()> {
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
    use std::sync::mpsc;

    use rand_core::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::calls::Calls;
    use crate::cost;
    use crate::ids::{Moment, Word};
    use crate::memory::Code;
    use crate::off_core::{Off, Why, off_core};

    /// Sleeps in a futex that nobody wakes, again and again.
    fn sleep_on(word: &AtomicU32, over: &AtomicBool) {
        let time = libc::timespec { tv_sec: 0, tv_nsec: 300_000 };
        while !over.load(Ordering::Relaxed) {
            let wait = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
            // SAFETY: the word and the time are valid while the call lasts, and the word stays 0.
            unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), wait, 0, &raw const time) };
        }
    }

    /// Ends that when it is dropped.
    struct End<'a>(&'a AtomicBool);

    impl Drop for End<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    /// Two windows of a thread that does so. Returns how many of its waits in the second one are
    /// known, and of how many.
    fn waits_known(mut source: Source, own: Pid, tid: Tid, word: Word) -> (usize, usize) {
        let threads = BTreeMap::from([(tid, own)]);
        let mut chance = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut known = (0, 0);
        for _ in 0..2 {
            let asked = Asked { threads: &threads, stacks: false, watched: false };
            source.follow(&threads, &mut chance);
            source.begin(&asked).expect("it was opened");
            let mut window = Window { begin: Moment::now(), ..Window::default() };
            let mut wait = |time| {
                std::thread::sleep(time);
                false
            };
            source.wait(Duration::from_millis(60), &asked, &mut chance, &mut wait);
            window.end = Moment::now();
            source.end().expect("it was opened");
            source.give(&mut window, &BTreeSet::from([own]));
            assert!(!window.lost_switches && !window.reasons_unseen);
            let off = off_core(&window, &mut Calls::default(), &mut Code::default());
            let waits: Vec<_> = off.iter().filter(|off| off.why != Why::Preempted).collect();
            assert!(waits.iter().all(|off| off.tid == tid));
            // What the registers hold at the call, by whatever name it is called.
            let of_word =
                |off: &&&Off| off.registers.is_some_and(|held| held.arguments()[0] == word.address);
            known = (waits.iter().filter(of_word).count(), waits.len());
        }
        known
    }

    #[test]
    fn own_threads_show_what_they_wait_for_with_the_kernel_or_without() {
        let (word, over) = (AtomicU32::new(0), AtomicBool::new(false));
        let (tell, told) = mpsc::channel();
        let own = Pid(std::process::id());
        std::thread::scope(|scope| {
            // Also if an assertion fails.
            let _end = End(&over);
            scope.spawn(|| {
                // SAFETY: takes no argument.
                tell.send(Tid(unsafe { libc::gettid() } as u32)).expect("somebody waits");
                sleep_on(&word, &over);
            });
            let tid = told.recv().expect("it was started");
            let word = Word { pid: own, address: word.as_ptr() as u64 };
            for user_space_only in [false, true] {
                let source = match OwnThreads::open() {
                    Ok(mut own) => {
                        own.threads.hide_kernel(user_space_only);
                        Source::Threads(own)
                    }
                    // Machines that refuse even this say so.
                    Err(error) => {
                        assert!(error.to_string().contains("perf"), "{error}");
                        break;
                    }
                };
                let rights = source.rights();
                let (known, all) = waits_known(source, own, tid, word);
                assert!(all > 0, "{rights:?}: it was seen to sleep");
                if rights == Rights::OwnThreads || cost::of_a_hit().is_some() {
                    assert!(known * 10 >= all * 9, "{rights:?}: {known} of {all}");
                }
            }
        });
    }
}
