//! What tasks did in a window, by what this host offers.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use kilocore_sched_policy::{
    LockLabel, LockWait, Machine, Nanos, PolicyName, ProgramId, TaskId, TaskWindow,
};

use crate::counted::{Counted, estimate_neighbours};
use crate::counters::{CounterSource, NoCounters};
use crate::error::DaemonError;
use crate::hardware::Hardware;
use crate::host::Host;
use crate::looks;
use crate::resctrl;
use crate::spins::Spins;
use crate::tree::{Thread, Tree};

/// Where metrics come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Metrics {
    /// From whatever this host offers.
    #[default]
    Auto,
    /// From perf's clock, too; it is an error if that is not to be had.
    Perf,
    /// From files below `/proc` alone.
    Proc,
}

impl FromStr for Metrics {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "perf" => Ok(Self::Perf),
            "proc" => Ok(Self::Proc),
            _ => Err(format!("there are no metrics '{text}'; choose auto, perf or proc")),
        }
    }
}

impl fmt::Display for Metrics {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Auto => "auto",
            Self::Perf => "perf",
            Self::Proc => "proc",
        })
    }
}

/// How many threads are looked at between two windows at most, all looks together.
const MOST_LOOKS: usize = 1000;

/// What looks at a thread in this window have shown.
#[derive(Debug, Default)]
struct Seen {
    looks: u64,
    locks: BTreeMap<u64, u64>,
}

/// Watches the threads.
#[derive(Debug)]
pub struct Meter {
    spins: Option<Spins>,
    counted: Option<Counted>,
    unseen: Vec<String>,
    before: BTreeMap<TaskId, (Nanos, Nanos)>,
    seen: BTreeMap<TaskId, Seen>,
    looked: usize,
    next: usize,
    tick: Nanos,
}

impl Meter {
    /// Begins to watch what a policy decides by.
    ///
    /// # Errors
    /// If something was asked for, or the policy needs something, that this host does not offer.
    pub fn begin(metrics: Metrics, policy: PolicyName) -> Result<Self, DaemonError> {
        let counters = match metrics {
            Metrics::Proc => Err(NoCounters::NotAskedFor),
            Metrics::Auto | Metrics::Perf => Hardware::find(),
        };
        Self::with(metrics, policy, counters.map(|found| Box::new(found) as Box<_>))
    }

    /// The same with counters that may be played.
    ///
    /// # Errors
    /// As of [`begin`](Self::begin).
    pub fn with(
        metrics: Metrics,
        policy: PolicyName,
        counters: Result<Box<dyn CounterSource>, NoCounters>,
    ) -> Result<Self, DaemonError> {
        if policy.needs_scheduler() {
            return Err(DaemonError::NeedsScheduler(policy));
        }
        let (counted, uncounted) = match counters {
            Ok(source) if policy.needs_counters() => (Some(Counted::of(source)), None),
            Err(why) if policy.needs_counters() => {
                return Err(DaemonError::NoCounters(policy, why));
            }
            // They cost the program something at each switch.
            Ok(_) => (None, Some(format!("there are some, but {policy} does not decide by them"))),
            Err(why) => (None, Some(why.to_string())),
        };
        let uncounted = uncounted.map(|why| format!("what hardware counters count ({why})"));
        let mut unseen: Vec<String> = uncounted.into_iter().collect();
        unseen.extend([
            format!("how full caches are ({})", resctrl::describe(Path::new(resctrl::MOUNTED))),
            "how often locks were taken".to_owned(),
            "sleep for locks whose word is not 2 while threads wait, and sleep through a whole window"
                .to_owned(),
        ]);
        let spins = match (metrics, Spins::begin()) {
            (Metrics::Proc, _) => Err("not asked for".to_owned()),
            (_, Ok(spins)) => Ok(spins),
            (Metrics::Perf, Err(error)) => {
                return Err(DaemonError::Metrics(format!(
                    "perf's clock cannot sample the cores: {error}; run as root or with CAP_PERFMON, or \
                     take --metrics proc, which sees no spinning"
                )));
            }
            (Metrics::Auto, Err(error)) => Err(error.to_string()),
        };
        if let Err(reason) = &spins {
            unseen.push(format!("spinning (perf's clock: {reason})"));
        }
        // SAFETY: asks for a constant.
        let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
        let tick = Nanos(1_000_000_000 / u64::try_from(ticks).unwrap_or(100).max(1));
        Ok(Self {
            spins: spins.ok(),
            counted,
            unseen,
            before: BTreeMap::new(),
            seen: BTreeMap::new(),
            looked: 0,
            next: 0,
            tick,
        })
    }

    /// What is watched.
    #[must_use]
    pub fn sources(&self) -> Vec<String> {
        let mut sources = vec!["running and waiting times of threads (/proc schedstat)".to_owned()];
        if self.spins.is_some() {
            sources.push(
                "spin loops among perf's samples of each core, one in two milliseconds".to_owned(),
            );
        }
        sources.push("looks at threads that sleep for a lock (/proc syscall)".to_owned());
        sources.extend(self.counted.as_ref().map(Counted::describe));
        sources
    }

    /// What cannot be seen, as far as that is known by now.
    #[must_use]
    pub fn unseen(&self) -> Vec<String> {
        let uncounted = self.counted.as_ref().map(Counted::unseen).unwrap_or_default();
        self.unseen.iter().cloned().chain(uncounted).collect()
    }

    /// Looks at what threads sleep for: at each of them, or at some in turn if there are many.
    pub fn look(&mut self, tree: &Tree) {
        let threads: Vec<&Thread> = tree.threads().collect();
        let budget = MOST_LOOKS.saturating_sub(self.looked).min(threads.len());
        for _ in 0..budget {
            let thread = threads[self.next % threads.len()];
            self.next = (self.next + 1) % threads.len();
            let seen = self.seen.entry(thread.task).or_default();
            seen.looks += 1;
            if let Some(word) = looks::lock(thread.process.id, thread.of.id) {
                *seen.locks.entry(word).or_default() += 1;
            }
        }
        self.looked += budget;
    }

    /// The window is over, of this length. Returns what each thread did on this machine.
    pub fn window(
        &mut self,
        tree: &Tree,
        host: &mut dyn Host,
        machine: &Machine,
        length: Nanos,
    ) -> Vec<TaskWindow> {
        let mut counted =
            self.counted.as_mut().map(|counted| counted.take(tree)).unwrap_or_default();
        let spun = self.spins.as_mut().map(|spins| spins.take(tree)).unwrap_or_default();
        let mut before = BTreeMap::new();
        let mut tasks = Vec::new();
        for thread in tree.threads() {
            let ticks = Nanos(thread.stat.ticks * self.tick.0);
            let now = host.times(thread.process.id, thread.of.id).unwrap_or((ticks, Nanos(0)));
            let then = self.before.get(&thread.task).copied().unwrap_or(now);
            before.insert(thread.task, now);
            let since = |now: Nanos, then: Nanos| Nanos(now.0.saturating_sub(then.0).min(length.0));
            let ran = since(now.0, then.0);
            let mut locks = Vec::new();
            if let Some(spun) = spun.get(&thread.of.id) {
                let spun = Nanos(spun.0.min(length.0));
                let lock = label(thread.program, 0);
                locks.push(LockWait { lock, spun, slept: Nanos(0), acquired: None });
            }
            locks.extend(self.slept(thread, ran, length));
            tasks.push(TaskWindow {
                task: thread.task,
                program: thread.program,
                allowed: thread.allowed.clone(),
                cpu: thread.stat.cpu,
                ran,
                ready: since(now.1, then.1),
                locks,
                counters: counted.remove(&thread.of),
                beside: Vec::new(),
            });
        }
        tasks.sort_by_key(|task| task.task);
        estimate_neighbours(&mut tasks, machine, length);
        self.before = before;
        self.seen.clear();
        self.looked = 0;
        tasks
    }

    /// How long a thread has slept for which locks. One that has not run at all is idle.
    fn slept(&self, thread: &Thread, ran: Nanos, length: Nanos) -> Vec<LockWait> {
        let Some(seen) = self.seen.get(&thread.task).filter(|_| ran.0 > 0) else {
            return Vec::new();
        };
        let wait = |(word, times): (&u64, &u64)| LockWait {
            lock: label(thread.program, *word),
            spun: Nanos(0),
            slept: Nanos((length.0 - ran.0) / seen.looks * times),
            acquired: None,
        };
        seen.locks.iter().map(wait).collect()
    }
}

/// The label of a lock at an address of a program; 0 stands for those on which it spins. Addresses of
/// user space have 47 bits, or 56 on some machines, where labels of different programs may meet after 256
/// programs.
pub(crate) fn label(program: ProgramId, word: u64) -> LockLabel {
    LockLabel(word ^ u64::from(program.0).rotate_right(16))
}

/// The address behind a label, if the lock is this program's.
pub(crate) fn word(LockLabel(lock): LockLabel, program: ProgramId) -> u64 {
    label(program, lock).0
}
