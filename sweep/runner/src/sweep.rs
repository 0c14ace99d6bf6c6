//! The sweep itself.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use kilocore_process::CpuId;
use kilocore_sweep_plan::{AfterCommand, Plan, PlannedRun};
use tempfile::TempDir;

use crate::batch::Coordinator;
use crate::memory::Memory;
use crate::places::{self, OWN, Purpose};
use crate::process::{Ended, Processes};
use crate::state::{State, Task};
use crate::{
    Batch, BatchStanding, BatchSystemError, Outcome, Progress, Share, Standing, SweepError,
};

/// Of so many processes a point may be lost before it counts as one that cannot be computed.
pub const MOST_TRIES: u32 = 3;

/// How a plan is run.
#[derive(Debug)]
pub struct Sweep<'a> {
    /// What is run.
    pub plan: &'a Plan,
    /// The folder of the answers. It is made if it is not there.
    pub folder: &'a Path,
    /// The cores of this host on which processes run, one on each. At least one.
    pub cores: &'a [CpuId],
    /// The bytes that all processes may take together, as far as is known of them before they begin.
    pub memory: u64,
    /// What computes points.
    pub engine: Engine<'a>,
    /// The signal by which this process was told to end, if it was.
    pub told_by: fn() -> Option<i32>,
}

/// What computes the points that runs miss.
#[derive(Debug)]
pub enum Engine<'a> {
    /// The cores of this host.
    Cores,
    /// They compute a part of them. Other sweeps may run at the same time that have other parts.
    Share(Share),
    /// The nodes of a cluster.
    Batch(&'a Batch<'a>),
}

/// What the workers of a sweep share.
struct Shared {
    state: State,
    memory: Memory,
    /// Tasks that are being done.
    busy: usize,
    /// Whether points may still come from a batch system.
    is_coordinated: bool,
    /// How many tasks it has, if there is one.
    batch: Option<BatchStanding>,
    told_by: Option<i32>,
    /// Why the batch system is of no use.
    trouble: Option<BatchSystemError>,
}

/// Those that share it, and what they wait for.
type Common<'a> = (&'a Mutex<Shared>, &'a Condvar);

impl Sweep<'_> {
    /// Runs it, to its end or until this process is told to end: points that were computed are kept then, and answers that
    /// are there stay.
    ///
    /// # Errors
    /// [`SweepError`], if nothing of it can be run.
    ///
    /// # Panics
    /// If there is no core.
    pub fn run(
        &self,
        find: &dyn Fn(&str) -> Option<PathBuf>,
        progress: &dyn Progress,
    ) -> Result<Outcome, SweepError> {
        assert!(!self.cores.is_empty(), "nothing runs without a core");
        let programs = self.programs(find)?;
        let failed = |source| SweepError::Folder { folder: self.folder.to_owned(), source };
        let own = self.folder.join(OWN);
        fs::create_dir_all(&own).map_err(failed)?;
        let own = own.canonicalize().map_err(failed)?;
        let _lock = self.lock(&own)?;
        let scratch = self.scratch(&own).map_err(failed)?;
        let processes = Processes {
            runs: &self.plan.runs,
            programs,
            folder: self.folder,
            own: &own,
            scratch: scratch.path(),
            has_other_hosts: matches!(self.engine, Engine::Batch(_)),
        };
        let (share, most_tries, batch) = match self.engine {
            Engine::Cores => (Share::ALL, MOST_TRIES, None),
            Engine::Share(share) => (share, MOST_TRIES, None),
            Engine::Batch(batch) => (Share::ALL, batch.most_tries, Some(batch)),
        };
        let shared = Mutex::new(Shared {
            state: State::new(self.plan.runs.len(), most_tries, share),
            memory: Memory::new(self.memory),
            busy: 0,
            is_coordinated: batch.is_some(),
            batch: None,
            told_by: None,
            trouble: None,
        });
        let changed = Condvar::new();
        thread::scope(|scope| {
            let common = (&shared, &changed);
            let processes = &processes;
            if let Some(batch) = batch {
                scope.spawn(move || self.coordinate(batch, processes, common, progress));
            }
            for &core in self.cores {
                scope.spawn(move || self.work(processes, core, common, progress));
            }
        });
        let shared = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        match shared.trouble {
            Some(trouble) => Err(trouble.into()),
            None => Ok(shared.state.outcome(shared.told_by)),
        }
    }

    /// The folder's lock: one sweep writes there, or several that share its points.
    fn lock(&self, own: &Path) -> Result<File, SweepError> {
        let failed = |source| SweepError::Folder { folder: self.folder.to_owned(), source };
        let lock = File::create(own.join("lock")).map_err(failed)?;
        let locked = match self.engine {
            Engine::Share(_) => lock.try_lock_shared(),
            Engine::Cores | Engine::Batch(_) => lock.try_lock(),
        };
        locked.map_err(|error| match error {
            fs::TryLockError::WouldBlock => SweepError::Busy(self.folder.to_owned()),
            fs::TryLockError::Error(source) => failed(source),
        })?;
        Ok(lock)
    }

    /// A folder for what this sweep does not need after its end. Who is alone removes what sweeps have left that were killed.
    fn scratch(&self, own: &Path) -> io::Result<TempDir> {
        let all = places::folder(own, Purpose::Running)?;
        if !matches!(self.engine, Engine::Share(_)) {
            fs::remove_dir_all(&all)?;
            places::folder(own, Purpose::Running)?;
        }
        TempDir::new_in(all)
    }

    /// The program of each run.
    fn programs(&self, find: &dyn Fn(&str) -> Option<PathBuf>) -> Result<Vec<PathBuf>, SweepError> {
        let program = |line: usize, words: &[String]| {
            let name = words.first().map(String::as_str).unwrap_or_default();
            find(name).ok_or_else(|| SweepError::Program { line, program: name.to_owned() })
        };
        // Whether they are there is not to be found out after hours.
        for AfterCommand { line, words } in &self.plan.after {
            program(*line, words)?;
        }
        self.plan.runs.iter().map(|PlannedRun { line, words, .. }| program(*line, words)).collect()
    }

    /// Does one task after the other on a core, until there is none and none can come.
    fn work(
        &self,
        processes: &Processes<'_>,
        core: CpuId,
        (shared, changed): Common<'_>,
        progress: &dyn Progress,
    ) {
        let kind = |task: &Task| {
            let words = &self.plan.runs[task.run().0].words;
            words[..2.min(words.len())].join(" ")
        };
        loop {
            let mut own = locked(shared);
            let task = loop {
                own.told_by = own.told_by.or_else(self.told_by);
                let task = if own.is_over() { None } else { self.next(&mut own.state) };
                match task {
                    Some(task) if own.memory.fits(&kind(&task)) => break task,
                    Some(task) => own.state.put_back(task),
                    None if own.busy == 0 && !own.is_coordinated => {
                        changed.notify_all();
                        return;
                    }
                    None if own.is_over() => return,
                    None => {}
                }
                own = changed.wait(own).unwrap_or_else(PoisonError::into_inner);
            };
            own.busy += 1;
            let kind = kind(&task);
            own.memory.begin(&kind);
            drop(own);
            let (ended, most_memory) = processes.run(task, core);
            let mut own = locked(shared);
            own.busy -= 1;
            own.memory.end(&kind, most_memory);
            match ended {
                Ended::Tried(run, tried) => own.state.tried(run, tried),
                Ended::Computed(bundle, report, how) => own.state.computed(bundle, report, &how),
                Ended::ToldToEnd(signal) => own.told_by = own.told_by.or(Some(signal)),
            }
            progress.is_at(self.standing(&own));
            changed.notify_all();
        }
    }

    /// How far it is.
    fn standing(&self, shared: &Shared) -> Standing {
        let at_a_time = match self.engine {
            Engine::Batch(batch) => batch.most_tasks,
            Engine::Cores | Engine::Share(_) => self.cores.len(),
        };
        Standing { batch: shared.batch, ..shared.state.standing(at_a_time) }
    }

    /// What a core of this host does next.
    fn next(&self, state: &mut State) -> Option<Task> {
        match self.engine {
            Engine::Cores | Engine::Share(_) => state.next(self.cores.len()),
            Engine::Batch(_) => state.next_try(),
        }
    }

    /// Has a batch system compute what is missing, until nothing is or can come.
    fn coordinate(
        &self,
        batch: &Batch<'_>,
        processes: &Processes<'_>,
        (shared, changed): Common<'_>,
        progress: &dyn Progress,
    ) {
        let mut coordinator = match Coordinator::new(batch, processes) {
            Ok(coordinator) => coordinator,
            Err(trouble) => {
                let mut own = locked(shared);
                own.trouble = Some(trouble);
                own.is_coordinated = false;
                changed.notify_all();
                return;
            }
        };
        let mut has_adopted = false;
        loop {
            let has_looked = coordinator.look();
            let mut own = locked(shared);
            own.told_by = own.told_by.or_else(self.told_by);
            if has_looked && has_adopted {
                coordinator.take_in(&mut own.state);
            }
            // What all runs miss is known then.
            let is_known = own.busy == 0 && !own.state.has_tries();
            if is_known && !has_adopted {
                has_adopted = true;
                own.trouble = coordinator.adopt(&mut own.state).err();
                coordinator.take_in(&mut own.state);
                changed.notify_all();
                if own.trouble.is_none() {
                    continue;
                }
            }
            let tasks = if is_known { coordinator.hand_out(&mut own.state) } else { Vec::new() };
            let is_done = is_known && tasks.is_empty() && coordinator.is_done(&own.state);
            own.batch = Some(coordinator.standing());
            progress.is_at(self.standing(&own));
            if is_done || own.is_over() {
                own.is_coordinated = false;
                changed.notify_all();
                drop(own);
                coordinator.cancel();
                return;
            }
            changed.notify_all();
            if tasks.is_empty() {
                drop(changed.wait_timeout(own, coordinator.wait()));
                continue;
            }
            drop(own);
            let submitted = coordinator.submit(tasks);
            let mut own = locked(shared);
            match submitted {
                Ok(left) => {
                    left.into_iter()
                        .flatten()
                        .for_each(|bundle| own.state.put_back(Task::Compute(bundle)));
                }
                Err(error) => own.trouble = Some(error),
            }
        }
    }
}

impl Shared {
    /// Whether nothing more is begun.
    fn is_over(&self) -> bool {
        self.told_by.is_some() || self.trouble.is_some()
    }
}

fn locked(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
