//! The chain of waits that bounds a run, by function.

use std::collections::BTreeMap;

use kilocore_emulation_orders::{ChainPart, Report, Waits};
use serde::Serialize;

use crate::names::Names;

/// The chain of waits that bounds a run: what would have to be shorter for the run to be shorter. All of it together
/// is as long as the run.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct RunChain {
    /// When it ends, in ns of simulated time: when the program does.
    pub end_ns: f64,
    /// What threads did on it, by function, the most first.
    pub functions: Vec<ChainFunction>,
    /// How one thread went on because of another one, those that took most first.
    pub hand_overs: Vec<ChainHandOver>,
    /// How long threads waited on it for something that is not simulated, in ns. What that depends on is not on it.
    pub outside_ns: f64,
    /// The threads that are on it, those that take most first.
    pub threads: Vec<ChainThread>,
}

/// What threads did in a function, on the chain. All times are in ns.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ChainFunction {
    /// Its name, or where it is. What was not told apart has none.
    pub function: String,
    /// Computing.
    pub computed_ns: f64,
    /// Waiting for lines.
    pub waited_ns: f64,
    /// Spinning in vain.
    pub spun_ns: f64,
    /// In the kernel.
    pub system_ns: f64,
    /// Asleep for a time that the thread chose, or waiting for something that is not simulated.
    pub asleep_ns: f64,
}

/// A thread waits, and another one ends that.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChainHandOver {
    /// What it waits for.
    pub how: Waits,
    /// The function that waits.
    pub waiter: String,
    /// The function that ends the wait.
    pub waker: String,
    /// How often.
    pub count: u64,
    /// From the event that ends the wait until the thread runs, in ns, all together.
    pub ns: f64,
}

/// A thread's part of the chain.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChainThread {
    /// Its number, in the order in which threads began. None if it is that of several.
    pub thread: Option<u32>,
    /// How long it is, in ns.
    pub ns: f64,
}

/// Parts of each kind that are kept. The smallest of more are one without a name.
const MOST: usize = 100;
/// Where what has no place is.
const ELSEWHERE: &str = "elsewhere";
/// Who waits to be made.
const NEW: &str = "a new thread";

impl ChainFunction {
    /// All its time, in ns.
    #[must_use]
    pub fn ns(&self) -> f64 {
        self.computed_ns + self.waited_ns + self.spun_ns + self.system_ns + self.asleep_ns
    }

    fn add(&mut self, other: &Self) {
        self.computed_ns += other.computed_ns;
        self.waited_ns += other.waited_ns;
        self.spun_ns += other.spun_ns;
        self.system_ns += other.system_ns;
        self.asleep_ns += other.asleep_ns;
    }
}

impl RunChain {
    /// That of a run, with the names of its functions.
    pub(crate) fn of(report: &Report, names: &mut Names<'_>) -> Self {
        let chain = &report.chain;
        let mut functions: BTreeMap<String, ChainFunction> = BTreeMap::new();
        let mut hand_overs: BTreeMap<(Waits, String, String), (u64, f64)> = BTreeMap::new();
        let (mut threads, mut outside_ns) = (Vec::new(), 0.0);
        let place = |at: u32| chain.places.get(at as usize).map_or(&[][..], Vec::as_slice);
        for share in &chain.parts {
            let ns = share.ns;
            let none = ChainFunction::default();
            let (function, does) = match share.part {
                ChainPart::Computing { at } => {
                    (here(place(at), names), ChainFunction { computed_ns: ns, ..none })
                }
                ChainPart::Lines { at } => {
                    (here(place(at), names), ChainFunction { waited_ns: ns, ..none })
                }
                ChainPart::Spinning { at } => {
                    (here(place(at), names), ChainFunction { spun_ns: ns, ..none })
                }
                ChainPart::System { at } => {
                    (caller(place(at), names), ChainFunction { system_ns: ns, ..none })
                }
                ChainPart::Asleep { at } | ChainPart::Outside { at } => {
                    if matches!(share.part, ChainPart::Outside { .. }) {
                        outside_ns += ns;
                    }
                    (caller(place(at), names), ChainFunction { asleep_ns: ns, ..none })
                }
                ChainPart::HandOver { how, waiter, waker } => {
                    let waiter = match how {
                        Waits::Made => NEW.to_owned(),
                        _ => caller(place(waiter), names),
                    };
                    let key = (how, waiter, caller(place(waker), names));
                    let (count, all) = hand_overs.entry(key).or_default();
                    *count += share.count;
                    *all += ns;
                    continue;
                }
                ChainPart::Thread { number } => {
                    threads.push(ChainThread { thread: number, ns });
                    continue;
                }
            };
            functions.entry(function).or_default().add(&does);
        }
        let named = |(function, of)| ChainFunction { function, ..of };
        let mut functions: Vec<ChainFunction> = functions.into_iter().map(named).collect();
        functions.sort_by(|a, b| b.ns().total_cmp(&a.ns()));
        let over =
            |((how, waiter, waker), (count, ns))| ChainHandOver { how, waiter, waker, count, ns };
        let mut hand_overs: Vec<ChainHandOver> = hand_overs.into_iter().map(over).collect();
        hand_overs.sort_by(|a, b| b.ns.total_cmp(&a.ns).then(b.count.cmp(&a.count)));
        Self { end_ns: chain.end_ns, functions, hand_overs, outside_ns, threads }.shortened()
    }

    /// Adds the smallest parts up.
    fn shortened(mut self) -> Self {
        let rest = self.functions.split_off(MOST.min(self.functions.len()));
        if !rest.is_empty() {
            let function = ELSEWHERE.to_owned();
            let mut last = ChainFunction { function, ..ChainFunction::default() };
            rest.iter().for_each(|of| last.add(of));
            self.functions.push(last);
        }
        let rest = self.hand_overs.split_off(MOST.min(self.hand_overs.len()));
        for over in rest {
            let known = |it: &&mut ChainHandOver| it.how == over.how && it.waiter == ELSEWHERE;
            match self.hand_overs.iter_mut().skip(MOST).find(known) {
                Some(known) => {
                    known.count += over.count;
                    known.ns += over.ns;
                }
                None => self.hand_overs.push(ChainHandOver {
                    waiter: ELSEWHERE.to_owned(),
                    waker: ELSEWHERE.to_owned(),
                    ..over
                }),
            }
        }
        let rest = self.threads.split_off(MOST.min(self.threads.len()));
        if !rest.is_empty() {
            let ns = rest.iter().map(|thread| thread.ns).sum();
            self.threads.push(ChainThread { thread: None, ns });
        }
        self
    }

    /// How long hand-overs take, in ns, and how many there are.
    #[must_use]
    pub fn handing_over(&self) -> (f64, u64) {
        let all = self.hand_overs.iter();
        all.fold((0.0, 0), |(ns, count), over| (ns + over.ns, count + over.count))
    }
}

/// The function that a place is in.
fn here(place: &[u64], names: &mut Names<'_>) -> String {
    place.first().map_or_else(|| ELSEWHERE.to_owned(), |&address| names.function_or_file(address))
}

/// The function that called what a place is in, if that is the C library or another one that only serves others, with
/// what it called.
pub(crate) fn caller(place: &[u64], names: &mut Names<'_>) -> String {
    match place.iter().position(|&address| !names.serves_others(address)) {
        None | Some(0) => here(place, names),
        Some(index) => {
            format!(
                "{} in {}",
                names.function_or_file(place[index]),
                names.function_or_file(place[index - 1])
            )
        }
    }
}
