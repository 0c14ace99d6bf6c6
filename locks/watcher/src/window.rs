//! A window: a short stretch of time in which everything was recorded, and what was recorded.

use std::collections::{BTreeMap, BTreeSet};

use kilocore_linux::perf_events::{Record, records};
use syscalls::Sysno;

use crate::contention::{Contention, Step, contentions};
use crate::events::EventKind;
use crate::ids::{Moment, Pid, Tid};
use crate::registers::Registers;
use crate::samples::{ParsedRecord, RecordContent, sampled_by, take, traced};
use crate::traces::{Trace, TraceEvent};
use crate::watchpoints::Watchpoints;
use kilocore_figures::Nanoseconds;

/// A thread left its core or got one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Switch {
    pub(crate) pid: Pid,
    pub(crate) tid: Tid,
    pub(crate) at: Moment,
    pub(crate) what: SwitchKind,
}

/// Which way a thread switched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SwitchKind {
    /// It got a core.
    In,
    /// It left its core, by another's will or its own. The call that it is in is known if somebody
    /// looked.
    Out { preempted: bool, call: Option<Sysno>, registers: Option<Registers>, stack: Vec<u8> },
    /// The thread ended, and needs no core any more.
    Exit,
}

/// A timer found a thread on a core.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tick {
    pub(crate) pid: Pid,
    pub(crate) tid: Tid,
    pub(crate) at: Moment,
    /// Whether it was in the kernel.
    pub(crate) kernel: bool,
    pub(crate) registers: Option<Registers>,
    /// A copy of the thread's stack, where the window takes them.
    pub(crate) stack: Vec<u8>,
}

/// A thread wrote to a watched word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    /// Which of the words that are watched.
    pub(crate) word: usize,
    pub(crate) pid: Pid,
    pub(crate) tid: Tid,
    pub(crate) at: Moment,
    pub(crate) core: u32,
    pub(crate) registers: Registers,
    /// A copy of the thread's stack, where the window takes them.
    pub(crate) stack: Vec<u8>,
}

/// A thread was woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Waking {
    pub(crate) tid: Tid,
    pub(crate) at: Moment,
    /// By whom, unless by an interrupt.
    pub(crate) by: Option<Tid>,
}

/// What was recorded in a window. Everything is sorted by time.
#[derive(Debug, Default)]
pub(crate) struct Window {
    pub(crate) begin: Moment,
    pub(crate) end: Moment,
    pub(crate) switches: Vec<Switch>,
    pub(crate) ticks: Vec<Tick>,
    pub(crate) hits: Vec<Hit>,
    /// Threads that were woken, and waits for the kernel's locks, where the kernel may be traced.
    pub(crate) wakings: Vec<Waking>,
    pub(crate) contentions: Vec<Contention>,
    pub(crate) traced: bool,
    /// How many records told of that, whosever.
    pub(crate) all_traces: u64,
    /// The threads whose writes were watched, and to how many words.
    pub(crate) watched: Vec<Tid>,
    pub(crate) words: usize,
    /// The processor time of the process whose words were watched, if any were.
    pub(crate) computed: Option<Nanoseconds>,
    /// Whether switches or ticks were lost, or hits.
    pub(crate) lost_switches: bool,
    pub(crate) lost_hits: bool,
    /// Whether it could not be seen why threads leave their cores.
    pub(crate) reasons_unseen: bool,
    /// How often the processor stopped a thread that was about to enter a system call.
    pub(crate) entries: u64,
    /// How many switches there were on all cores, whosever.
    pub(crate) all_switches: u64,
}

/// What was seen of a thread right before it left its core.
struct Leaving {
    /// When, if it was about to enter a system call.
    entering: Option<Moment>,
    registers: Option<Registers>,
    stack: Vec<u8>,
}

/// What the kernel calls a thread that leaves its core for the last time. It has no number any more.
const ENDED: Tid = Tid(u32::MAX);

/// A thread that enters a system call to wait there leaves its core within this time.
const TO_LEAVE: Nanoseconds = Nanoseconds(100_000);

impl Leaving {
    /// The record that it left.
    fn out(self, at: Moment, preempted: bool) -> SwitchKind {
        let Self { entering, registers, stack } = self;
        match (entering, registers) {
            (None, registers) => SwitchKind::Out { preempted, call: None, registers, stack },
            (Some(entered), Some(registers)) if !preempted && at - entered <= TO_LEAVE => {
                let (number, registers) = registers.entering();
                let call = Sysno::new(number as usize);
                let registers = call.map(|_| registers);
                SwitchKind::Out { preempted, call, registers, stack }
            }
            _ => SwitchKind::Out { preempted, call: None, registers: None, stack: Vec::new() },
        }
    }
}

impl Window {
    /// Takes what happened to threads and cores, as far as it is about `members`. `kind` says what
    /// the event of an id is.
    pub(crate) fn take_switches(
        &mut self,
        kind: &dyn Fn(u64) -> Option<EventKind>,
        bytes: &[u8],
        members: &BTreeSet<Pid>,
    ) {
        // The registers of a thread that leaves come before the record that it left.
        let mut leaving: BTreeMap<Tid, Leaving> = BTreeMap::new();
        let mut steps = Vec::new();
        for record in records(bytes).map_while(Result::ok) {
            if let Some(EventKind::Traced(trace)) = sampled_by(record).and_then(kind) {
                self.all_traces += 1;
                self.take_trace(trace, record, members, &mut steps);
                continue;
            }
            let (origin, told) = match take(record) {
                ParsedRecord::RecordContent(origin, told) => (origin, told),
                ParsedRecord::Lost => {
                    self.lost_switches = true;
                    continue;
                }
                ParsedRecord::Other => continue,
            };
            self.all_switches += u64::from(matches!(told, RecordContent::Out { .. }));
            if !members.contains(&origin.pid) || !self.holds(origin.at) || origin.tid == ENDED {
                continue;
            }
            let (pid, tid, at) = (origin.pid, origin.tid, origin.at);
            let before = leaving.remove(&tid);
            let what = match told {
                RecordContent::Sample { kernel, registers, stack, .. } => {
                    let kind = kind(origin.id);
                    if kind == Some(EventKind::Tick) {
                        let stack = stack.to_vec();
                        self.ticks.push(Tick { pid, tid, at, kernel, registers, stack });
                        // In the kernel, it may still be about to leave.
                        leaving.extend(before.filter(|_| kernel).map(|before| (tid, before)));
                    } else if let Some(kind) = kind {
                        let entering = (kind == EventKind::Call).then_some(at);
                        self.entries += u64::from(entering.is_some());
                        leaving.insert(tid, Leaving { entering, registers, stack: stack.to_vec() });
                    }
                    continue;
                }
                RecordContent::In => SwitchKind::In,
                RecordContent::Exit => SwitchKind::Exit,
                RecordContent::Out { preempted } => before.map_or(
                    SwitchKind::Out { preempted, call: None, registers: None, stack: Vec::new() },
                    |before| before.out(at, preempted),
                ),
            };
            self.switches.push(Switch { pid, tid, at, what });
        }
        self.contentions = contentions(steps, self.end);
        // A thread that is woken gets a core, mostly before the window ends.
        let own: BTreeSet<Tid> = self.switches.iter().map(|switch| switch.tid).collect();
        self.wakings.retain(|waking| own.contains(&waking.tid));
    }

    fn take_trace(
        &mut self,
        trace: Trace,
        record: Record<'_>,
        members: &BTreeSet<Pid>,
        steps: &mut Vec<Step>,
    ) {
        let Some((origin, stack, raw)) = traced(record, trace.has_stack()) else { return };
        let (pid, tid, at) = (origin.pid, origin.tid, origin.at);
        if !self.holds(at) || tid == ENDED {
            return;
        }
        match trace.read(raw) {
            Some(TraceEvent::Wakes { thread, itself }) => {
                self.wakings.push(Waking { tid: thread, at, by: itself.then_some(tid) });
            }
            Some(TraceEvent::Begins { lock, kind }) if members.contains(&pid) => {
                steps.push(Step { at, pid, tid, lock, begins: Some((kind, stack)) });
            }
            Some(TraceEvent::Ends { lock }) if members.contains(&pid) => {
                steps.push(Step { at, pid, tid, lock, begins: None });
            }
            _ => {}
        }
    }

    /// Takes what the watchpoints recorded.
    pub(crate) fn take_hits(&mut self, watchpoints: &Watchpoints, bytes: &[u8]) {
        for record in records(bytes).map_while(Result::ok) {
            match take(record) {
                ParsedRecord::RecordContent(
                    origin,
                    RecordContent::Sample { registers: Some(registers), stack, .. },
                ) => {
                    let Some(word) = watchpoints.word(origin.id) else { continue };
                    if self.holds(origin.at) {
                        let (pid, tid, at) = (origin.pid, origin.tid, origin.at);
                        let (core, stack) = (origin.core, stack.to_vec());
                        self.hits.push(Hit { word, pid, tid, at, core, registers, stack });
                    }
                }
                ParsedRecord::Lost => self.lost_hits = true,
                _ => {}
            }
        }
    }

    /// Brings what was taken into the order of time, once all of the window has been taken.
    pub(crate) fn sort(&mut self) {
        self.switches.sort_by_key(|switch| (switch.at, switch.tid));
        self.ticks.sort_by_key(|tick| (tick.at, tick.tid));
        self.hits.sort_by_key(|hit| (hit.at, hit.tid));
        self.wakings.sort_by_key(|waking| (waking.at, waking.tid));
    }

    /// How long it lasted.
    pub(crate) fn length(&self) -> Nanoseconds<f64> {
        (self.end - self.begin).calculated()
    }

    fn holds(&self, at: Moment) -> bool {
        (self.begin..=self.end).contains(&at)
    }
}

#[cfg(test)]
mod tests {
    use kilocore_linux::perf_events::record;
    use kilocore_lock_profile::KernelLockKind;
    use kilocore_symbols::LockWaiters;
    use perf_event_open_sys::bindings::{
        PERF_RECORD_MISC_SWITCH_OUT, PERF_RECORD_SAMPLE, PERF_RECORD_SWITCH_CPU_WIDE,
    };

    use super::*;
    use crate::traces::tests::{places, raw};

    const OWN: u32 = 7;

    fn words(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    fn thread(pid: u32, tid: u32) -> u64 {
        u64::from(tid) << 32 | u64::from(pid)
    }

    fn switch(tid: u32, at: u64, out: bool) -> Vec<u8> {
        let flags = if out { PERF_RECORD_MISC_SWITCH_OUT as u16 } else { 0 };
        let trailer = words(&[thread(OWN, tid), at, 0, 1]);
        record(PERF_RECORD_SWITCH_CPU_WIDE, flags, &[&[0; 8], &trailer])
    }

    /// A record of the place of a number.
    fn place(id: u64, who: u64, at: u64, stack: &[u64], raw: &[u8]) -> Vec<u8> {
        let head = words(&[id, 0, who, at, 0]);
        let size = (raw.len() as u32).to_ne_bytes();
        record(PERF_RECORD_SAMPLE, 1, &[&head, &words(stack), &size, raw])
    }

    fn taken(records: &[Vec<u8>]) -> Window {
        let places = places();
        let kind = |id: u64| Some(EventKind::Traced(*places.get(id.checked_sub(100)? as usize)?));
        let mut window = Window { begin: Moment(0), end: Moment(100), ..Window::default() };
        window.take_switches(&kind, &records.concat(), &BTreeSet::from([Pid(OWN)]));
        window.sort();
        window
    }

    #[test]
    fn own_threads_are_woken_by_whoever_it_is() {
        let wakes = |by, at, context, tid| place(100, by, at, &[], &raw(context, 0, 0, tid));
        let window = taken(&[
            switch(1, 10, true),
            wakes(thread(99, 98), 30, 0, 1),
            switch(1, 40, false),
            switch(2, 15, true),
            // A timer interrupts whoever runs.
            wakes(thread(OWN, 1), 20, 8, 2),
            switch(2, 21, false),
            // Somebody else's thread, and one after the window.
            wakes(thread(OWN, 1), 50, 0, 55),
            wakes(thread(OWN, 1), 150, 0, 1),
        ]);
        let seen: Vec<_> =
            window.wakings.iter().map(|one| (one.tid.0, one.at.0, one.by.map(|by| by.0))).collect();
        assert_eq!(seen, [(2, 20, None), (1, 30, Some(98))]);
        assert_eq!((window.all_traces, window.switches.len()), (4, 4));
    }

    #[test]
    fn waits_for_the_kernels_locks_are_those_of_own_threads() {
        let begins = |who, at, lock| place(101, who, at, &[2, 0x10, 0x20], &raw(0, lock, 4, 0));
        let ends = |who, at, lock| place(102, who, at, &[], &raw(0, lock, 0, 0));
        let window = taken(&[
            begins(thread(OWN, 1), 10, 0xa),
            begins(thread(99, 98), 12, 0xa),
            ends(thread(OWN, 1), 30, 0xa),
            ends(thread(99, 98), 31, 0xa),
            // One that ends has no number any more.
            begins(thread(OWN, u32::MAX), 40, 0xa),
        ]);
        let (from, to, kind) = (Moment(10), Moment(30), KernelLockKind::Writing);
        let (stack, waiters) = (vec![0x10, 0x20], LockWaiters::Unknown);
        assert_eq!(
            window.contentions,
            [Contention { tid: Tid(1), from, to, kind, stack, waiters }]
        );
    }

    #[test]
    fn a_thread_that_leaves_for_the_last_time_is_none_of_the_programs() {
        let window = taken(&[switch(1, 10, true), switch(u32::MAX, 20, true)]);
        assert_eq!(window.switches.iter().map(|one| one.tid).collect::<Vec<_>>(), [Tid(1)]);
    }
}
