//! The daemon: window after window, what tasks did goes to the policy, and its orders to the system.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use kilocore_linux::{HeldUp, offline_warning};
use kilocore_process::allowed_cores;
use kilocore_sched_policy::{
    GroupState, GroupStatus, LockLabel, Machine, Nanos, Policy, PolicyName, Window,
};

use crate::control::Control;
use crate::cpusets::Cpusets;
use crate::error::DaemonError;
use crate::hold::{Hold, follow, may_steer};
use crate::host::Host;
use crate::kernel_locks::KernelLock;
use crate::ledger::Fact;
use crate::machine::this_machine;
use crate::meter::{Meter, Metrics};
use crate::monitored_group;
use crate::pace::Pace;
use crate::resctrl::CacheUse;
use crate::snapshot::{Snapshot, Watcher};
use crate::tree::{Order, Tree};

/// In how many parts a window is divided, after each of which threads are looked at; while watching is loose,
/// after the last one only.
const PARTS: u32 = 5;

/// A scan takes at most one part in so many of a window; else the window is stretched.
const SCAN: u32 = 10;

/// A line of the log names so many of the kernel's locks at most.
const NAMED: usize = 3;

/// How the daemon works.
#[derive(Debug, Clone)]
pub struct Options {
    /// The policy that decides where threads may run.
    pub policy: PolicyName,
    /// How long a window is, if scans are quick enough.
    pub window: Duration,
    /// How orders are carried out.
    pub control: Control,
    /// Whether orders are only counted.
    pub dry_run: bool,
    /// Whether process 1 may be steered, and with it all that it has started.
    pub whole_system: bool,
    /// Whether processes that lose their parents become children of this process, which then has no others but
    /// the program.
    pub adopts: bool,
    /// Where the measuring library in the programs records to: a folder that is made now and goes at the
    /// end.
    pub recordings: Option<PathBuf>,
}

/// What the daemon has done.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// How many windows there were.
    pub windows: u64,
    /// How many of them were stretched, since listing the threads took long.
    pub stretched: u64,
    /// The most threads that there were at a time.
    pub most_threads: usize,
    /// Orders given; in a dry run, that would have been given.
    pub orders: u64,
    /// Orders for threads that had ended.
    pub gone: u64,
    /// Threads that the system did not let be confined.
    pub refused: u64,
    /// Threads that got their allowance back at the end.
    pub restored: u64,
    /// How often recorded locks were acquired until the last window's end; `None` if nothing was recorded.
    pub acquired: Option<u64>,
    /// The kernel's own locks for which threads waited, the longest first; `None` if that was not seen.
    pub kernel_locks: Option<Vec<KernelLock>>,
    /// What all programs together had of caches at the last window's end, if that was watched.
    pub caches: Option<CacheUse>,
    /// Groups that were confined, as they were last.
    pub groups: Vec<GroupStatus>,
    /// What could not be put back, in words. The journal is kept for it.
    pub left: Vec<String>,
    /// What may be confined still, in words: whose choice that is, or who has started it, is not known.
    pub unknown: Vec<String>,
    /// How orders were carried out.
    pub control: Control,
    /// By which cgroups, in words, if by any.
    pub cgroups: Option<String>,
    /// What else limited the programs meanwhile, in words: their control groups, cores that are turned off.
    pub limits: Vec<String>,
    /// The sources of what is known of threads, as sentences.
    pub sources: Vec<String>,
    /// What could not be seen.
    pub unseen: Vec<String>,
}

/// A daemon for some programs. When it is dropped, everything is put back.
#[derive(Debug)]
pub struct Daemon {
    host: Box<dyn Host + Send>,
    tree: Tree,
    meter: Meter,
    pace: Pace,
    policy: Box<dyn Policy>,
    machine: Machine,
    options: Options,
    /// None if there will be nothing to put back.
    orders: Option<Hold>,
    groups: BTreeMap<Vec<LockLabel>, GroupStatus>,
    watcher: Watcher,
    /// Why it is not known who creates whom.
    unfollowed: Option<String>,
    /// How often control groups have held the programs up.
    held_up: Vec<HeldUp>,
    summary: Summary,
}

impl Daemon {
    /// A daemon for the processes with these ids, and all that they start, which `meter` watches. It has to
    /// be one for the same policy. `guardian` is how to start a process that calls [`guard`](crate::guard).
    ///
    /// # Errors
    /// If a process is not there or may not be steered, or there is no way to put things back.
    pub fn new(
        pids: &[u32],
        options: Options,
        meter: Meter,
        mut host: Box<dyn Host + Send>,
        guardian: Command,
    ) -> Result<Self, DaemonError> {
        if pids.contains(&1) && !options.whole_system {
            return Err(DaemonError::WholeSystem);
        }
        let mut tree = Tree::of(pids, &mut *host)?;
        tree.leave_out([std::process::id()]);
        if let Some(pid) = pids.iter().find(|pid| !may_steer(**pid))
            && !options.dry_run
        {
            return Err(DaemonError::NotOurs(*pid));
        }
        let cpusets = match options.control {
            Control::Affinity => None,
            Control::Cpuset => Some(Cpusets::find(pids, &mut *host)?),
        };
        let orders = if options.dry_run && options.recordings.is_none() {
            None
        } else {
            Some(Hold::begin(&mut tree, !options.dry_run, &mut *host, guardian)?)
        };
        if options.adopts {
            tree.adopt_by(std::process::id());
        }
        let unfollowed = match (&orders, options.control) {
            (Some(_), Control::Affinity) if !options.dry_run => follow(&mut tree, &mut *host)?,
            _ => None,
        };
        let summary = Summary {
            control: options.control,
            cgroups: cpusets.as_ref().map(Cpusets::describe),
            ..Summary::default()
        };
        let mut daemon = Self {
            host,
            tree,
            meter,
            pace: Pace::default(),
            policy: options.policy.policy(),
            machine: this_machine(),
            options,
            orders,
            groups: BTreeMap::new(),
            watcher: Watcher::default(),
            unfollowed,
            held_up: pids.iter().map(|pid| HeldUp::of(*pid)).collect(),
            summary,
        };
        daemon.begin(pids, cpusets)?;
        daemon.record()?;
        daemon.summary.sources = daemon.meter.sources();
        daemon.summary.unseen = daemon.unseen();
        Ok(daemon)
    }

    /// Cgroups are made before anything is steered, so that what they lack is said in time.
    fn begin(&mut self, pids: &[u32], cpusets: Option<Cpusets>) -> Result<(), DaemonError> {
        let orders = self.orders.as_mut().filter(|_| !self.options.dry_run);
        let (Some(mut cpusets), Some(Hold { journal, .. })) = (cpusets, orders) else {
            return Ok(());
        };
        cpusets.begin(pids, &mut *self.host, journal)?.map_err(DaemonError::Journal)?;
        self.tree.carry_out_by(cpusets);
        Ok(())
    }

    /// Makes the folder for recordings, and a group that is monitored, after the journal says that they
    /// have to go.
    fn record(&mut self) -> Result<(), DaemonError> {
        let Some(Hold { journal, .. }) = &mut self.orders else { return Ok(()) };
        let wanted = !self.options.dry_run && self.meter.metrics() != Metrics::Proc;
        if let (true, Ok(group)) =
            (wanted, monitored_group::find(Path::new(monitored_group::MOUNTED)))
        {
            journal.write(vec![Fact::Monitor(group.clone())]).map_err(DaemonError::Journal)?;
            self.meter.monitor(group);
        }
        let Some(folder) = self.options.recordings.clone() else { return Ok(()) };
        journal.write(vec![Fact::Recordings(folder.clone())]).map_err(DaemonError::Journal)?;
        self.meter.record(folder.clone()).map_err(|error| DaemonError::Recordings(folder, error))
    }

    fn unseen(&self) -> Vec<String> {
        self.meter.unseen().into_iter().chain(self.unfollowed.clone()).collect()
    }

    /// How orders are carried out.
    #[must_use]
    pub fn control(&self) -> String {
        let cgroups = self.summary.cgroups.iter();
        cgroups.fold(self.options.control.to_string(), |control, cgroups| {
            format!("{control} ({cgroups})")
        })
    }

    /// Shows `see` how things stand at the end of each window. It has to be quick: the daemon waits.
    pub fn watch(&mut self, see: impl FnMut(Snapshot) + Send + 'static) {
        self.watcher.0 = Some(Box::new(see));
    }

    fn show(&mut self) {
        let control = self.control();
        let Some(see) = &mut self.watcher.0 else { return };
        let mut snapshot = Snapshot {
            windows: self.summary.windows,
            orders: self.summary.orders,
            caches: self.summary.caches,
            control,
            sources: self.summary.sources.clone(),
            unseen: self.summary.unseen.clone(),
            ..Snapshot::default()
        };
        snapshot.sort(&self.tree, self.policy.groups(), &self.meter);
        see(snapshot);
    }

    /// Steers until `stop` says so or no program is left. Each window's changes are told to `tell`, a
    /// line each.
    ///
    /// # Errors
    /// If the journal cannot be written any more.
    pub fn run(
        &mut self,
        stop: &dyn Fn() -> bool,
        tell: &mut dyn FnMut(String),
    ) -> Result<(), DaemonError> {
        let mut began = Instant::now();
        self.scan()?;
        let mut length = self.options.window;
        while !stop() && !self.tree.is_empty() {
            for part in 1..=PARTS {
                let until = began + length * part / PARTS;
                std::thread::sleep(until.saturating_duration_since(Instant::now()));
                if stop() {
                    return Ok(());
                }
                if part == PARTS || !self.pace.is_loose() {
                    self.meter.look(&self.tree);
                }
            }
            let now = Instant::now();
            let took = now - began;
            began = now;
            self.scan()?;
            self.window(Nanos(took.as_nanos() as u64), tell)?;
            let stretched = now.elapsed() * SCAN;
            length = self.options.window.max(stretched);
            self.summary.windows += 1;
            self.summary.stretched += u64::from(stretched > self.options.window);
            self.show();
        }
        Ok(())
    }

    fn scan(&mut self) -> Result<(), DaemonError> {
        let orders = self.orders.as_mut().filter(|_| !self.options.dry_run);
        let journal = orders.map(|hold| &mut hold.journal);
        self.tree.scan(&mut *self.host, journal).map_err(DaemonError::Journal)?;
        self.summary.most_threads = self.summary.most_threads.max(self.tree.threads().count());
        Ok(())
    }

    fn window(&mut self, length: Nanos, tell: &mut dyn FnMut(String)) -> Result<(), DaemonError> {
        let tasks = self.meter.window(&self.tree, &mut *self.host, &self.machine, length);
        self.summary.unseen = self.unseen();
        self.summary.caches = self.meter.caches(&self.tree);
        self.summary.acquired = self.meter.acquired();
        self.summary.kernel_locks = self.meter.kernel_locks();
        let window = Window { length, tasks: &tasks };
        for order in self.policy.window(&self.machine, &window) {
            let orders = self.orders.as_mut().filter(|_| !self.options.dry_run);
            let Some(Hold { journal, .. }) = orders else {
                self.summary.orders += 1;
                continue;
            };
            let allowed = self.tree.thread(order.task()).map(|thread| &thread.allowed);
            let cpus = Some(order.cpus()).filter(|cpus| Some(*cpus) != allowed);
            let cpus = cpus.cloned();
            let given = self.tree.order(order.task(), cpus.as_ref(), &mut *self.host, journal);
            match given.map_err(DaemonError::Journal)? {
                Order::Given => self.summary.orders += 1,
                Order::Gone => self.summary.gone += 1,
                Order::Refused => self.summary.refused += 1,
                Order::Nothing => {}
            }
        }
        self.note_groups(tell);
        self.pace.window(&tasks, !self.policy.groups().is_empty());
        self.meter.set_loose(self.pace.is_loose());
        Ok(())
    }

    fn note_groups(&mut self, tell: &mut dyn FnMut(String)) {
        let groups = self.policy.groups();
        for (locks, group) in &mut self.groups {
            let is_over = groups.iter().all(|now| now.locks != *locks);
            if is_over && std::mem::replace(&mut group.state, GroupState::Free) != GroupState::Free
            {
                tell(format!("{} tasks are free again", group.tasks.len()));
            }
        }
        for group in groups {
            let before = self.groups.get(&group.locks);
            if before.is_none_or(|old| old.cpus != group.cpus || old.state != group.state) {
                tell(describe(&group, &self.meter));
            }
            self.groups.insert(group.locks.clone(), group);
        }
    }

    /// Puts everything back and tells what was done.
    #[must_use]
    pub fn finish(mut self) -> Summary {
        self.put_back();
        let mut summary = std::mem::take(&mut self.summary);
        let cores = allowed_cores().len() as u32;
        summary.limits = self.held_up.iter().filter_map(|group| group.warning(cores)).collect();
        summary.limits.extend(offline_warning());
        summary.limits.dedup();
        summary.groups = std::mem::take(&mut self.groups).into_values().collect();
        summary
    }

    fn put_back(&mut self) {
        let Some(hold) = self.orders.take() else { return };
        let is_ordered = !self.options.dry_run && self.options.control == Control::Affinity;
        let outcome = hold.put_back(&mut self.tree, is_ordered, &mut *self.host);
        self.summary.restored = outcome.threads;
        self.summary.left = outcome.left;
        self.summary.unknown = outcome.unknown;
        self.summary.unknown.extend(outcome.strangers);
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.put_back();
    }
}

/// A group in words, with those of its locks that are the kernel's.
fn describe(group: &GroupStatus, meter: &Meter) -> String {
    let waiting = group.waiting.as_millionths() / 10_000;
    let kernels: BTreeSet<&str> =
        group.locks.iter().filter_map(|lock| meter.kernel_lock(*lock)).collect();
    let named: String = kernels
        .iter()
        .take(NAMED)
        .map(|lock| format!("; for {lock}, a lock of the kernel"))
        .collect();
    format!(
        "{} tasks that wait for locks {waiting} % of their time: {:?}, on cores {}{named}",
        group.tasks.len(),
        group.state,
        group.cpus
    )
}

/// Whether orders for these processes can be carried out in this way; without any, for what this process
/// starts. Nothing is changed.
///
/// # Errors
/// What is missing.
pub fn check_control(
    control: Control,
    pids: &[u32],
    host: &mut dyn Host,
) -> Result<(), DaemonError> {
    match control {
        Control::Affinity => {}
        Control::Cpuset => drop(Cpusets::find(pids, host)?),
    }
    Ok(())
}
