//! What a worker process is told: one line of JSON on its command line.

use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::document::MOST_CORES;
use crate::{Seat, Shared};

/// A worker's assignment. Descriptors are those that it inherits, under the numbers that they had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Assignment {
    /// The benchmark's name.
    pub(crate) benchmark: String,
    /// The tasks that this worker runs: one as a process, all as its threads.
    pub(crate) seats: Vec<Seat>,
    /// How many tasks there are in all workers.
    pub(crate) tasks: u32,
    /// The file of [`Control`](crate::control::Control).
    pub(crate) control: RawFd,
    /// What the keeper waits for the end of.
    pub(crate) lifeline: RawFd,
    /// [`Shared::files`].
    pub(crate) files: Vec<RawFd>,
    /// [`Shared::folder`].
    pub(crate) folder: Option<PathBuf>,
    /// [`Shared::numbers`].
    pub(crate) numbers: Vec<i32>,
    /// [`Shared::size`].
    pub(crate) size: u64,
}

impl Assignment {
    /// The descriptors of what is shared.
    pub(crate) fn files_of(shared: &Shared) -> Vec<RawFd> {
        shared.files.iter().map(File::as_raw_fd).collect()
    }

    /// All inherited descriptors.
    pub(crate) fn inherited(&self) -> Vec<RawFd> {
        [self.control, self.lifeline].into_iter().chain(self.files.iter().copied()).collect()
    }

    /// Whether a runner may have written this: what is done with it relies on that.
    pub(crate) fn is_sound(&self) -> bool {
        let mut descriptors = self.inherited();
        descriptors.sort_unstable();
        let own = descriptors.windows(2).all(|pair| pair[0] < pair[1]);
        // Those of standard input, output and errors belong to the library.
        let own = own && descriptors.iter().all(|&fd| fd > libc::STDERR_FILENO);
        let in_place = self.seats.iter().all(|seat| seat.index < self.tasks);
        let some = !self.seats.is_empty() && self.seats.len() <= self.tasks as usize;
        own && some && in_place && self.tasks <= MOST_CORES
    }

    /// What the runner had prepared, with descriptors of this process.
    ///
    /// # Safety
    /// The descriptors are open here, belong to nobody else, and this is called once.
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
