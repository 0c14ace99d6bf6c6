//! What is submitted, waited for and taken in.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::time::{Duration, Instant};

use super::array::ArrayFolder;
use super::hand_out::hand_out;
use super::outstanding::{Outstanding, TakenIn};
use super::staging::Staging;
use super::system::{Array, BatchSystemError, Stage, TaskId};
use super::task::{Part, SCHEMA, TaskDocument};
use super::{Batch, BatchStanding, Until};
use crate::process::Processes;
use crate::state::State;
use crate::work_list::Bundle;

/// The batch system is asked so often, and less so the longer nothing happens.
const SOONEST: Duration = Duration::from_secs(1);
const LATEST: Duration = Duration::from_secs(30);

/// A batch system that has taken nothing for so long, while it has nothing to do, is given up.
const PATIENCE: Duration = Duration::from_mins(15);

/// Who submits tasks, waits for them, and takes in what they have done.
pub(crate) struct Coordinator<'a> {
    batch: &'a Batch<'a>,
    processes: &'a Processes<'a>,
    staging: Staging<'a>,
    tasks: Vec<Outstanding>,
    /// Tasks that have ended, and that the batch system would start once more.
    to_cancel: Vec<TaskId>,
    /// How many tasks the batch system has taken at most, if it has refused more.
    limit: usize,
    interval: Duration,
    next_look: Instant,
    is_silent: bool,
    /// Since when nothing could be submitted, if that is so.
    refused_since: Option<Instant>,
    /// Nothing is submitted before.
    next_submission: Instant,
    has_submitted: bool,
    /// How many tasks an array may have.
    array_size: usize,
}

impl<'a> Coordinator<'a> {
    /// Finds out whether there is a batch system at all, before anything else is done.
    pub(crate) fn new(
        batch: &'a Batch<'a>,
        processes: &'a Processes<'a>,
    ) -> Result<Self, BatchSystemError> {
        let array_size = match batch.until {
            Until::Collected => 1,
            Until::Submitted | Until::Ended => batch.system.most_tasks_of_an_array()?.max(1),
        };
        Ok(Self {
            batch,
            processes,
            staging: Staging::new(processes.own),
            tasks: Vec::new(),
            to_cancel: Vec::new(),
            limit: batch.most_tasks.max(1),
            interval: SOONEST,
            next_look: Instant::now(),
            is_silent: false,
            refused_since: None,
            next_submission: Instant::now(),
            has_submitted: false,
            array_size: array_size as usize,
        })
    }

    /// Finds the tasks of sweeps before this one, once all runs were tried. Who only collects takes in what tasks have
    /// reported that are gone; else these are forgotten.
    pub(crate) fn adopt(&mut self, state: &mut State) -> Result<(), BatchSystemError> {
        let arrays = ArrayFolder::all(self.processes.own)?;
        let collects = self.batch.until == Until::Collected;
        let under_way = match arrays.is_empty() || collects {
            true => HashMap::new(),
            false => self.batch.system.under_way()?,
        };
        for array in arrays {
            let is_under_way =
                |index| under_way.contains_key(&TaskId { array: array.name(), index }) || collects;
            let tasks = (0u32..).zip(array.tasks()).filter(|(index, _)| is_under_way(*index));
            let before = self.tasks.len();
            for (index, task) in tasks {
                let parts: VecDeque<Vec<Bundle>> =
                    task.parts.iter().map(|part| state.take(&part.keys)).collect();
                self.tasks.push(Outstanding::adopted(array.clone(), index, parts));
            }
            if self.tasks.len() == before {
                array.remove();
            }
        }
        Ok(())
    }

    /// Asks the batch system what has become of the tasks, if it is time to.
    pub(crate) fn look(&mut self) -> bool {
        if Instant::now() < self.next_look {
            return false;
        }
        if self.batch.until != Until::Collected && !self.tasks.is_empty() {
            let under_way = self.batch.system.under_way();
            self.is_silent = under_way.is_err();
            if let Ok(under_way) = under_way {
                for task in &mut self.tasks {
                    task.is_said_to_be(under_way.get(&task.id).copied());
                }
            }
            self.cancel();
        }
        true
    }

    /// Takes back what the batch system would start for nothing. What it does not take back ends as soon as it begins.
    pub(crate) fn cancel(&mut self) {
        if !self.to_cancel.is_empty() && self.batch.system.cancel(&self.to_cancel).is_ok() {
            self.to_cancel.clear();
        }
    }

    /// Takes in what tasks have done since.
    pub(crate) fn take_in(&mut self, state: &mut State) {
        let collects = self.batch.until == Until::Collected;
        let mut has_changed = false;
        let mut ended = HashSet::new();
        self.tasks.retain_mut(|task| {
            let taken = task.take_in(state);
            has_changed |= taken != TakenIn::Nothing;
            if taken == TakenIn::Ended {
                ended.insert(task.folder.clone());
                if task.waits() && !collects {
                    self.to_cancel.push(task.id.clone());
                }
            }
            taken != TakenIn::Ended
        });
        let left: HashSet<&ArrayFolder> = self.tasks.iter().map(|task| &task.folder).collect();
        // Who collects leaves all for who submits.
        if !collects {
            ended.iter().filter(|array| !left.contains(array)).for_each(ArrayFolder::remove);
        }
        self.interval = match has_changed {
            true => (self.interval / 2).max(SOONEST),
            false => (self.interval * 3 / 2).min(LATEST),
        };
        self.next_look = Instant::now() + self.interval;
    }

    /// How long nothing needs to be asked.
    pub(crate) fn wait(&self) -> Duration {
        self.next_look.saturating_duration_since(Instant::now())
    }

    /// Takes what is to be submitted now.
    pub(crate) fn hand_out(&self, state: &mut State) -> Vec<Vec<Bundle>> {
        let room = match self.batch.until {
            Until::Collected => 0,
            Until::Submitted => self.limit,
            Until::Ended => self.limit.saturating_sub(self.tasks.len()),
        };
        match Instant::now() < self.next_submission {
            true => Vec::new(),
            false => hand_out(state, room, self.limit, self.batch.most_time),
        }
    }

    /// Whether nothing more is to be done, if nothing is tried.
    pub(crate) fn is_done(&self, state: &State) -> bool {
        match self.batch.until {
            Until::Ended => self.tasks.is_empty() && !state.has_points(),
            Until::Submitted => !state.has_points(),
            Until::Collected => true,
        }
    }

    pub(crate) fn standing(&self) -> BatchStanding {
        let count = |stage| self.tasks.iter().filter(|task| task.stage == Some(stage)).count();
        BatchStanding {
            waiting: count(Stage::Waiting),
            running: count(Stage::Running),
            is_silent: self.is_silent,
        }
    }

    /// Submits tasks. Returns those that nobody has taken.
    ///
    /// # Errors
    /// If there is no use in another try.
    pub(crate) fn submit(
        &mut self,
        tasks: Vec<Vec<Bundle>>,
    ) -> Result<Vec<Vec<Bundle>>, BatchSystemError> {
        let mut left = VecDeque::from(tasks);
        let mut size = self.array_size;
        while !left.is_empty() {
            let count = left.len().min(size);
            let refused = self.submit_array(left.make_contiguous().split_at(count).0);
            let Err(error) = refused else {
                left.drain(..count);
                self.refused_since = None;
                self.has_submitted = true;
                continue;
            };
            // It may not take so many of one user.
            let is_refused = matches!(error, BatchSystemError::Refused { .. });
            if is_refused && count > 1 && !self.is_silent {
                size = count / 2;
                continue;
            }
            if is_refused && self.has_submitted {
                self.limit = self.tasks.len().max(1);
            }
            let since = *self.refused_since.get_or_insert_with(Instant::now);
            let is_hopeless = !self.has_submitted || since.elapsed() > PATIENCE;
            if self.tasks.is_empty() && is_hopeless {
                return Err(error);
            }
            self.next_submission = Instant::now() + LATEST;
            break;
        }
        self.next_look = Instant::now() + self.interval;
        Ok(left.into())
    }

    /// Submits tasks as one array.
    fn submit_array(&mut self, tasks: &[Vec<Bundle>]) -> Result<(), BatchSystemError> {
        let documents: Vec<TaskDocument> =
            tasks.iter().map(|bundles| self.document(bundles)).collect::<io::Result<_>>()?;
        let program = self.staging.copy_of(&self.batch.program)?;
        let words: Vec<_> =
            [program.into()].into_iter().chain(self.batch.words.iter().cloned()).collect();
        let folder = ArrayFolder::create(self.processes.own, &documents)?;
        let name = folder.name();
        let array = Array {
            name: &name,
            folder: folder.path(),
            tasks: u32::try_from(tasks.len()).unwrap_or(u32::MAX),
            words: &words,
        };
        if let Err(error) = self.batch.system.submit(&array) {
            // What it says of a call that took too long may not be what it has done.
            let under_way = self.batch.system.under_way();
            self.is_silent = under_way.is_err();
            let has_it = under_way.is_ok_and(|tasks| tasks.keys().any(|task| task.array == name));
            if !has_it {
                if !self.is_silent {
                    folder.remove();
                }
                return Err(error);
            }
        }
        for (index, bundles) in (0..).zip(tasks) {
            let parts = bundles.iter().map(|bundle| vec![bundle.clone()]).collect();
            self.tasks.push(Outstanding::new(folder.clone(), index, parts));
        }
        Ok(())
    }

    fn document(&mut self, bundles: &[Bundle]) -> io::Result<TaskDocument> {
        let part = |bundle: &Bundle| {
            let program = self.staging.copy_of(&self.processes.programs[bundle.run.0])?;
            let words = self.processes.runs[bundle.run.0].words[1..].to_vec();
            Ok(Part { program, words, keys: bundle.keys() })
        };
        Ok(TaskDocument {
            schema: SCHEMA.to_owned(),
            points: self.processes.own.to_owned(),
            seconds: self.batch.most_time.as_secs().max(1),
            parts: bundles.iter().map(part).collect::<io::Result<_>>()?,
        })
    }
}
