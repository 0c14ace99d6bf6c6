//! A window: a short stretch of time in which everything was recorded, and what was recorded.

use std::collections::{BTreeMap, BTreeSet};

use kilocore_perf_events::records;
use syscalls::Sysno;

use crate::events::Kind;
use crate::ids::{Moment, Nanoseconds, Pid, Tid};
use crate::registers::Registers;
use crate::samples::{Taken, Told, take};
use crate::watchpoints::Watchpoints;

/// A thread left its core or got one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Switch {
    pub(crate) pid: Pid,
    pub(crate) tid: Tid,
    pub(crate) at: Moment,
    pub(crate) what: What,
}

/// Which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum What {
    /// It got a core.
    In,
    /// It left its core, by another's will or its own. The call that it is in is known if somebody
    /// looked.
    Out { preempted: bool, call: Option<Sysno>, registers: Option<Registers>, stack: Vec<u8> },
    /// It ended.
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

/// What was recorded in a window. Everything is sorted by time.
#[derive(Debug, Default)]
pub(crate) struct Window {
    pub(crate) begin: Moment,
    pub(crate) end: Moment,
    pub(crate) switches: Vec<Switch>,
    pub(crate) ticks: Vec<Tick>,
    pub(crate) hits: Vec<Hit>,
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

/// A thread that enters a system call to wait there leaves its core within this time.
const TO_LEAVE: Nanoseconds = Nanoseconds(100_000);

impl Leaving {
    /// The record that it left.
    fn out(self, at: Moment, preempted: bool) -> What {
        let Self { entering, registers, stack } = self;
        match (entering, registers) {
            (None, registers) => What::Out { preempted, call: None, registers, stack },
            (Some(entered), Some(registers)) if !preempted && at - entered <= TO_LEAVE => {
                let (number, registers) = registers.entering();
                let call = Sysno::new(number as usize);
                let registers = call.map(|_| registers);
                What::Out { preempted, call, registers, stack }
            }
            _ => What::Out { preempted, call: None, registers: None, stack: Vec::new() },
        }
    }
}

impl Window {
    /// Takes what happened to threads and cores, as far as it is about `members`. `kind` says what
    /// the event of an id is.
    pub(crate) fn take_switches(
        &mut self,
        kind: &dyn Fn(u64) -> Option<Kind>,
        bytes: &[u8],
        members: &BTreeSet<Pid>,
    ) {
        // The registers of a thread that leaves come before the record that it left.
        let mut leaving: BTreeMap<Tid, Leaving> = BTreeMap::new();
        for record in records(bytes).map_while(Result::ok) {
            let (origin, told) = match take(record) {
                Taken::Told(origin, told) => (origin, told),
                Taken::Lost => {
                    self.lost_switches = true;
                    continue;
                }
                Taken::Other => continue,
            };
            self.all_switches += u64::from(matches!(told, Told::Out { .. }));
            if !members.contains(&origin.pid) || !self.holds(origin.at) {
                continue;
            }
            let (pid, tid, at) = (origin.pid, origin.tid, origin.at);
            let before = leaving.remove(&tid);
            let what = match told {
                Told::Sample { kernel, registers, stack, .. } => {
                    let kind = kind(origin.id);
                    if kind == Some(Kind::Tick) {
                        let stack = stack.to_vec();
                        self.ticks.push(Tick { pid, tid, at, kernel, registers, stack });
                        // In the kernel, it may still be about to leave.
                        leaving.extend(before.filter(|_| kernel).map(|before| (tid, before)));
                    } else if let Some(kind) = kind {
                        let entering = (kind == Kind::Call).then_some(at);
                        self.entries += u64::from(entering.is_some());
                        leaving.insert(tid, Leaving { entering, registers, stack: stack.to_vec() });
                    }
                    continue;
                }
                Told::In => What::In,
                Told::Exit => What::Exit,
                Told::Out { preempted } => before.map_or(
                    What::Out { preempted, call: None, registers: None, stack: Vec::new() },
                    |before| before.out(at, preempted),
                ),
            };
            self.switches.push(Switch { pid, tid, at, what });
        }
    }

    /// Takes what the watchpoints recorded.
    pub(crate) fn take_hits(&mut self, watchpoints: &Watchpoints, bytes: &[u8]) {
        for record in records(bytes).map_while(Result::ok) {
            match take(record) {
                Taken::Told(origin, Told::Sample { registers: Some(registers), stack, .. }) => {
                    let Some(word) = watchpoints.word(origin.id) else { continue };
                    if self.holds(origin.at) {
                        let (pid, tid, at) = (origin.pid, origin.tid, origin.at);
                        let (core, stack) = (origin.core, stack.to_vec());
                        self.hits.push(Hit { word, pid, tid, at, core, registers, stack });
                    }
                }
                Taken::Lost => self.lost_hits = true,
                _ => {}
            }
        }
    }

    /// Ends taking.
    pub(crate) fn sort(&mut self) {
        self.switches.sort_by_key(|switch| (switch.at, switch.tid));
        self.ticks.sort_by_key(|tick| (tick.at, tick.tid));
        self.hits.sort_by_key(|hit| (hit.at, hit.tid));
    }

    /// How long it lasted, in nanoseconds.
    pub(crate) fn length(&self) -> f64 {
        (self.end - self.begin).0 as f64
    }

    fn holds(&self, at: Moment) -> bool {
        (self.begin..=self.end).contains(&at)
    }
}
