//! Tasks that the batch system has.

use std::collections::VecDeque;

use super::array::ArrayFolder;
use super::system::{Stage, TaskId};
use crate::state::{State, Task};
use crate::work_list::Bundle;

/// A task that the batch system does not know in so many answers, one after the other, is gone. Where files of other nodes are
/// seen late, its report is there by then.
const ANSWERS: u32 = 2;

/// What became of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TakenIn {
    /// It goes on, and has reported nothing new.
    Nothing,
    /// It goes on, and some of its parts have ended.
    Some,
    /// It has ended.
    Ended,
}

/// A task that the batch system has, as far as is known.
#[derive(Debug)]
pub(crate) struct Outstanding {
    pub(crate) folder: ArrayFolder,
    pub(crate) id: TaskId,
    /// Its parts that have not been taken in: what is computed for somebody.
    parts: VecDeque<Vec<Bundle>>,
    /// How many were.
    taken_in: usize,
    /// What the batch system says. `None` if it does not know it.
    pub(crate) stage: Option<Stage>,
    /// In how many answers it was not.
    unseen: u32,
    /// Whether a node may have had it, as far as is known.
    may_have_run: bool,
}

impl Outstanding {
    /// One that was just submitted.
    pub(crate) fn new(folder: ArrayFolder, index: u32, parts: VecDeque<Vec<Bundle>>) -> Self {
        let id = TaskId { array: folder.name(), index };
        let stage = Some(Stage::Waiting);
        Self { folder, id, parts, taken_in: 0, stage, unseen: 0, may_have_run: false }
    }

    /// One of a sweep before this one.
    pub(crate) fn adopted(folder: ArrayFolder, index: u32, parts: VecDeque<Vec<Bundle>>) -> Self {
        Self { may_have_run: true, ..Self::new(folder, index, parts) }
    }

    /// What the batch system says of it now.
    pub(crate) fn is_said_to_be(&mut self, stage: Option<Stage>) {
        self.unseen = if stage.is_some() { 0 } else { self.unseen + 1 };
        self.stage = stage;
        self.may_have_run |= stage != Some(Stage::Waiting);
    }

    /// Whether it waits for a node.
    pub(crate) fn waits(&self) -> bool {
        self.stage == Some(Stage::Waiting)
    }

    /// Takes in what it has reported since. One that waits may have: if the batch system has lost sight of a node, it lets a task
    /// wait again that goes on there.
    pub(crate) fn take_in(&mut self, state: &mut State) -> TakenIn {
        if !self.may_have_run {
            return TakenIn::Nothing;
        }
        let report = self.folder.report(self.id.index);
        let mut taken = TakenIn::Nothing;
        for part in report.parts.into_iter().skip(self.taken_in) {
            self.taken_in += 1;
            taken = TakenIn::Some;
            for bundle in self.parts.pop_front().unwrap_or_default() {
                state.computed(bundle, part.report.clone(), &part.how);
            }
        }
        if report.ended {
            self.put_back(state);
            return TakenIn::Ended;
        }
        if self.unseen >= ANSWERS {
            self.is_gone(state);
            return TakenIn::Ended;
        }
        taken
    }

    /// Gives back what it has not begun.
    fn put_back(&mut self, state: &mut State) {
        for bundle in self.parts.drain(..).flatten() {
            state.put_back(Task::Compute(bundle));
        }
    }

    /// It was lost: with its node, or as it was cancelled, or over its time. The part that it was at may be the reason. If it
    /// has achieved nothing, nobody knows whether another one would.
    fn is_gone(&mut self, state: &mut State) {
        let printed = self.folder.printed(self.id.index);
        let said =
            if printed.is_empty() { String::new() } else { format!("; it has said: {printed}") };
        let how = format!("was task {} of {}, which is gone{said}", self.id.index, self.id.array);
        let lost = if self.taken_in == 0 { self.parts.len() } else { 1.min(self.parts.len()) };
        for bundle in self.parts.drain(..lost).flatten() {
            state.computed(bundle, None, &how);
        }
        self.put_back(state);
    }
}
