//! Adding up what a window recorded.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::word_names::Names;
use kilocore_figures::Nanoseconds;
use kilocore_linux::{SyscallState, syscall_state};
use kilocore_lock_profile::Rights;
use rand_core::Rng;
use syscalls::Sysno;

use super::{Plan, Session};
use crate::calls::{Reason, is_private, named};
use crate::cost::HitCost;
use crate::covered::covered;
use crate::events::TICKS;
use crate::history::History;
use crate::ids::{Moment, Pid, Tid, Word};
use crate::instruction::Site;
use crate::ledger::Scene;
use crate::off_core::{Off, Why, off_core};
use crate::registers::Registers;
use crate::slow_paths::{Call, SlowPath};
use crate::spins::Spin;
use crate::watched::{Absences, Away, Watch};
use crate::window::{Hit, Tick, Window};

/// How many quiet threads are looked at after a window.
const LOOKS: usize = 64;
/// In so many ticks of the timer, it finds a thread that runs.
const SOME_TICKS: f64 = 3.0;
/// What a hit is taken to cost before that was measured, in nanoseconds.
const DEFAULT_HIT_NS: f64 = 10e3;

/// Threads that neither left nor got a core in a window, as far as they were looked at.
struct Quiet {
    /// Why they slept all the time; without a reason, they ran all the time.
    looked_at: Vec<(Tid, Option<Reason>)>,
    /// For how long each of them stands.
    each: Nanoseconds<f64>,
}

impl Session {
    /// Adds up what a window recorded.
    pub(super) fn absorb(&mut self, window: &Window, plan: &Plan) {
        let off = off_core(window, &mut self.calls, &mut self.code);
        let spins = self.spins(window);
        self.ledger.windows += 1;
        self.ledger.window_time += window.length();
        self.ledger.ticked |= !window.ticks.is_empty();
        let mut away = absences(&off);
        if !window.lost_switches {
            let seen = seen(window);
            let quiet = self.look_at_quiet(window, &seen);
            self.lively.retain(|tid| self.family.threads.contains_key(tid));
            self.lively.extend(&seen);
            self.add_quiet(&mut away, window, &seen, &quiet);
            if !window.reasons_unseen {
                self.absorb_waits((window, &spins), &off, &seen, &quiet);
            }
            self.absorb_computing(window, &away);
        }
        let away = Rc::new(away);
        self.absorb_ticks(window, &spins);
        let cost = self.ledger.hit_cost().map_or(DEFAULT_HIT_NS, HitCost::middle);
        self.ledger.cost += Nanoseconds((window.hits.len() as u64 + window.entries) as f64 * cost);
        if let Some((pid, paths)) = &plan.probed {
            self.absorb_calls(*pid, paths, window);
        } else if !window.watched.is_empty() && !window.lost_hits {
            // Where hits were lost, a pair of writes with another between them would look like a
            // long section.
            self.absorb_hits(window, plan, &away);
        }
    }

    /// Who ran into a watchpoint: the thread, or the goroutine that it ran.
    fn actor(&self, hit: &Hit) -> u64 {
        match self.has_goroutines(hit.pid) {
            true => hit.registers.goroutine(),
            false => u64::from(hit.tid.0),
        }
    }

    /// Adds up calls of functions that wait for locks, and for how long goroutines waited.
    fn absorb_calls(&mut self, pid: Pid, paths: &[SlowPath], window: &Window) {
        if window.lost_hits || window.watched.is_empty() {
            return;
        }
        *self.ledger.probed.entry(pid).or_default() += window.length();
        let mut parked: BTreeMap<u64, (Word, Moment)> = BTreeMap::new();
        for hit in &window.hits {
            let Some(path) = paths.get(hit.word) else { continue };
            let names = self.names.get_mut(&pid).filter(|_| path.needs_caller());
            let caller = names.map_or_else(String::new, |names| caller(names, &hit.stack));
            let address = match path.call(&hit.registers, &caller) {
                Call::Waits(address) => {
                    let word = Word { pid, address };
                    self.ledger.waited(word, hit.tid, Nanoseconds(0.0)).called += 1;
                    address
                }
                Call::Parks(0) => continue,
                Call::Parks(lock) if waits_for_another(&caller) => lock,
                Call::Parks(_) => continue,
                Call::Ready(goroutine) => {
                    if let Some((word, since)) = parked.remove(&goroutine) {
                        self.ledger.parked(word, (hit.at - since).calculated());
                    }
                    continue;
                }
            };
            let word = Word { pid, address };
            // Whoever calls a slow path parks in it: that is the same wait.
            let Entry::Vacant(entry) = parked.entry(self.actor(hit)) else { continue };
            entry.insert((word, hit.at));
            let (registers, stack) = (hit.registers, hit.stack.clone());
            let scene = Scene { registers, stack, waited: Nanoseconds(1.0), at_entry: true };
            self.ledger.waited(word, hit.tid, Nanoseconds(0.0)).keep(scene);
        }
        if self.has_goroutines(pid) {
            // As with threads, these stand for those who had parked before as well.
            for (word, since) in parked.into_values() {
                self.ledger.parked(word, (window.end - since).calculated() * 2.0);
            }
        }
    }

    fn absorb_waits(
        &mut self,
        (window, spins): (&Window, &[Option<Spin>]),
        off: &[Off],
        seen: &BTreeSet<Tid>,
        quiet: &Quiet,
    ) {
        self.ledger.surveyed += window.length();
        self.ledger.thread_time += window.length() * self.family.threads.len() as f64;
        for stretch in off {
            self.ledger.keep_stack(stretch.tid, stretch.registers, &stretch.stack);
            // Stretches that had begun before the window have no reason. On average, they are as
            // long as those that go on after it, reason by reason: these stand for both.
            if stretch.why == Why::Unknown && stretch.from == window.begin {
                continue;
            }
            let sides = if stretch.came_back { 1.0 } else { 2.0 };
            let waited = (stretch.to - stretch.from).calculated() * sides;
            let reason = match stretch.why {
                Why::Waits(reason) => reason,
                Why::Unknown => Reason::Unknown,
                Why::Preempted => continue,
            };
            self.ledger.voluntary += u64::from(matches!(stretch.why, Why::Waits(_)));
            let Some(waits) = self.ledger.slept(reason, stretch.tid, waited) else { continue };
            waits.count += 1;
            if let Some(registers) = stretch.registers {
                waits.shared |= !is_private(&registers);
                let stack = stretch.stack.clone();
                waits.keep(Scene { registers, stack, waited, at_entry: false });
            }
        }
        for (tid, reason) in &quiet.looked_at {
            if let Some(reason) = reason {
                self.ledger.slept(*reason, *tid, quiet.each);
            }
        }
        let runners = quiet.looked_at.iter().filter(|(_, reason)| reason.is_none()).count();
        // Ticks of threads that are not followed are not seen.
        let timed = self.is_timed(window) && self.source.rights() == Rights::WholeCores;
        self.times.keep((window, spins), off, &quiet.looked_at, timed);
        self.absorb_running(window, off, seen, runners);
    }

    /// Threads that neither left nor got a core slept all the time, or ran; the system says which.
    fn look_at_quiet(&mut self, window: &Window, seen: &BTreeSet<Tid>) -> Quiet {
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
            let reason = match syscall_state(pid.0, tid.0) {
                SyscallState::Call(call) => {
                    let Some(number) = Sysno::new(call.number as usize) else { continue };
                    Some(named(pid, number, &Registers::of_call(&call)))
                }
                SyscallState::Asleep => Some(Reason::Unknown),
                SyscallState::Running => None,
                SyscallState::Gone => continue,
            };
            looked_at.push((tid, reason));
        }
        Quiet { looked_at, each: window.length() * step as f64 }
    }

    /// Adds that threads slept all the time that did nothing and were not found running. The system
    /// says of one that is ready and has no core that it runs. Had it run, a timer had found it.
    fn add_quiet(&self, away: &mut Absences, window: &Window, seen: &BTreeSet<Tid>, quiet: &Quiet) {
        let run = quiet.looked_at.iter().filter(|(_, reason)| reason.is_none());
        let run: BTreeSet<Tid> = run.map(|(tid, _)| *tid).collect();
        let ticks = self.is_timed(window);
        for tid in self.family.threads.keys().filter(|tid| !seen.contains(tid)) {
            let asleep = !run.contains(tid);
            if asleep || ticks {
                let whole = Away { from: window.begin, to: window.end, asleep };
                away.entry(*tid).or_default().push(whole);
            }
        }
    }

    /// Whether a timer would have found a thread that ran throughout the window.
    fn is_timed(&self, window: &Window) -> bool {
        let certain = self.ledger.ticked && !window.reasons_unseen;
        certain && window.length().0 >= SOME_TICKS * 1e9 / TICKS as f64
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
            let time = (at - since).calculated();
            self.ledger.running += time * awake.max(0) as f64;
            self.ledger.one_awake += if awake == 1 { time } else { Nanoseconds(0.0) };
            awake += change;
            since = at.max(since);
        }
    }

    /// What each thread spins for that a tick found.
    fn spins(&mut self, window: &Window) -> Vec<Option<Spin>> {
        let spin = |tick: &Tick| {
            let registers = tick.registers.filter(|_| !tick.kernel)?;
            let paths = self.slow_paths.get(&tick.pid);
            let in_function = paths.is_some_and(|paths| paths.spins_at(registers.ip()));
            let found = self.loops.spin(tick.pid, &registers);
            found.or(in_function.then_some(Spin { word: None, waits: true }))
        };
        window.ticks.iter().map(spin).collect()
    }

    fn absorb_ticks(&mut self, window: &Window, spins: &[Option<Spin>]) {
        for (tick, spin) in window.ticks.iter().zip(spins) {
            self.ledger.keep_stack(tick.tid, tick.registers, &tick.stack);
            if let Some(word) = spin.and_then(|spin| spin.word) {
                let spun = Nanoseconds(1e9 / TICKS as f64);
                let waits = self.ledger.waited(word, tick.tid, spun);
                waits.spun += spun;
                waits.count += 1;
            }
        }
    }

    /// Adds up how long each thread ran.
    fn absorb_computing(&mut self, window: &Window, away: &Absences) {
        for tid in self.family.threads.keys() {
            let gone = away.get(tid).into_iter().flatten().map(|away| away.to - away.from);
            let ran = window.length() - gone.sum::<Nanoseconds>().calculated();
            *self.ledger.ran.entry(*tid).or_default() += ran;
        }
    }

    fn absorb_hits(&mut self, window: &Window, plan: &Plan, away: &Rc<Absences>) {
        // Fewer than planned, if somebody else has some of the watchpoints.
        let words = &plan.words[..plan.words.len().min(window.words)];
        let mut histories: Vec<History> = words.iter().map(|_| History::default()).collect();
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
                let (registers, stack) = (hit.registers, hit.stack.clone());
                let waits = self.ledger.waits.entry(word).or_default();
                waits.keep_writer(Scene {
                    registers,
                    stack,
                    waited: Nanoseconds(0.0),
                    at_entry: false,
                });
            }
            let actor = self.actor(hit);
            histories[hit.word].add((hit.tid, actor, hit.at, hit.core, ip), write, bytes.start);
        }
        self.ledger.check_java_locks();
        let cost = self.ledger.hit_cost().unwrap_or_default();
        let pid = words.first().map(|word| word.pid);
        let of = self.family.threads.values().filter(|of| Some(**of) == pid).count();
        for (word, mut history) in words.iter().zip(histories) {
            if !self.ledger.waits.contains_key(word) || self.ledger.java_locks.is_lost(*word) {
                continue;
            }
            for operation in &mut history.operations {
                operation.hands_over = self.ledger.java_locks.gives_back(word.pid, operation.ip);
            }
            let elsewhere = window.hits.len().saturating_sub(history.operations.len()) as u64;
            self.ledger.watched.entry(*word).or_default().add(Watch {
                begin: window.begin,
                end: window.end,
                history,
                threads: window.watched.clone(),
                covered: covered(window, window.computed.filter(|_| !plan.few)),
                few: plan.few,
                elsewhere,
                copied: plan.holders,
                undisturbed: !plan.holders && plan.words.len() == 1 && !window.lost_switches,
                of,
                cost,
                away: Rc::clone(away),
            });
        }
    }
}

/// The names of the functions to which another one returns that has just been entered: one, and
/// those inlined there, each on a line.
fn caller(names: &mut Names, stack: &[u8]) -> String {
    let Some(top) = stack.first_chunk() else { return String::new() };
    let frames = names.frames(u64::from_ne_bytes(*top).wrapping_sub(1));
    frames.iter().map(|frame| frame.function.as_str()).collect::<Vec<_>>().join("\n")
}

/// Whether a goroutine that parks in such a function of Go's runtime waits for another goroutine.
fn waits_for_another(caller: &str) -> bool {
    const CALLERS: [&str; 6] = [
        "runtime.chansend",
        "runtime.chanrecv",
        "runtime.semacquire1",
        "runtime.goparkunlock",
        "runtime.notifyListWait",
        "sync.runtime_notifyListWait",
    ];
    caller.lines().any(|caller| CALLERS.contains(&caller))
}

/// The threads that did something in a window that was recorded.
fn seen(window: &Window) -> BTreeSet<Tid> {
    let mut seen: BTreeSet<Tid> = window.ticks.iter().map(|tick| tick.tid).collect();
    seen.extend(window.switches.iter().map(|switch| switch.tid));
    seen.extend(window.hits.iter().map(|hit| hit.tid));
    seen
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
