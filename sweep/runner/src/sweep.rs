//! The sweep itself.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

use kilocore_process::CpuId;
use kilocore_sweep_plan::Plan;

use crate::memory::Memory;
use crate::process::{Ended, Processes};
use crate::state::{State, Task};
use crate::{Outcome, Progress, SweepError};

/// Of so many processes a point may be lost before it counts as one that cannot be computed.
pub const MOST_TRIES: u32 = 3;

/// The folder of a sweep's own files, in that of its answers.
const OWN: &str = ".sweep";

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
}

/// What the workers of a sweep share.
struct Shared {
    state: State,
    memory: Memory,
    /// Tasks that are being done.
    busy: usize,
    told_by: Option<i32>,
}

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
        let lock = File::create(own.join("lock")).map_err(failed)?;
        lock.try_lock().map_err(|error| match error {
            fs::TryLockError::WouldBlock => SweepError::Busy(self.folder.to_owned()),
            fs::TryLockError::Error(source) => failed(source),
        })?;
        let processes = Processes { runs: &self.plan.runs, programs, folder: self.folder, own };
        processes.make_room().map_err(failed)?;
        let shared = Mutex::new(Shared {
            state: State::new(self.plan.runs.len(), MOST_TRIES),
            memory: Memory::new(self.memory),
            busy: 0,
            told_by: None,
        });
        let changed = Condvar::new();
        thread::scope(|scope| {
            for &core in self.cores {
                let (processes, shared, changed) = (&processes, &shared, &changed);
                scope.spawn(move || self.work(processes, core, (shared, changed), progress));
            }
        });
        let shared = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(shared.state.outcome(shared.told_by))
    }

    /// The program of each run.
    fn programs(&self, find: &dyn Fn(&str) -> Option<PathBuf>) -> Result<Vec<PathBuf>, SweepError> {
        let program = |run: &kilocore_sweep_plan::PlannedRun| {
            let name = run.words.first().map(String::as_str).unwrap_or_default();
            find(name)
                .ok_or_else(|| SweepError::Program { line: run.line, program: name.to_owned() })
        };
        self.plan.runs.iter().map(program).collect()
    }

    /// Does one task after the other on a core, until there is none and none can come.
    fn work(
        &self,
        processes: &Processes<'_>,
        core: CpuId,
        (shared, changed): (&Mutex<Shared>, &Condvar),
        progress: &dyn Progress,
    ) {
        let kind = |task: &Task| {
            self.plan.runs[task.run().0].words[..2.min(self.plan.runs[task.run().0].words.len())]
                .join(" ")
        };
        loop {
            let mut own = shared.lock().unwrap_or_else(PoisonError::into_inner);
            let task = loop {
                let task =
                    if own.told_by.is_none() { own.state.next(self.cores.len()) } else { None };
                match task {
                    Some(task) if own.memory.fits(&kind(&task)) => break task,
                    Some(task) => own.state.put_back(task),
                    None if own.busy == 0 => {
                        changed.notify_all();
                        return;
                    }
                    None if own.told_by.is_some() => return,
                    None => {}
                }
                own = changed.wait(own).unwrap_or_else(PoisonError::into_inner);
            };
            own.busy += 1;
            let kind = kind(&task);
            own.memory.begin(&kind);
            drop(own);
            let (ended, most_memory) = processes.run(task, core);
            let mut own = shared.lock().unwrap_or_else(PoisonError::into_inner);
            own.busy -= 1;
            own.memory.end(&kind, most_memory);
            match ended {
                Ended::Tried(run, tried) => own.state.tried(run, tried),
                Ended::Computed(bundle, report, how) => own.state.computed(bundle, report, &how),
                Ended::ToldToEnd(signal) => own.told_by = own.told_by.or(Some(signal)),
            }
            progress.is_at(own.state.standing(self.cores.len()));
            changed.notify_all();
        }
    }
}
