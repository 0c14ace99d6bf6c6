//! Confining a process that runs to some cores as a whole, for a while.
//!
//! Nobody decides here: who measures says which cores, one set after the other. What a policy's daemon does to put
//! things back is done here, too: threads that begin meanwhile, those that choose cores themselves, and the end of
//! this process, whatever ends it.

use std::process::Command;

use kilocore_sched_policy::{CpuSet, TaskId};

use crate::error::DaemonError;
use crate::hold::{Hold, follow, may_steer};
use crate::host::Host;
use crate::outcome::Outcome;
use crate::tree::{Order, Thread, Tree};

/// A process whose threads are confined, alone or with its descendants. When it is dropped, everything is put back.
#[derive(Debug)]
pub struct Confinement {
    host: Box<dyn Host + Send>,
    tree: Tree,
    root: u32,
    with_descendants: bool,
    /// None once everything has been put back.
    hold: Option<Hold>,
    unfollowed: Option<String>,
    now: Option<CpuSet>,
}

impl Confinement {
    /// Takes hold of the process of this id, and of its descendants if they are to be confined, too. Nothing is
    /// confined yet. `guardian` is how to start a process that calls [`guard`](crate::guard).
    ///
    /// # Errors
    /// If the process is not there or may not be confined, somebody steers it already, or there is no way to put
    /// things back.
    pub fn begin(
        root: u32,
        with_descendants: bool,
        mut host: Box<dyn Host + Send>,
        guardian: Command,
    ) -> Result<Self, DaemonError> {
        if root == 1 && with_descendants {
            return Err(DaemonError::WholeSystem);
        }
        let mut tree = Tree::of(&[root], &mut *host)?;
        tree.leave_out([std::process::id()]);
        if !may_steer(root) {
            return Err(DaemonError::NotOurs(root));
        }
        let hold = Hold::begin(&mut tree, true, &mut *host, guardian)?;
        let (hold, now) = (Some(hold), None);
        let mut begun = Self { host, tree, root, with_descendants, hold, unfollowed: None, now };
        // From here on, an error puts back what was begun.
        begun.unfollowed = follow(&mut begun.tree, &mut *begun.host)?;
        begun.renew()?;
        Ok(begun)
    }

    /// Why it is not known who creates whom, if it is not: then a process that loses its parent before it is listed
    /// may stay confined.
    #[must_use]
    pub fn unfollowed(&self) -> Option<&str> {
        self.unfollowed.as_deref()
    }

    /// The processes that are confined, those of them that there are.
    #[must_use]
    pub fn processes(&self) -> Vec<u32> {
        let all = self.tree.processes().map(|process| process.id);
        all.filter(|&pid| self.with_descendants || pid == self.root).collect()
    }

    /// The cores that their owner lets all threads use. `None` if he lets some of them use others, as programs do that
    /// give their threads cores of their own; and if there are no threads any more.
    #[must_use]
    pub fn allowed(&self) -> Option<CpuSet> {
        let mut threads = self.threads();
        let first = threads.next()?.allowed.clone();
        threads.all(|thread| thread.allowed == first).then_some(first)
    }

    fn threads(&self) -> impl Iterator<Item = &Thread> {
        let of_these = |thread: &&Thread| self.with_descendants || thread.process.id == self.root;
        self.tree.threads().filter(of_these)
    }

    /// Confines all threads to these cores, or, without any, lets them run wherever they may. Returns whether all of
    /// them are so.
    ///
    /// # Errors
    /// If the journal cannot be written; nothing more is ordered then.
    pub fn confine(&mut self, cpus: Option<&CpuSet>) -> Result<bool, DaemonError> {
        self.now = cpus.cloned();
        self.renew()
    }

    /// Confines threads that have begun since, too. Returns whether all threads are confined as was said last.
    ///
    /// # Errors
    /// If the journal cannot be written; nothing more is ordered then.
    pub fn renew(&mut self) -> Result<bool, DaemonError> {
        let Some(Hold { journal, .. }) = &mut self.hold else { return Ok(false) };
        self.tree.scan(&mut *self.host, Some(journal)).map_err(DaemonError::Journal)?;
        let tasks: Vec<TaskId> = self.threads().map(|thread| thread.task).collect();
        let Some(Hold { journal, .. }) = &mut self.hold else { return Ok(false) };
        let mut all = true;
        for task in tasks {
            let order = self.tree.order(task, self.now.as_ref(), &mut *self.host, journal);
            match order.map_err(DaemonError::Journal)? {
                Order::Given | Order::Gone => {}
                Order::Refused => all = false,
                Order::Nothing => {
                    all &=
                        self.tree.thread(task).is_none_or(|thread| is_at(thread, self.now.as_ref()))
                }
            }
        }
        Ok(all)
    }

    /// Puts everything back, and tells what became of that.
    #[must_use]
    pub fn finish(mut self) -> Outcome {
        self.put_back()
    }

    fn put_back(&mut self) -> Outcome {
        let hold = self.hold.take();
        hold.map(|hold| hold.put_back(&mut self.tree, true, &mut *self.host)).unwrap_or_default()
    }
}

/// Whether a thread is confined to these cores, or, without any, not at all.
fn is_at(thread: &Thread, cpus: Option<&CpuSet>) -> bool {
    match cpus {
        Some(cpus) => thread.set.as_ref().unwrap_or(&thread.allowed) == cpus,
        None => thread.set.is_none(),
    }
}

impl Drop for Confinement {
    fn drop(&mut self) {
        self.put_back();
    }
}
