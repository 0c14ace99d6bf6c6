//! Watching a program: one window after the other, until time is up or the program has ended.
//!
//! In every window all switches and a timer are recorded. They tell which words threads wait for,
//! asleep or spinning. In most windows a few of these words are watched as well. How long a pause
//! follows a window depends on what it cost, so that all together costs the program no more than a
//! small share of its time.

mod absorb;
mod rest;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::word_names::{Files, Names};
use kilocore_linux::{processor_time, thread_time};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::budget::Budget;
use crate::calls::Calls;
use crate::cost::{self, STACK_NS, SWITCH_NS, TRACE_NS};
use crate::error::WatchError;
use crate::family::Family;
use crate::ids::{Moment, Pid, Tid, Word};
use crate::instruction::Site;
use crate::ledger::Ledger;
use crate::memory::Code;
use crate::slow_paths::{SlowPath, SlowPaths};
use crate::source::{Asked, Source, Wait};
use crate::spins::Loops;
use crate::times::Times;
use crate::watched::{LONGEST, Watched};
use crate::watchpoints::{MOST, MOST_THREADS, Refused, Spot, Watchpoints};
use crate::window::Window;
use kilocore_figures::Nanoseconds;

/// The length of a window without watchpoints.
const SURVEY: Duration = Duration::from_millis(20);
/// The shortest window in which stacks are copied. If its copies are lost as well, they stay unknown.
const SHORTEST_OF_STACKS: Duration = Duration::from_micros(300);
/// The shortest window without stacks, however much is lost.
const SHORTEST: Duration = Duration::from_millis(1);
/// Of so many windows, the first has no watchpoints.
const ROUND: u64 = 4;
/// Of so many threads, one is watched where few are to be.
const FEW_OF: usize = 8;
/// Of very many threads, so many are watched at least.
const LEAST_THREADS: usize = 16;
/// In so many windows, all threads are watched before few may be.
const ALL_FIRST: usize = 3;
/// A call of a function that waits for a lock counts like so much time of waiting, when it
/// is about which word to watch.
const CALL: Nanoseconds<f64> = Nanoseconds(10e3);
/// By how much sooner a word is watched that is known to be a lock.
const KNOWN_TO_BE_ONE: f64 = 4.0;
/// How much of a stack is copied at a release.
const HOLDERS_STACK: u32 = 4096;

/// What is to be recorded in a window.
#[derive(Debug)]
struct Plan {
    /// The words to watch, all of one process; none in a survey.
    words: Vec<Word>,
    /// Whether few of the threads are watched.
    few: bool,
    /// In a survey, the process of which calls are watched, if any is, and the functions.
    probed: Option<(Pid, Vec<SlowPath>)>,
    /// Whether stacks are copied at switches, and at writes to the words.
    stacks: bool,
    holders: bool,
}

/// The watching of one program, window by window.
pub(crate) struct Session {
    pub(crate) source: Source,
    pub(crate) family: Family,
    pub(crate) ledger: Ledger,
    code: Code,
    calls: Calls,
    loops: Loops,
    /// Made while a process is there, so that its addresses have names when it is gone.
    pub(crate) names: BTreeMap<Pid, Names>,
    files: Files,
    slow_paths: BTreeMap<Pid, SlowPaths>,
    pub(crate) times: Times,
    sites: BTreeMap<(Word, u64), Option<Site>>,
    /// The threads that were seen to do anything in windows.
    lively: BTreeSet<Tid>,
    /// How long windows with copies of stacks are, and whether the last one was too long: where
    /// threads leave their cores all the time, buffers are full long before a survey's end.
    stacks_for: Duration,
    stacks_lost: bool,
    /// How long other windows are at most. On a machine where much happens, the buffers of cores fill
    /// with what others do.
    most: Duration,
    chance: Xoshiro256PlusPlus,
    budget: Budget,
    began: Moment,
    number: u64,
    own_before: Duration,
}

impl Session {
    pub(crate) fn new(family: Family, budget: Budget, seed: u64) -> Result<Self, WatchError> {
        Ok(Self {
            source: Source::open()?,
            family,
            ledger: Ledger::default(),
            code: Code::default(),
            calls: Calls::default(),
            loops: Loops::default(),
            names: BTreeMap::new(),
            files: Files::default(),
            slow_paths: BTreeMap::new(),
            times: Times::default(),
            sites: BTreeMap::new(),
            lively: BTreeSet::new(),
            stacks_for: SURVEY,
            stacks_lost: false,
            most: LONGEST,
            chance: Xoshiro256PlusPlus::seed_from_u64(seed),
            budget,
            began: Moment::now(),
            number: 0,
            own_before: thread_time(),
        })
    }

    /// Goes on until `wait` says that it is over, or there is no thread left.
    pub(crate) fn run(&mut self, wait: Wait<'_>) {
        self.began = Moment::now();
        loop {
            self.family.look();
            self.forget_former_images();
            if !self.family.is_there() {
                return;
            }
            let plan = self.plan();
            let (window, over) = self.window(&plan, wait);
            // What was recorded of one program must not be read as another's.
            if self.family.executing_anew().is_empty() {
                self.absorb(&window, &plan);
                self.keep_names();
            }
            self.find_aliases();
            self.ask_java();
            self.number += 1;
            if over || self.rest(&window, wait) {
                return;
            }
        }
    }

    /// What to record in the next window.
    fn plan(&mut self) -> Plan {
        self.ledger.check_java_locks();
        let words = self.choose();
        let few = self.few(&words);
        // Now and then, the processor is needed for something else.
        let turn = !self.source.needs_watchpoints() || !self.number.is_multiple_of(2 * ROUND);
        // Some surveys have switches and the timer alone. What threads do on a core is not seen where calls hit
        // something, nor in the short windows with stacks of a program that switches all the time.
        let alone = self.number % (4 * ROUND) == ROUND;
        let probed = if words.is_empty() && turn && !alone { self.probed() } else { None };
        let often = self.number < 2 || self.number.is_multiple_of(2 * ROUND);
        let stacks = (often || self.stacks_lost) && words.is_empty() && !alone;
        // Stacks of holders are copied in the first windows, and now and then.
        let holders = self.number % (4 * ROUND) == 1;
        Plan { words, few, probed, stacks, holders }
    }

    /// The words to watch in the next window, all of one process; none in a survey. Words are
    /// watched one at a time, as each costs the program time that would seem to be spent for the
    /// others.
    fn choose(&mut self) -> Vec<Word> {
        let survey = self.number.is_multiple_of(ROUND) || self.calls_are_new();
        if survey || self.ledger.refused.is_some() {
            return Vec::new();
        }
        let mut scored: Vec<(f64, Word)> = self
            .ledger
            .waits
            .iter()
            .filter(|(word, _)| self.family.members.contains(&word.pid))
            .filter(|(word, _)| !self.ledger.java_locks.is_lost(**word))
            // Of channels, only the waits tell something.
            .filter(|(_, waits)| waits.waited > Nanoseconds(0.0) || waits.called > 0)
            .map(|(word, waits)| {
                let ignorance = self.ledger.watched.get(word).map_or(1.0, Watched::ignorance);
                // A word that only one thread ever waits for is that thread's own, as a rule.
                let alone = if waits.threads.len() > 1 || waits.shared { 1.0 } else { 0.01 };
                // Where nobody was seen to come or go, hardly anybody writes.
                let still = waits.count == 0 && waits.called == 0 && waits.parked == 0;
                let still = if still { 0.1 } else { 1.0 };
                let of_java = self.ledger.java_locks.what(*word).is_some();
                let known = if of_java { KNOWN_TO_BE_ONE } else { 1.0 };
                // Chance gives each a turn, also one whose waits are few.
                let chance = about_one(&mut self.chance);
                let elsewhere = waits.parked_time + waits.found + CALL * waits.called as f64;
                let time = (waits.waited + elsewhere).0;
                (time * ignorance * alone * still * known * chance, *word)
            })
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let Some((_, first)) = scored.first().copied() else { return Vec::new() };
        if self.ledger.watched.contains_key(&first) {
            return vec![first];
        }
        // What nobody has looked at yet is looked at together. Two words may share the four bytes
        // that are watched.
        let mut spots = BTreeSet::new();
        let unknown = scored
            .into_iter()
            .map(|(_, word)| word)
            .filter(|word| word.pid == first.pid && !self.ledger.watched.contains_key(word));
        unknown.filter(|word| spots.insert(word.bytes().start)).take(MOST).collect()
    }

    /// Records a window. Returns whether all is over after it.
    fn window(&mut self, plan: &Plan, wait: Wait<'_>) -> (Window, bool) {
        let mut window = Window::default();
        self.source.follow(&self.family.threads, &mut self.chance);
        let watchpoints = match &plan.probed {
            Some((pid, paths)) => self.probe(*pid, paths),
            None => self.watch(plan),
        };
        let (threads, stacks) = (&self.family.threads, plan.stacks);
        let asked = Asked { threads, stacks, watched: watchpoints.is_some() };
        if self.source.begin(&asked).is_err() {
            window.lost_switches = true;
        }
        let known = plan.words.iter().filter_map(|word| self.ledger.watched.get(word));
        let length = match plan.words.is_empty() || watchpoints.is_none() {
            true if plan.stacks => self.stacks_for,
            true => SURVEY.min(self.most),
            false => {
                let wanted = known.map(|word| word.next).min();
                wanted.unwrap_or(Watched::default().next).min(self.most)
            }
        };
        let watched = plan.words.first().map(|word| word.pid.0);
        let computed_before = watched.and_then(processor_time);
        window.begin = Moment::now();
        let over = self.source.wait(length, &asked, &mut self.chance, wait);
        window.end = Moment::now();
        let computed = watched.and_then(processor_time).zip(computed_before);
        window.computed = computed
            .map(|(after, before)| Nanoseconds(after.saturating_sub(before).as_nanos() as u64));
        if self.source.end().is_err() {
            window.lost_switches = true;
        }
        if let Some(mut watchpoints) = watchpoints {
            let mut bytes = Vec::new();
            watchpoints.stop();
            watchpoints.drain(&mut bytes);
            window.take_hits(&watchpoints, &bytes);
            window.watched.clone_from(&watchpoints.threads);
            window.words = watchpoints.spots;
        }
        self.source.give(&mut window, &self.family.members);
        if plan.stacks {
            self.stacks_lost = window.lost_switches && self.stacks_for > SHORTEST_OF_STACKS;
            let shorter = if self.stacks_lost { self.stacks_for / 4 } else { self.stacks_for };
            self.stacks_for = shorter.max(SHORTEST_OF_STACKS);
        } else if window.lost_switches {
            self.most = (length / 2).max(SHORTEST);
        } else {
            self.most = (self.most * 9 / 8).min(LONGEST);
        }
        let switch = if plan.stacks { STACK_NS } else { SWITCH_NS };
        self.ledger.cost += Nanoseconds(window.all_switches as f64 * switch);
        self.ledger.cost += Nanoseconds(window.all_traces as f64 * TRACE_NS);
        (window, over)
    }

    /// Watches the words, with the threads of their process or a few of them.
    fn watch(&mut self, plan: &Plan) -> Option<Watchpoints> {
        let first = plan.words.first()?;
        let mut threads: Vec<Tid> = if plan.few {
            let writers = &self.ledger.watched.get(first)?.writers;
            writers.iter().filter(|tid| self.family.threads.contains_key(tid)).copied().collect()
        } else {
            self.family.threads_of(first.pid).collect()
        };
        // A hold must not count the time in which nobody saw that its thread had no core.
        threads.retain(|tid| self.source.follows(*tid));
        let mut most = if plan.few { threads.len().div_ceil(FEW_OF) } else { MOST_THREADS };
        for chosen in 0..threads.len() {
            let rest = (threads.len() - chosen) as u64;
            let other = chosen + (self.chance.next_u64() % rest) as usize;
            threads.swap(chosen, other);
        }
        if threads.len() > most {
            // Of very many, most sleep all the time. What these few do stands for as much of the
            // process's time as they have.
            threads.sort_by_key(|tid| !self.lively.contains(tid));
            let lively = threads.iter().filter(|tid| self.lively.contains(tid)).count();
            most = most.min((2 * lively).max(LEAST_THREADS));
        }
        threads.truncate(most);
        let cost = cost::of_a_hit();
        self.ledger.hit_costs.extend(cost);
        let spots: Vec<Spot> = plan.words.iter().map(|word| Spot::Word(word.bytes())).collect();
        let stack = if plan.holders { HOLDERS_STACK } else { 0 };
        self.open(&spots, &threads, stack)
    }

    /// Opens watchpoints. If they are refused, no others will be asked for.
    fn open(&mut self, spots: &[Spot], threads: &[Tid], stack: u32) -> Option<Watchpoints> {
        match Watchpoints::open(spots, threads, stack) {
            Ok(watchpoints) => Some(watchpoints),
            Err(Refused::Gone) => None,
            // Somebody else may have some of them only. The first word matters most.
            Err(Refused::Taken) if spots.len() > 1 => {
                self.open(&spots[..spots.len() / 2], threads, stack)
            }
            Err(refused) => {
                self.ledger.refused = Some(refused);
                None
            }
        }
    }

    /// Whether calls that tell which words are locks can be watched for the first time. Until then,
    /// windows would go to the words on which waiters park, which say nothing of the lock.
    fn calls_are_new(&self) -> bool {
        let is_there = |pid: &Pid| self.family.members.contains(pid);
        let has_calls = |(pid, paths): (&Pid, &SlowPaths)| !paths.is_empty() && is_there(pid);
        self.number == 1 && self.slow_paths.iter().any(has_calls)
    }

    /// A process of which calls are to be watched in a window without words.
    fn probed(&mut self) -> Option<(Pid, Vec<SlowPath>)> {
        let pids: Vec<Pid> = self
            .slow_paths
            .iter()
            .filter(|(pid, paths)| !paths.is_empty() && self.family.members.contains(pid))
            .map(|(pid, _)| *pid)
            .collect();
        let chosen = self.chance.next_u64() as usize % pids.len().max(1);
        let pid = pids.get(chosen).copied().filter(|_| self.ledger.refused.is_none())?;
        let paths = self.slow_paths.get(&pid)?.some(MOST, self.chance.next_u64());
        Some((pid, paths))
    }

    /// Watches calls of the functions that wait for a lock.
    fn probe(&mut self, pid: Pid, paths: &[SlowPath]) -> Option<Watchpoints> {
        let spots: Vec<Spot> = paths.iter().map(|path| Spot::Function(path.address)).collect();
        let threads: Vec<Tid> = self.family.threads_of(pid).take(MOST_THREADS).collect();
        self.open(&spots, &threads, HOLDERS_STACK)
    }

    /// Whether to watch few of the threads only. What a hit costs one thread, the others hardly
    /// notice, and so a lock that is fought for behaves as if nobody watched. But who the threads
    /// are, and what their writes mean, has to be known before.
    fn few(&self, words: &[Word]) -> bool {
        let known = words.first().and_then(|word| self.ledger.watched.get(word));
        let enough = |watched: &Watched| {
            watched.writers.len() > 1
                && watched.windows.iter().filter(|window| !window.few).count() >= ALL_FIRST
        };
        // Goroutines take a lock with whatever thread they run on.
        let of_threads = words.first().is_some_and(|word| !self.has_goroutines(word.pid));
        of_threads && !self.number.is_multiple_of(3) && known.is_some_and(enough)
    }

    /// Whether goroutines run on a process's threads.
    fn has_goroutines(&self, pid: Pid) -> bool {
        self.slow_paths.get(&pid).is_some_and(SlowPaths::has_goroutines)
    }

    /// Reads where code and data lie: at first, and now and then, because programs load code while
    /// they run.
    fn keep_names(&mut self) {
        // At first more often: a virtual machine loads its library after it has begun.
        let anew = self.number.is_power_of_two() || self.number.is_multiple_of(16 * ROUND);
        for pid in &self.family.members {
            match self.names.get_mut(pid) {
                None => {
                    let Ok(mut names) = Names::of(pid.0, &self.files) else { continue };
                    self.slow_paths.insert(*pid, SlowPaths::of(&mut names));
                    self.names.insert(*pid, names);
                }
                Some(names) if anew => {
                    if names.refresh() {
                        self.slow_paths.insert(*pid, SlowPaths::of(names));
                    }
                }
                Some(_) => {}
            }
        }
    }

    /// Waiters of the C library's read-write locks sleep on one of two words. The count of readers
    /// and the mark of a writer are in another one.
    fn find_aliases(&mut self) {
        let mut found = Vec::new();
        for (word, waits) in &mut self.ledger.waits {
            let (Some(scene), false) = (waits.scenes.first(), waits.looked_at) else { continue };
            let Some(paths) = self.slow_paths.get(&word.pid) else { continue };
            waits.looked_at = true;
            if !scene.at_entry && paths.waits_for_read_write(&scene.stack) {
                // The words are 8 and 12 bytes from the lock's begin, which is a multiple of 8.
                let address = word.address & !7;
                found.push((*word, Word { address: address.wrapping_sub(8), ..*word }));
            }
        }
        found.into_iter().for_each(|(word, of)| self.ledger.is_alias(word, of));
    }

    /// Forgets what was known of processes that execute another program now.
    fn forget_former_images(&mut self) {
        for pid in std::mem::take(&mut self.family.changed) {
            self.source.forget(pid);
            self.code.forget(pid);
            self.calls.forget(pid);
            self.loops.forget(pid);
            self.sites.retain(|(word, _), _| word.pid != pid);
            let threads = self.family.seen.get(&pid);
            self.ledger.forget(pid, threads.unwrap_or(&BTreeSet::new()));
            self.names.remove(&pid);
            self.slow_paths.remove(&pid);
        }
    }
}

/// A chance from a half to one and a half.
fn about_one(chance: &mut Xoshiro256PlusPlus) -> f64 {
    0.5 + (chance.next_u32() >> 8) as f64 / f64::from(1 << 24)
}
