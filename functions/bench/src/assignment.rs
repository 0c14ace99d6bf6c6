//! The assignment of a worker process: one line of JSON on its command line, such as
//!
//! ```json
//! {"benchmark":"dup","seats":[{"index":0,"kind":"processes","cpus":[0]}],"tasks":1,"control":3,
//! "lifeline":4,"files":[],"folder":null,"numbers":[],"size":0}
//! ```

use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::document::MOST_CORES;
use crate::{Seat, Shared};

/// A worker's assignment. The worker inherits the descriptors, which keep their numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Assignment {
    pub(crate) benchmark: String,
    /// The tasks that this worker runs: one if tasks are processes, all if they are threads.
    pub(crate) seats: Vec<Seat>,
    /// How many tasks there are in all workers.
    pub(crate) tasks: u32,
    /// The descriptor of the file of [`Control`](crate::control::Control).
    pub(crate) control: RawFd,
    /// The keeper's lifeline: the keeper cleans up when all processes that hold it have ended.
    pub(crate) lifeline: RawFd,
    /// The descriptors of [`Shared::files`].
    pub(crate) files: Vec<RawFd>,
    pub(crate) folder: Option<PathBuf>,
    pub(crate) numbers: Vec<i32>,
    pub(crate) size: u64,
}

impl Assignment {
    /// Returns the descriptors of the shared files.
    pub(crate) fn files_of(shared: &Shared) -> Vec<RawFd> {
        shared.files.iter().map(File::as_raw_fd).collect()
    }

    /// Returns all descriptors that the worker inherits.
    pub(crate) fn inherited(&self) -> Vec<RawFd> {
        [self.control, self.lifeline].into_iter().chain(self.files.iter().copied()).collect()
    }

    /// Returns whether a runner may have written this. The worker relies on it, for example when it
    /// takes the descriptors over: each has to be there once only.
    pub(crate) fn is_sound(&self) -> bool {
        let mut descriptors = self.inherited();
        descriptors.sort_unstable();
        let own = descriptors.windows(2).all(|pair| pair[0] < pair[1]);
        // The descriptors of standard input, output and error belong to the standard library.
        let own = own && descriptors.iter().all(|&fd| fd > libc::STDERR_FILENO);
        let in_place = self.seats.iter().all(|seat| seat.index < self.tasks);
        let some = !self.seats.is_empty() && self.seats.len() <= self.tasks as usize;
        own && some && in_place && self.tasks <= MOST_CORES
    }

    /// Returns what the runner prepared. It owns the inherited descriptors.
    ///
    /// # Safety
    /// The descriptors are open in this process and belong to nobody else, and this is called at
    /// most once.
    pub(crate) unsafe fn shared(&self) -> Shared {
        // SAFETY: by the caller's promise.
        let file = |&fd: &RawFd| unsafe { File::from_raw_fd(fd) };
        Shared {
            files: self.files.iter().map(file).collect(),
            folder: self.folder.clone(),
            numbers: self.numbers.clone(),
            size: self.size,
        }
    }
}
