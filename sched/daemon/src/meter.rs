//! What tasks did in a window, by what this host offers.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use kilocore_sched_policy::{
    LockLabel, LockWait, Machine, Nanos, PolicyName, ProgramId, TaskId, TaskWindow,
};

use crate::counted::{Counted, estimate_neighbours};
use crate::counters::{CounterSource, NoCounters};
use crate::coverage::Coverage;
use crate::error::DaemonError;
use crate::futexes::{Futexes, Slept};
use crate::hardware::Hardware;
use crate::host::Host;
use crate::kernel_locks::{KernelLock, KernelLocks, is_kernels};
use crate::looks::{self, Sleep};
use crate::monitored_group;
use crate::named::Named;
use crate::recordings::{Recent, Recordings};
use crate::resctrl::{CacheUse, Monitor};
use crate::spins::Spins;
use crate::tree::{Thread, Tree};
use crate::waits::{self, Wait, Waiter, Waits};

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
    /// From the measuring library in programs that are started, besides what this host offers.
    Preload,
    /// From the kernel's tracepoints, too; it is an error if they are not to be had.
    Tracepoints,
    /// From the kernel's tracepoints of its own locks, too; it is an error if they are not to be had.
    Kernel,
}

impl FromStr for Metrics {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "perf" => Ok(Self::Perf),
            "proc" => Ok(Self::Proc),
            "preload" => Ok(Self::Preload),
            "tracepoints" => Ok(Self::Tracepoints),
            "kernel" => Ok(Self::Kernel),
            _ => Err(format!(
                "there are no metrics '{text}'; choose auto, perf, proc, preload, tracepoints or kernel"
            )),
        }
    }
}

impl fmt::Display for Metrics {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Auto => "auto",
            Self::Perf => "perf",
            Self::Proc => "proc",
            Self::Preload => "preload",
            Self::Tracepoints => "tracepoints",
            Self::Kernel => "kernel",
        })
    }
}

/// How many threads are looked at between two windows at most, all looks together.
const MOST_LOOKS: usize = 1000;

/// What looks at a thread in this window have shown.
#[derive(Debug, Default)]
struct LookCounts {
    looks: u64,
    sleeps: BTreeMap<Sleep, u64>,
}

/// What counts, for each thread and window, its time, its waits and its events.
#[derive(Debug)]
pub struct Meter {
    metrics: Metrics,
    spins: Option<Spins>,
    counted: Option<Counted>,
    recordings: Option<Recordings>,
    futexes: Option<Futexes>,
    kernel_locks: Option<KernelLocks>,
    /// Or why there is none.
    monitor: Result<Monitor, String>,
    /// How much of what recorded processes wait for is recorded.
    coverage: BTreeMap<Named, Coverage>,
    unseen: Vec<String>,
    before: BTreeMap<TaskId, (Nanos, Nanos)>,
    seen: BTreeMap<TaskId, LookCounts>,
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
            _ => Hardware::find(),
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
            (_, Err(error)) => Err(error.to_string()),
        };
        if let Err(reason) = &spins {
            unseen.push(format!("spinning (perf's clock: {reason})"));
        }
        let futexes = (metrics == Metrics::Tracepoints).then(Futexes::find).transpose();
        let futexes = futexes.map_err(|why| {
            DaemonError::Metrics(format!(
                "the kernel's tracepoints of futexes cannot be had: {why}; run as root or with CAP_PERFMON, \
                 with tracefs mounted (`mount -t tracefs tracefs /sys/kernel/tracing`) and a kernel with \
                 CONFIG_FTRACE_SYSCALLS, or take --metrics auto, which looks into /proc"
            ))
        })?;
        let kernel_locks = match metrics {
            Metrics::Proc => Err("not asked for".to_owned()),
            _ => KernelLocks::find(),
        };
        let kernel_locks = match (metrics, kernel_locks) {
            (Metrics::Kernel, Err(why)) => {
                return Err(DaemonError::Metrics(format!(
                    "the kernel's tracepoints of its own locks cannot be had: {why}; run as root or with \
                     CAP_PERFMON, with tracefs mounted (`mount -t tracefs tracefs /sys/kernel/tracing`) and \
                     Linux 5.19 or later, or take --metrics auto, which does without them"
                )));
            }
            (_, found) => found,
        };
        if let Err(reason) = &kernel_locks {
            unseen.push(format!("waits for the kernel's own locks (its tracepoints: {reason})"));
        }
        // SAFETY: asks for a constant.
        let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
        let tick = Nanos(1_000_000_000 / u64::try_from(ticks).unwrap_or(100).max(1));
        Ok(Self {
            metrics,
            spins: spins.ok(),
            counted,
            recordings: None,
            futexes,
            kernel_locks: kernel_locks.ok(),
            monitor: monitored_group::find(Path::new(monitored_group::MOUNTED))
                .and(Err("resctrl is not asked for".to_owned())),
            coverage: BTreeMap::new(),
            unseen,
            before: BTreeMap::new(),
            seen: BTreeMap::new(),
            looked: 0,
            next: 0,
            tick,
        })
    }

    /// Also takes what the measuring library records into this folder, which is made now.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn record(&mut self, folder: PathBuf) -> io::Result<()> {
        self.recordings = Some(Recordings::begin(folder)?);
        Ok(())
    }

    /// Where metrics come from, as it was asked for.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        self.metrics
    }

    /// The sources of what is known of threads, as sentences.
    #[must_use]
    pub fn sources(&self) -> Vec<String> {
        let mut sources = vec!["running and waiting times of threads (/proc schedstat)".to_owned()];
        if self.spins.is_some() {
            sources.push(
                "spin loops among perf's samples of each core, one in two milliseconds, or in eight while \
                 nobody waits"
                    .to_owned(),
            );
        }
        sources.push("looks at threads that sleep for a lock (/proc syscall)".to_owned());
        if self.monitor.is_ok() {
            sources.push(
                "bytes in last-level caches and to and from memory, of all programs together (resctrl)"
                    .to_owned(),
            );
        }
        if self.futexes.is_some() {
            sources
                .push("how long threads sleep in futexes (tracepoints of the kernel)".to_owned());
        }
        if self.kernel_locks.is_some() {
            sources.push(
                "waits for the kernel's own locks, at most two thousand a second on each core (tracepoints \
                 of the kernel)"
                    .to_owned(),
            );
        }
        if self.recordings.is_some() {
            sources.push(
                "how often pthread locks were acquired and how long waits for them were (measuring library \
                 in the program)"
                    .to_owned(),
            );
        }
        sources.extend(self.counted.as_ref().map(Counted::describe));
        sources
    }

    /// Also watches what programs have of caches, by this group, which is made now, if it can be.
    pub(crate) fn monitor(&mut self, group: PathBuf) {
        let made = Monitor::begin(group);
        self.monitor = made.map_err(|error| format!("resctrl makes no group: {error}"));
    }

    /// A window is over: what programs have of caches, if that is watched.
    pub(crate) fn caches(&mut self, tree: &Tree) -> Option<CacheUse> {
        self.monitor.as_mut().ok().map(|monitor| monitor.window(tree))
    }

    /// How often recorded locks were acquired so far, if they are recorded.
    #[must_use]
    pub fn acquired(&self) -> Option<u64> {
        self.recordings.as_ref().map(Recordings::acquired)
    }

    /// The kernel's own locks for which threads have waited so far, the longest first, if that is seen.
    #[must_use]
    pub fn kernel_locks(&self) -> Option<Vec<KernelLock>> {
        self.kernel_locks.as_ref().map(KernelLocks::all)
    }

    /// What a lock is called, if it is one of the kernel's.
    pub(crate) fn kernel_lock(&self, LockLabel(lock): LockLabel) -> Option<&str> {
        self.kernel_locks.as_ref()?.name(lock)
    }

    /// What cannot be seen, as far as that is known by now.
    #[must_use]
    pub fn unseen(&self) -> Vec<String> {
        let uncounted = self.counted.as_ref().map(Counted::unseen).unwrap_or_default();
        let unrecorded = match &self.recordings {
            None => Some("how often locks were taken (--metrics preload counts that)".to_owned()),
            Some(recordings) => recordings.unseen(),
        };
        let caches = self.monitor.as_ref().err().map(|why| format!("how full caches are ({why})"));
        let untraced = self.futexes.as_ref().and_then(Futexes::unseen);
        self.unseen
            .iter()
            .cloned()
            .chain(caches)
            .chain(unrecorded)
            .chain(untraced)
            .chain(uncounted)
            .collect()
    }

    /// Takes few samples from now on, or many.
    pub(crate) fn set_loose(&mut self, is_loose: bool) {
        if let Some(spins) = &mut self.spins {
            spins.set_loose(is_loose);
        }
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
            if let Some(sleep) = looks::sleep(thread.process.id, thread.of.id) {
                *seen.sleeps.entry(sleep).or_default() += 1;
            }
        }
        self.looked += budget;
        // The next slice begins when the daemon sleeps again.
        if let Some(kernel_locks) = &mut self.kernel_locks {
            kernel_locks.look(tree);
        }
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
        let sampled = self.spins.as_mut().map(|spins| spins.take(tree));
        let traced = self.futexes.as_mut().map(|futexes| futexes.take(tree)).unwrap_or_default();
        let mut in_kernel =
            self.kernel_locks.as_mut().map(|locks| locks.take(length)).unwrap_or_default();
        let recorded = self.recordings.as_mut().map(|recordings| recordings.take(tree, length));
        let mut before = BTreeMap::new();
        let mut processes: BTreeMap<Named, Vec<(&Thread, Waiter)>> = BTreeMap::new();
        for thread in tree.threads() {
            let ticks = Nanos(thread.stat.ticks * self.tick.0);
            let now = host.times(thread.process.id, thread.of.id).unwrap_or((ticks, Nanos(0)));
            let then = self.before.get(&thread.task).copied().unwrap_or(now);
            before.insert(thread.task, now);
            let since = |now: Nanos, then: Nanos| Nanos(now.0.saturating_sub(then.0).min(length.0));
            let ran = since(now.0, then.0);
            let sampled =
                sampled.as_ref().map(|all| all.get(&thread.of.id).copied().unwrap_or_default());
            let slept = match traced.get(&thread.of) {
                Some(traced) => traced_sleep(traced, Nanos(length.0 - ran.0)),
                None => self.slept(thread, ran, length),
            };
            let mut waiter = Waiter {
                ran,
                ready: since(now.1, then.1),
                user: sampled.map(|sampled| sampled.user.min(ran)),
                spun: sampled.map_or(Nanos(0), |sampled| sampled.spun.min(length)),
                slept,
                in_kernel: Waits::new(),
            };
            waiter.wait_in_kernel(in_kernel.remove(&thread.of.id).unwrap_or_default(), length);
            processes.entry(thread.process).or_default().push((thread, waiter));
        }
        let mut tasks = Vec::new();
        self.coverage.retain(|process, _| processes.contains_key(process));
        for (process, threads) in processes {
            let (threads, waiters): (Vec<&Thread>, Vec<Waiter>) = threads.into_iter().unzip();
            let locks = recorded.as_ref().and_then(|recorded| recorded.get(&process));
            let waits = self.waits(process, locks, &waiters, length);
            for ((thread, waiter), locks) in threads.into_iter().zip(waiters).zip(waits) {
                tasks.push(TaskWindow {
                    task: thread.task,
                    program: thread.program,
                    allowed: thread.allowed.clone(),
                    cpu: thread.stat.cpu,
                    ran: waiter.ran,
                    user: waiter.user_and_spinning(),
                    ready: waiter.ready,
                    locks: locks.map(|wait| wait.of(thread.program)).collect(),
                    counters: counted.remove(&thread.of),
                    beside: Vec::new(),
                });
            }
        }
        tasks.sort_by_key(|task| task.task);
        estimate_neighbours(&mut tasks, machine, length);
        if let Some(kernel_locks) = &mut self.kernel_locks {
            kernel_locks.add(&tasks);
        }
        self.before = before;
        self.seen.clear();
        self.looked = 0;
        tasks
    }

    /// The waits of a process's threads, with acquisitions if these tell how much it gets done.
    fn waits(
        &mut self,
        process: Named,
        locks: Option<&Vec<Recent>>,
        threads: &[Waiter],
        length: Nanos,
    ) -> Vec<impl Iterator<Item = Waited> + use<>> {
        let (waits, is_counted) = match locks {
            None => (threads.iter().map(waits::seen).collect(), false),
            Some(locks) => {
                let combined = waits::combine(locks, threads, length);
                let coverage = self.coverage.entry(process).or_default();
                coverage.window(combined.times);
                (combined.of_threads, coverage.counts())
            }
        };
        let waited = move |(word, wait)| Waited { word, wait, is_counted };
        waits.into_iter().map(|waits| waits.into_iter().map(waited)).collect()
    }

    /// How long a thread has slept in which words.
    fn slept(&self, thread: &Thread, ran: Nanos, length: Nanos) -> BTreeMap<u64, (Nanos, bool)> {
        let mut slept: BTreeMap<u64, (Nanos, bool)> = BTreeMap::new();
        let Some(seen) = self.seen.get(&thread.task) else { return slept };
        for (sleep, times) in &seen.sleeps {
            let time = (length.0 - ran.0) / seen.looks * times;
            let (sum, as_mutex) = slept.entry(sleep.word).or_default();
            sum.0 += time;
            *as_mutex |= sleep.as_mutex;
        }
        slept
    }
}

/// What was traced of a thread's sleep, as far as it had time for it: on its way to sleep and back, it ran.
fn traced_sleep(traced: &Slept, most: Nanos) -> BTreeMap<u64, (Nanos, bool)> {
    let mut left = most.0;
    let mut slept: BTreeMap<u64, (Nanos, bool)> = BTreeMap::new();
    for (sleep, time) in traced {
        let time = time.0.min(left);
        left -= time;
        let (sum, as_mutex) = slept.entry(sleep.word).or_default();
        sum.0 += time;
        *as_mutex |= sleep.as_mutex;
    }
    slept
}

/// A wait of a thread.
struct Waited {
    word: u64,
    wait: Wait,
    is_counted: bool,
}

impl Waited {
    fn of(&self, program: ProgramId) -> LockWait {
        LockWait {
            lock: label(program, self.word),
            spun: self.wait.spun,
            slept: self.wait.slept,
            acquired: self.is_counted.then_some(self.wait.acquired),
        }
    }
}

/// The label of a lock at an address of a program; 0 stands for those on which it spins, and 1 for all
/// others that are recorded. Addresses of
/// user space have 47 bits, or 56 on some machines, where labels of different programs may meet after 256
/// programs. A lock of the kernel is the same for all programs.
pub(crate) fn label(program: ProgramId, word: u64) -> LockLabel {
    if is_kernels(word) {
        return LockLabel(word);
    }
    LockLabel(word ^ u64::from(program.0).rotate_right(16))
}

/// The address behind a label, if the lock is this program's.
pub(crate) fn word(LockLabel(lock): LockLabel, program: ProgramId) -> u64 {
    label(program, lock).0
}
