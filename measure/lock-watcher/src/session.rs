//! Watching a program: one window after the other, until time is up or the program has ended.
//!
//! In every window all switches and a timer are recorded. They tell which words threads wait for,
//! asleep or spinning. In most windows a few of these words are watched as well. How long a pause
//! follows a window depends on what it cost, so that all together costs the program no more than a
//! small share of its time.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;

use kilocore_proc_files::{Doing, doing};
use kilocore_word_names::Names;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use syscalls::Sysno;

use crate::calls::{Calls, Reason, named};
use crate::cores::Cores;
use crate::cost::{self, HitCost};
use crate::error::WatchError;
use crate::family::Family;
use crate::ids::{Moment, Pid, Tid, Word};
use crate::instruction::Site;
use crate::memory::Code;
use crate::off_core::{Off, Why, off_core};
use crate::registers::Registers;
use crate::slow_paths::SlowPath;
use crate::spins::Loops;
use crate::times::Times;
use crate::watched::{Absences, Away, Watch, Watched};
use crate::watchpoints::{MOST, MOST_THREADS, Refused, Spot, Watchpoints};
use crate::window::Window;

/// The share of the cores' time that watching may take.
const SHARE: f64 = 0.02;
/// What may be spent before any time has passed, so that the first windows need not wait.
const ADVANCE: f64 = 10e6;
/// What a recorded switch costs the program, and one with a copy of the stack, in nanoseconds.
const SWITCH_NS: f64 = 1_500.0;
const STACK_NS: f64 = 4_000.0;
/// The length of a window without watchpoints.
const SURVEY: Duration = Duration::from_millis(20);
/// Of so many windows, the first has no watchpoints.
const ROUND: u64 = 4;
/// Of so many threads, one is watched where few are to be.
const FEW_OF: usize = 8;
/// In so many windows, all threads are watched before few may be.
const ALL_FIRST: usize = 3;
/// A call of a function that waits for a lock counts like so many nanoseconds of waiting, when it
/// is about which word to watch.
const CALL_NS: f64 = 10e3;
/// How many quiet threads are looked at after a window.
const LOOKS: usize = 64;
/// How many copies of stacks are kept of a word's waiters and of its holders.
const STACKS: usize = 32;
/// What a hit is taken to cost before that was measured, in nanoseconds.
const DEFAULT_HIT_NS: f64 = 10e3;
/// How much of a stack is copied at a release.
const HOLDERS_STACK: u32 = 4096;

/// A place where a thread waited or released, to be unwound.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    pub(crate) registers: Registers,
    pub(crate) stack: Vec<u8>,
    /// The time that was waited there, in nanoseconds.
    pub(crate) ns: f64,
    /// Whether the thread has just entered a function.
    pub(crate) at_entry: bool,
}

/// The waits for a word.
#[derive(Debug, Clone, Default)]
pub(crate) struct Waits {
    /// Time that threads slept or spun for it, in nanoseconds of windows.
    pub(crate) ns: f64,
    /// How much of that was spent spinning.
    pub(crate) spun_ns: f64,
    /// Calls of a function that waits for it, where goroutines wait and not threads.
    pub(crate) called: u64,
    /// Waits that began in windows.
    pub(crate) count: u64,
    pub(crate) threads: BTreeSet<Tid>,
    pub(crate) scenes: Vec<Scene>,
    /// Where it was held, as of writes to it.
    pub(crate) writers: Vec<(u64, Scene)>,
}

/// What the session adds up to.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) waits: BTreeMap<Word, Waits>,
    pub(crate) watched: BTreeMap<Word, Watched>,
    /// How many windows there were, their length, and that of those that saw all switches.
    pub(crate) windows: u64,
    pub(crate) window_ns: f64,
    pub(crate) surveyed_ns: f64,
    /// Time of threads off their cores for a reason that is not known, and of all threads.
    pub(crate) unknown_ns: f64,
    pub(crate) thread_ns: f64,
    /// Time that threads waited for others to end.
    pub(crate) joining_ns: f64,
    /// Time that threads slept in system calls other than futexes, by call; that they ran or were
    /// ready; and that exactly one was.
    pub(crate) asleep: BTreeMap<&'static str, f64>,
    pub(crate) running_ns: f64,
    pub(crate) one_awake_ns: f64,
    /// How often a thread left its core by its own will.
    pub(crate) voluntary: u64,
    /// What watching cost the program, by estimate.
    pub(crate) cost_ns: f64,
    /// The costs of a hit, as measured before the windows.
    pub(crate) hit_costs: Vec<HitCost>,
    pub(crate) refused: Option<Refused>,
}

/// A session.
pub(crate) struct Session {
    cores: Cores,
    pub(crate) family: Family,
    pub(crate) ledger: Ledger,
    code: Code,
    calls: Calls,
    loops: Loops,
    /// Made while a process is there, so that its addresses have names when it is gone.
    pub(crate) names: BTreeMap<Pid, Names>,
    slow_paths: BTreeMap<Pid, Vec<SlowPath>>,
    pub(crate) times: Times,
    sites: BTreeMap<(Word, u64), Option<Site>>,
    chance: Xoshiro256PlusPlus,
    began: Moment,
    number: u64,
    own_before: f64,
}

/// Waits for so long, and returns whether it is over.
pub(crate) type Wait<'a> = &'a mut dyn FnMut(Duration) -> bool;

impl Session {
    pub(crate) fn new(family: Family, seed: u64) -> Result<Self, WatchError> {
        Ok(Self {
            cores: Cores::open()?,
            family,
            ledger: Ledger::default(),
            code: Code::default(),
            calls: Calls::default(),
            loops: Loops::default(),
            names: BTreeMap::new(),
            slow_paths: BTreeMap::new(),
            times: Times::default(),
            sites: BTreeMap::new(),
            chance: Xoshiro256PlusPlus::seed_from_u64(seed),
            began: Moment::now(),
            number: 0,
            own_before: own_time(),
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
            let words = self.choose();
            let (window, over) = self.window(&words, wait);
            self.absorb(window, &words);
            self.keep_names();
            self.number += 1;
            if over || wait(self.pause()) {
                return;
            }
        }
    }

    /// The words to watch in the next window, all of one process; none in a survey.
    fn choose(&mut self) -> Vec<Word> {
        if self.number.is_multiple_of(ROUND) || self.ledger.refused.is_some() {
            return Vec::new();
        }
        let mut scored: Vec<(f64, Word)> = self
            .ledger
            .waits
            .iter()
            .filter(|(word, _)| self.family.members.contains(&word.pid))
            .map(|(word, waits)| {
                let ignorance = self.ledger.watched.get(word).map_or(1.0, Watched::ignorance);
                // A word that only one thread ever waits for is that thread's own, as a rule.
                let alone = if waits.threads.len() > 1 { 1.0 } else { 0.01 };
                // Chance gives each a turn, also one whose waits are few.
                let chance = 0.5 + (self.chance.next_u32() >> 8) as f64 / f64::from(1 << 24);
                let ns = waits.ns + CALL_NS * waits.called as f64;
                (ns * ignorance * alone * chance, *word)
            })
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let Some((_, first)) = scored.first().copied() else { return Vec::new() };
        let mut spots = BTreeSet::new();
        let of_one = scored.into_iter().map(|(_, word)| word).filter(|word| word.pid == first.pid);
        // Two words may share the four bytes that are watched.
        of_one.filter(|word| spots.insert(word.bytes().start)).take(MOST).collect()
    }

    /// Records a window. Returns whether all is over after it.
    fn window(&mut self, words: &[Word], wait: Wait<'_>) -> (Window, bool) {
        let stacks = self.number < 2 || self.number.is_multiple_of(2 * ROUND);
        let mut window = Window { few: self.few(words), ..Window::default() };
        let words = if window.few { &words[..1] } else { words };
        let probed = if words.is_empty() { self.probed() } else { None };
        let watchpoints = match probed {
            Some(pid) => self.probe(pid),
            None => self.watch(words, window.few),
        };
        let surveys = words.is_empty();
        if self.cores.begin(stacks && surveys).is_err() {
            window.lost_switches = true;
        }
        let length = match surveys || watchpoints.is_none() {
            true => SURVEY,
            false => words
                .iter()
                .filter_map(|word| self.ledger.watched.get(word))
                .map(|watched| watched.next)
                .min()
                .unwrap_or(Watched::default().next),
        };
        window.begin = Moment::now();
        let over = wait(length);
        window.end = Moment::now();
        if self.cores.end().is_err() {
            window.lost_switches = true;
        }
        let mut bytes = Vec::new();
        if let Some(mut watchpoints) = watchpoints {
            watchpoints.stop();
            watchpoints.drain(&mut bytes);
            window.take_hits(&watchpoints, &bytes);
            window.probed = probed;
            window.watched.clone_from(&watchpoints.threads);
            bytes.clear();
        }
        self.cores.drain(&mut bytes);
        window.take_cores(&self.cores, &bytes, &self.family.members);
        window.sort();
        let stacks = if stacks { STACK_NS } else { SWITCH_NS };
        self.ledger.cost_ns += window.all_switches as f64 * stacks;
        (window, over)
    }

    /// Watches the words, with the threads of their process or a few of them.
    fn watch(&mut self, words: &[Word], few: bool) -> Option<Watchpoints> {
        let first = words.first()?;
        let mut threads: Vec<Tid> = if few {
            let writers = &self.ledger.watched.get(first)?.writers;
            writers.iter().filter(|tid| self.family.threads.contains_key(tid)).copied().collect()
        } else {
            let all = self.family.threads.iter();
            all.filter(|(_, of)| **of == first.pid).map(|(tid, _)| *tid).collect()
        };
        let most = if few { threads.len().div_ceil(FEW_OF) } else { MOST_THREADS };
        for chosen in 0..threads.len().min(most) {
            let rest = (threads.len() - chosen) as u64;
            let other = chosen + (self.chance.next_u64() % rest) as usize;
            threads.swap(chosen, other);
        }
        threads.truncate(most);
        let cost = cost::of_a_hit();
        self.ledger.hit_costs.extend(cost);
        let spots: Vec<Spot> = words.iter().map(|word| Spot::Word(word.bytes())).collect();
        // Stacks of holders are copied in the first windows, and now and then.
        let stack = if self.number % (4 * ROUND) == 1 { HOLDERS_STACK } else { 0 };
        match Watchpoints::open(&spots, &threads, stack) {
            Ok(watchpoints) => Some(watchpoints),
            Err(Refused::Gone) => None,
            Err(refused) => {
                self.ledger.refused = Some(refused);
                None
            }
        }
    }

    /// A process of which calls are to be watched in a window without words.
    fn probed(&mut self) -> Option<Pid> {
        let pids: Vec<Pid> = self
            .slow_paths
            .iter()
            .filter(|(pid, paths)| !paths.is_empty() && self.family.members.contains(pid))
            .map(|(pid, _)| *pid)
            .collect();
        let chosen = self.chance.next_u64() as usize % pids.len().max(1);
        if self.ledger.refused.is_some() { None } else { pids.get(chosen).copied() }
    }

    /// Watches calls of the functions that wait for a lock.
    fn probe(&mut self, pid: Pid) -> Option<Watchpoints> {
        let paths = self.slow_paths.get(&pid)?;
        let spots: Vec<Spot> =
            paths.iter().take(MOST).map(|path| Spot::Function(path.address)).collect();
        let of_it = self.family.threads.iter().filter(|(_, of)| **of == pid);
        let threads: Vec<Tid> = of_it.map(|(tid, _)| *tid).take(MOST_THREADS).collect();
        match Watchpoints::open(&spots, &threads, HOLDERS_STACK) {
            Ok(watchpoints) => Some(watchpoints),
            Err(Refused::Gone) => None,
            Err(refused) => {
                self.ledger.refused = Some(refused);
                None
            }
        }
    }

    fn absorb_calls(&mut self, pid: Pid, window: &Window) {
        let Some(paths) = self.slow_paths.get(&pid) else { return };
        let cost = self.ledger.hit_costs.last().map_or(DEFAULT_HIT_NS, |cost| cost.middle());
        self.ledger.cost_ns += window.hits.len() as f64 * cost;
        for hit in &window.hits {
            let Some(path) = paths.get(hit.word) else { continue };
            let word = Word { pid, address: path.word(&hit.registers) };
            let waits = self.ledger.waits.entry(word).or_default();
            waits.called += 1;
            waits.count += 1;
            waits.threads.insert(hit.tid);
            if waits.scenes.len() < STACKS && !hit.stack.is_empty() {
                let (registers, stack) = (hit.registers, hit.stack.clone());
                waits.scenes.push(Scene { registers, stack, ns: 1.0, at_entry: true });
            }
        }
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
        !self.number.is_multiple_of(3) && known.is_some_and(enough)
    }

    fn absorb(&mut self, window: Window, words: &[Word]) {
        let off = off_core(&window, &mut self.calls, &mut self.code);
        self.ledger.windows += 1;
        self.ledger.window_ns += window.length();
        if !window.lost_switches {
            self.absorb_waits(&window, &off);
        }
        self.absorb_ticks(&window);
        if let Some(pid) = window.probed {
            self.absorb_calls(pid, &window);
        } else if !window.watched.is_empty() {
            self.absorb_hits(&window, words, &off);
        }
    }

    /// Reads where code and data lie: at first, and now and then, because programs load code while
    /// they run.
    fn keep_names(&mut self) {
        let anew = self.number.is_multiple_of(16 * ROUND);
        for pid in &self.family.members {
            match self.names.get_mut(pid) {
                None => {
                    let Ok(names) = Names::of(pid.0) else { continue };
                    self.slow_paths.insert(*pid, SlowPath::of(&names));
                    self.names.insert(*pid, names);
                }
                Some(names) if anew => names.refresh(),
                Some(_) => {}
            }
        }
    }

    /// Forgets what was known of processes that execute another program now.
    fn forget_former_images(&mut self) {
        for pid in std::mem::take(&mut self.family.changed) {
            self.code.forget(pid);
            self.calls.forget(pid);
            self.loops.forget(pid);
            self.sites.retain(|(word, _), _| word.pid != pid);
            self.ledger.waits.retain(|word, _| word.pid != pid);
            self.ledger.watched.retain(|word, _| word.pid != pid);
            self.names.remove(&pid);
            self.slow_paths.remove(&pid);
        }
    }

    fn absorb_waits(&mut self, window: &Window, off: &[Off]) {
        self.ledger.surveyed_ns += window.length();
        self.ledger.thread_ns += window.length() * self.family.threads.len() as f64;
        let mut seen: BTreeSet<Tid> = window.ticks.iter().map(|tick| tick.tid).collect();
        seen.extend(window.switches.iter().map(|switch| switch.tid));
        for stretch in off {
            // Stretches that had begun before the window have no reason. On average, they are as
            // long as those that go on after it, reason by reason: these stand for both.
            if stretch.why == Why::Unknown && stretch.from == window.begin {
                continue;
            }
            let sides = if stretch.came_back { 1.0 } else { 2.0 };
            let ns = sides * (stretch.to - stretch.from).0 as f64;
            match stretch.why {
                Why::Waits(Reason::Futex(word)) => {
                    let waits = self.ledger.waits.entry(word).or_default();
                    waits.ns += ns;
                    waits.count += 1;
                    waits.threads.insert(stretch.tid);
                    if let Some(registers) = stretch.registers
                        && !stretch.stack.is_empty()
                        && waits.scenes.len() < STACKS
                    {
                        let stack = stretch.stack.clone();
                        waits.scenes.push(Scene { registers, stack, ns, at_entry: false });
                    }
                }
                Why::Waits(Reason::Join) => self.ledger.joining_ns += ns,
                Why::Waits(Reason::Call(call)) => self.asleep_in(call.name(), ns),
                Why::Waits(Reason::NoCall) => self.asleep_in("-", ns),
                Why::Unknown | Why::Waits(Reason::Unknown) => self.ledger.unknown_ns += ns,
                Why::Preempted => {}
            }
            self.ledger.voluntary += u64::from(matches!(stretch.why, Why::Waits(_)));
        }
        let quiet = self.look_at_quiet(window, &seen);
        let runners = quiet.iter().filter(|(_, reason)| reason.is_none()).count();
        self.times.keep(window, off, &quiet);
        self.absorb_running(window, off, &seen, runners);
    }

    /// Threads that neither left nor got a core slept all the time; the system says where.
    ///
    /// Returns those that were looked at, with their reasons; without one if they ran all the time.
    fn look_at_quiet(
        &mut self,
        window: &Window,
        seen: &BTreeSet<Tid>,
    ) -> Vec<(Tid, Option<Reason>)> {
        let quiet: Vec<(Tid, Pid)> = self
            .family
            .threads
            .iter()
            .filter(|(tid, _)| !seen.contains(tid))
            .map(|(tid, pid)| (*tid, *pid))
            .collect();
        let step = quiet.len().div_ceil(LOOKS).max(1);
        let begin = if quiet.is_empty() { 0 } else { self.chance.next_u64() as usize % step };
        let mut looked_at = Vec::new();
        for (tid, pid) in quiet.into_iter().skip(begin).step_by(step) {
            let ns = window.length() * step as f64;
            match doing(pid.0, tid.0) {
                Doing::Call(call) => {
                    let registers = Registers::of_call(&call);
                    let Some(number) = Sysno::new(call.number as usize) else { continue };
                    let reason = named(pid, number, &registers);
                    looked_at.push((tid, Some(reason)));
                    match reason {
                        Reason::Futex(word) => {
                            let waits = self.ledger.waits.entry(word).or_default();
                            waits.ns += ns;
                            waits.threads.insert(tid);
                        }
                        Reason::Join => self.ledger.joining_ns += ns,
                        _ => self.asleep_in(number.name(), ns),
                    }
                }
                Doing::Asleep => {
                    looked_at.push((tid, Some(Reason::Unknown)));
                    self.ledger.unknown_ns += ns;
                }
                Doing::Running => looked_at.push((tid, None)),
                Doing::Gone => {}
            }
        }
        looked_at
    }

    fn asleep_in(&mut self, call: &'static str, ns: f64) {
        *self.ledger.asleep.entry(call).or_default() += ns;
    }

    /// Adds up how long threads ran or were ready, and how long exactly one did.
    fn absorb_running(
        &mut self,
        window: &Window,
        off: &[Off],
        seen: &BTreeSet<Tid>,
        quiet_runners: usize,
    ) {
        // From each moment on, so many more threads sleep, or fewer.
        let mut changes: Vec<(Moment, i64)> = off
            .iter()
            .filter(|stretch| stretch.why != Why::Preempted)
            .flat_map(|stretch| [(stretch.from, -1), (stretch.to, 1)])
            .collect();
        changes.push((window.end, 0));
        changes.sort_unstable();
        let mut awake = (seen.len() + quiet_runners) as i64;
        let mut since = window.begin;
        for (at, change) in changes {
            let ns = (at - since).0 as f64;
            self.ledger.running_ns += ns * awake.max(0) as f64;
            self.ledger.one_awake_ns += if awake == 1 { ns } else { 0.0 };
            awake += change;
            since = at.max(since);
        }
    }

    fn absorb_ticks(&mut self, window: &Window) {
        for tick in &window.ticks {
            let Some(registers) = tick.registers.filter(|_| !tick.kernel) else { continue };
            if let Some(word) = self.loops.word(tick.pid, &registers) {
                let waits = self.ledger.waits.entry(word).or_default();
                let ns = 1e9 / crate::cores::TICKS as f64;
                waits.ns += ns;
                waits.spun_ns += ns;
                waits.count += 1;
                waits.threads.insert(tick.tid);
            }
        }
    }

    fn absorb_hits(&mut self, window: &Window, words: &[Word], off: &[Off]) {
        let cost = self.ledger.hit_costs.last().copied().unwrap_or_default();
        let words = if window.few { &words[..1] } else { words };
        self.ledger.cost_ns += window.hits.len() as f64 * cost.middle();
        let mut histories: Vec<crate::history::History> =
            words.iter().map(|_| crate::history::History::default()).collect();
        for hit in &window.hits {
            let Some(word) = words.get(hit.word).copied() else { continue };
            let (bytes, ip) = (word.bytes(), hit.registers.ip());
            let code = &mut self.code;
            let site = self
                .sites
                .entry((word, ip))
                .or_insert_with(|| Site::before(code.before(hit.pid, ip), &hit.registers, &bytes));
            let write = site.as_ref().and_then(|site| site.write(&hit.registers, &bytes));
            if !hit.stack.is_empty() {
                let waits = self.ledger.waits.entry(word).or_default();
                if waits.writers.len() < STACKS {
                    let (registers, stack) = (hit.registers, hit.stack.clone());
                    waits.writers.push((ip, Scene { registers, stack, ns: 0.0, at_entry: false }));
                }
            }
            histories[hit.word].add((hit.tid, hit.at, hit.core, ip), write, bytes.start);
        }
        let away = Rc::new(absences(off));
        let pid = words.first().map(|word| word.pid);
        let of = self.family.threads.values().filter(|of| Some(**of) == pid).count();
        for (word, history) in words.iter().zip(histories) {
            if window.lost_hits {
                // A pair of writes with one between them lost would look like a long section.
                continue;
            }
            self.ledger.watched.entry(*word).or_default().add(Watch {
                begin: window.begin,
                end: window.end,
                history,
                threads: window.watched.clone(),
                few: window.few,
                of,
                cost,
                away: Rc::clone(&away),
            });
        }
    }

    /// How long to wait before the next window, so that all together costs no more than its share.
    fn pause(&mut self) -> Duration {
        let own = own_time();
        self.ledger.cost_ns += own - self.own_before;
        self.own_before = own;
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as f64;
        let due = (self.ledger.cost_ns - ADVANCE) / (SHARE * cores);
        let passed = (Moment::now() - self.began).0 as f64;
        // Some of it is chance, so as not to keep step with the program.
        let chance = 0.5 + (self.chance.next_u32() >> 8) as f64 / f64::from(1 << 24);
        let least = 2e6;
        Duration::from_nanos(((due - passed).max(least) * chance) as u64)
    }
}

/// The absences of each thread.
fn absences(off: &[Off]) -> Absences {
    let mut all = Absences::new();
    for stretch in off {
        let asleep = stretch.why != Why::Preempted;
        let away = Away { from: stretch.from, to: stretch.to, asleep };
        all.entry(stretch.tid).or_default().push(away);
    }
    all
}

/// Processor time of this thread, in nanoseconds.
fn own_time() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is ours to be written.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}
