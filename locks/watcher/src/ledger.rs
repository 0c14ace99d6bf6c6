//! What a session adds up to.

use std::collections::{BTreeMap, BTreeSet};

use kilocore_figures::Nanoseconds;

use crate::calls::Reason;
use crate::cost::HitCost;
use crate::ids::{Pid, Tid, Word};
use crate::java::Java;
use crate::java_locks::{FoundWaiter, JavaLocks};
use crate::progress::Computing;
use crate::registers::Registers;
use crate::watched::Watched;
use crate::watchpoints::Refused;

/// If the writers of a word spend such a share of their processor time spinning for it, they spin.
const SPINS: f64 = 0.03;
/// How many copies of stacks are kept of a word's waiters and of its writers.
const STACKS: usize = 32;
/// How many are kept of a thread, of these in a window, and of all threads.
const OF_THREAD: usize = 12;
const OF_THREAD_IN_WINDOW: usize = 4;
const OF_ALL_THREADS: usize = 1024;

/// A place where a thread waited or released, to be unwound.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    pub(crate) registers: Registers,
    pub(crate) stack: Vec<u8>,
    /// The time that was waited there.
    pub(crate) waited: Nanoseconds<f64>,
    /// Whether the thread has just entered a function.
    pub(crate) at_entry: bool,
}

/// The waits for a word.
#[derive(Debug, Clone, Default)]
pub(crate) struct Waits {
    /// Time that threads slept or spun for it in windows.
    pub(crate) waited: Nanoseconds<f64>,
    /// How much of that was spent spinning.
    pub(crate) spun: Nanoseconds<f64>,
    /// Calls of a function that waits for it, where those who wait do not sleep on it.
    pub(crate) called: u64,
    /// The time for which threads stand that were found waiting for it elsewhere.
    pub(crate) found: Nanoseconds<f64>,
    /// Waits of goroutines in windows in which their calls were watched, and the time of these.
    pub(crate) parked: u64,
    pub(crate) parked_time: Nanoseconds<f64>,
    /// Waits that began in windows.
    pub(crate) count: u64,
    pub(crate) threads: BTreeSet<Tid>,
    pub(crate) scenes: Vec<Scene>,
    /// Whether other processes may wait for it as well.
    pub(crate) shared: bool,
    /// Whether it was looked at which lock's they are.
    pub(crate) looked_at: bool,
    /// Where it was held, as of writes to it.
    pub(crate) writers: Vec<Scene>,
}

/// What the session adds up to.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) waits: BTreeMap<Word, Waits>,
    pub(crate) watched: BTreeMap<Word, Watched>,
    /// How many windows there were, their length, and that of those that saw all switches.
    pub(crate) windows: u64,
    pub(crate) window_time: Nanoseconds<f64>,
    pub(crate) surveyed: Nanoseconds<f64>,
    /// The length of those in which calls of a process were watched.
    pub(crate) probed: BTreeMap<Pid, Nanoseconds<f64>>,
    /// Words of a lock at which its waiters sleep, and the word of the same lock that tells who has
    /// it.
    pub(crate) aliases: BTreeMap<Word, Word>,
    /// Time of threads off their cores for a reason that is not known, and of all threads.
    pub(crate) unknown: Nanoseconds<f64>,
    pub(crate) thread_time: Nanoseconds<f64>,
    /// Time that threads waited for others to end.
    pub(crate) joining: Nanoseconds<f64>,
    /// Time that threads slept in system calls other than futexes, by call; that they ran or were
    /// ready; and that exactly one was.
    pub(crate) asleep: BTreeMap<&'static str, Nanoseconds<f64>>,
    pub(crate) running: Nanoseconds<f64>,
    /// Whether the timer ever found a thread.
    pub(crate) ticked: bool,
    pub(crate) one_awake: Nanoseconds<f64>,
    /// How long each thread ran in windows, and how long the threads of each process ran in the
    /// whole time.
    pub(crate) ran: BTreeMap<Tid, Nanoseconds<f64>>,
    pub(crate) cpu_time: BTreeMap<Pid, Nanoseconds<f64>>,
    /// Where each thread was lately when it left its core or a timer found it, with the number of the
    /// window.
    pub(crate) stacks: BTreeMap<Tid, Vec<(u64, Scene)>>,
    /// Where threads of Java waited.
    pub(crate) java: Java,
    /// Which words are those of Java's locks.
    pub(crate) java_locks: JavaLocks,
    /// How often a thread left its core by its own will.
    pub(crate) voluntary: u64,
    /// What watching cost the program, by estimate.
    pub(crate) cost: Nanoseconds<f64>,
    /// The costs of a hit, as measured before the windows.
    pub(crate) hit_costs: Vec<HitCost>,
    pub(crate) refused: Option<Refused>,
}

impl Ledger {
    /// A thread slept for a reason. Returns all the waits for the word, if that is the reason.
    pub(crate) fn slept(
        &mut self,
        reason: Reason,
        tid: Tid,
        time: Nanoseconds<f64>,
    ) -> Option<&mut Waits> {
        match reason {
            Reason::Futex(word) => return Some(self.waited(word, tid, time)),
            Reason::Join => self.joining += time,
            Reason::Call(call) => *self.asleep.entry(call.name()).or_default() += time,
            Reason::NoCall => *self.asleep.entry("-").or_default() += time,
            Reason::Unknown => self.unknown += time,
        }
        None
    }

    /// A thread slept or spun for a word. Returns all the waits for it.
    pub(crate) fn waited(&mut self, word: Word, tid: Tid, time: Nanoseconds<f64>) -> &mut Waits {
        let word = self.aliases.get(&word).copied().unwrap_or(word);
        let waits = self.waits.entry(word).or_default();
        waits.waited += time;
        waits.threads.insert(tid);
        waits
    }

    /// Keeps where a thread was, if it was seen and there is room.
    pub(crate) fn keep_stack(&mut self, tid: Tid, registers: Option<Registers>, stack: &[u8]) {
        let (Some(registers), false) = (registers, stack.is_empty()) else { return };
        let window = self.windows;
        let all: usize = self.stacks.values().map(Vec::len).sum();
        let stacks = self.stacks.entry(tid).or_default();
        // What a thread does when it has just begun says little of what it is.
        if stacks.len() == OF_THREAD {
            let first = stacks[0].0;
            stacks.retain(|(of, _)| *of != first || *of == window);
        }
        let in_window = stacks.iter().filter(|(of, _)| *of == window).count();
        if stacks.len() < OF_THREAD && in_window < OF_THREAD_IN_WINDOW && all < OF_ALL_THREADS {
            let stack = stack.to_vec();
            stacks.push((
                window,
                Scene { registers, stack, waited: Nanoseconds(0.0), at_entry: false },
            ));
        }
    }

    /// A goroutine waited so long.
    pub(crate) fn parked(&mut self, word: Word, time: Nanoseconds<f64>) {
        let waits = self.waits.entry(word).or_default();
        waits.parked += 1;
        waits.parked_time += time;
    }

    /// The waiters of a lock sleep on a word, and another one tells who has it.
    pub(crate) fn is_alias(&mut self, word: Word, of: Word) {
        self.aliases.insert(word, of);
        self.watched.remove(&word);
        let waits = self.waits.remove(&word);
        let all = self.waits.entry(of).or_default();
        all.looked_at = true;
        if let Some(mut waits) = waits {
            all.waited += waits.waited;
            all.spun += waits.spun;
            all.count += waits.count;
            all.threads.append(&mut waits.threads);
            waits.scenes.into_iter().for_each(|scene| all.keep(scene));
        }
    }

    /// Forgets a process, which has executed another program, and whose threads were these.
    pub(crate) fn forget(&mut self, pid: Pid, threads: &BTreeSet<Tid>) {
        self.stacks.retain(|tid, _| !threads.contains(tid));
        self.ran.retain(|tid, _| !threads.contains(tid));
        self.waits.retain(|word, _| word.pid != pid);
        self.watched.retain(|word, _| word.pid != pid);
        self.aliases.retain(|word, _| word.pid != pid);
        self.java.forget(pid);
        self.java_locks.forget(pid);
    }

    /// A thread was found waiting for a lock of Java, on whose word it does not sleep. That stands for
    /// so much time.
    pub(crate) fn found_waiting(&mut self, found: FoundWaiter, time: Nanoseconds<f64>) {
        if let Some(before) = found.moved_from {
            let (waits, watched) = (self.waits.remove(&before), self.watched.remove(&before));
            self.waits.extend(waits.map(|waits| (found.word, waits)));
            self.watched.extend(watched.map(|watched| (found.word, watched)));
        }
        let waits = self.waited(found.word, found.tid, Nanoseconds(0.0));
        waits.called += 1;
        waits.found += time;
    }

    /// Finds out which locks of Java are still where they were, and forgets those that are no more.
    pub(crate) fn check_java_locks(&mut self) {
        for word in self.java_locks.check() {
            self.waits.remove(&word);
            self.watched.remove(&word);
        }
    }

    /// The processor time of a process and of those who write to a word of it, in a second, unless
    /// its waiters spin. `threads` are all those of the process, and the whole time was so long.
    pub(crate) fn computing(
        &self,
        word: Word,
        threads: &BTreeSet<Tid>,
        wall_time: Nanoseconds<f64>,
    ) -> Option<Computing> {
        let ran = |tids: &BTreeSet<Tid>| -> Nanoseconds<f64> {
            tids.iter().filter_map(|tid| self.ran.get(tid)).copied().sum()
        };
        let all = ran(threads);
        let writers = ran(&self.watched.get(&word)?.writers);
        let seconds = *self.cpu_time.get(&word.pid)? / wall_time;
        let spun = self.waits.get(&word).map_or(Nanoseconds(0.0), |waits| waits.spun);
        let computing = Computing { all: seconds, writers: seconds * writers.0 / all.0 };
        (all > Nanoseconds(0.0) && spun < writers * SPINS).then_some(computing)
    }

    /// What the last hit cost whose cost was measured.
    pub(crate) fn hit_cost(&self) -> Option<HitCost> {
        self.hit_costs.last().copied()
    }
}

impl Waits {
    /// Keeps where a thread waited, if there is room.
    pub(crate) fn keep(&mut self, scene: Scene) {
        keep_in(&mut self.scenes, scene);
    }

    /// Keeps where a thread wrote to the word, if there is room.
    pub(crate) fn keep_writer(&mut self, scene: Scene) {
        keep_in(&mut self.writers, scene);
    }
}

fn keep_in(scenes: &mut Vec<Scene>, scene: Scene) {
    if scenes.len() < STACKS && !scene.stack.is_empty() {
        scenes.push(scene);
    }
}
