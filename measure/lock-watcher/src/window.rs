//! A window: a short stretch of time in which everything was recorded, and what was recorded.

use std::collections::{BTreeMap, BTreeSet};

use kilocore_perf_events::records;

use crate::cores::{Cores, Kind};
use crate::ids::{Moment, Pid, Tid};
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
    /// It left its core, by another's will or its own.
    Out { preempted: bool, registers: Option<Registers>, stack: Vec<u8> },
    /// It ended.
    Exit,
}

/// A timer found a thread on a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tick {
    pub(crate) pid: Pid,
    pub(crate) tid: Tid,
    pub(crate) at: Moment,
    /// Whether it was in the kernel.
    pub(crate) kernel: bool,
    pub(crate) registers: Option<Registers>,
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
    /// The threads whose writes were watched.
    pub(crate) watched: Vec<Tid>,
    /// Whether switches or ticks were lost, or hits.
    pub(crate) lost_switches: bool,
    pub(crate) lost_hits: bool,
    /// How many switches there were on all cores, whosever.
    pub(crate) all_switches: u64,
}

impl Window {
    /// Takes what the cores recorded, as far as it is about `members`.
    pub(crate) fn take_cores(&mut self, cores: &Cores, bytes: &[u8], members: &BTreeSet<Pid>) {
        // The registers of a thread that leaves come before the record that it left.
        let mut leaving: BTreeMap<u32, (Tid, Option<Registers>, Vec<u8>)> = BTreeMap::new();
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
            let what = match told {
                Told::Sample { kernel, registers, stack, .. } => {
                    match cores.kind(origin.id) {
                        Some(Kind::Tick) => {
                            self.ticks.push(Tick { pid, tid, at, kernel, registers });
                        }
                        Some(Kind::Switch) => {
                            leaving.insert(origin.core, (tid, registers, stack.to_vec()));
                        }
                        None => {}
                    }
                    continue;
                }
                Told::In => What::In,
                Told::Exit => What::Exit,
                Told::Out { preempted } => {
                    let of_it = leaving.remove(&origin.core).filter(|(leaver, ..)| *leaver == tid);
                    let (registers, stack) = of_it
                        .map_or((None, Vec::new()), |(_, registers, stack)| (registers, stack));
                    What::Out { preempted, registers, stack }
                }
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
