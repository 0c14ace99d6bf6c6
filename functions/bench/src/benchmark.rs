//! The trait of a benchmark, and what its tasks are given.

use std::fs::File;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Refusal;
use crate::kind::Kind;
use crate::resources::Resources;

/// The description of a benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Info {
    /// The name on the command line.
    pub name: &'static str,
    /// What it measures, in a few words.
    pub title: &'static str,
    /// What one operation is.
    pub operation: &'static str,
    /// The paper or the program that it comes from.
    pub source: &'static str,
    /// The kind of its tasks, unless the user asks for the other.
    pub default: Kind,
    /// Why it cannot run as the other kind, or `None` if it can.
    pub only: Option<&'static str>,
    /// Whether an operation keeps its core. It does if it has no child processes or threads and
    /// never sleeps, not even where it waits for other tasks. If a task of such a benchmark is off
    /// its core, something else has displaced it.
    pub keeps_core: bool,
    /// Whether lists of benchmarks and `all` leave it out.
    pub hidden: bool,
}

impl Info {
    /// Checks whether the tasks may be of this kind.
    ///
    /// # Errors
    /// [`Refusal::Kind`] with the reason if they may not.
    pub fn check_kind(&self, kind: Kind) -> Result<(), Refusal> {
        match self.only {
            Some(why) if kind != self.default => Err(Refusal::Kind { kind, why: why.to_owned() }),
            _ => Ok(()),
        }
    }
}

/// A benchmark. Each has a file in [`benchmarks`](crate::benchmarks) and a line in the registry
/// there.
///
/// [`Benchmark::prepare`] runs once, in the process that measures. [`Benchmark::task`] runs in each
/// task, and each sample has new tasks.
pub trait Benchmark: Sync {
    /// Returns the description of the benchmark.
    fn info(&self) -> &'static Info;

    /// Makes what all tasks share.
    ///
    /// # Errors
    /// A refusal if this host lacks or forbids something that the benchmark needs.
    fn prepare(&self, _resources: &mut Resources<'_>) -> Result<Shared, Refusal> {
        Ok(Shared::default())
    }

    /// Makes what one task needs for itself. This runs on the task's own core.
    ///
    /// # Errors
    /// A refusal if this host lacks or forbids something that the task needs.
    fn task(&self, shared: &Shared, seat: &Seat) -> Result<Box<dyn Task>, Refusal>;
}

/// The work that one task does over and over.
pub trait Task {
    /// Carries out `operations` operations.
    ///
    /// # Errors
    /// A refusal if an operation fails. The task then ends.
    fn run(&mut self, operations: u64) -> Result<(), Refusal>;
}

/// What all tasks of a benchmark share.
#[derive(Debug, Default)]
pub struct Shared {
    /// Open files without names. The tasks inherit their descriptors.
    pub files: Vec<File>,
    /// A folder for files with names. It is removed later with everything in it.
    pub folder: Option<PathBuf>,
    /// The numbers of things that have neither a name nor a descriptor, such as semaphore sets.
    pub numbers: Vec<i32>,
    /// A size that the benchmark has chosen for this host, such as that of a file in bytes.
    pub size: u64,
}

impl Shared {
    /// Returns the folder.
    ///
    /// # Errors
    /// [`Refusal::Facility`] if none was made.
    pub fn folder(&self) -> Result<&Path, Refusal> {
        self.folder.as_deref().ok_or_else(|| Refusal::lacking("folder"))
    }

    /// Returns the first file, duplicated for one task, and checks that it has at least `bytes`
    /// bytes.
    ///
    /// # Errors
    /// [`Refusal::Facility`] if there is no file or it is smaller.
    pub fn file(&self, bytes: u64) -> Result<File, Refusal> {
        let file = self.files.first().ok_or_else(|| Refusal::lacking("file"))?;
        let size = file.metadata().map_err(|error| Refusal::of("fstat", &error))?.len();
        if size < bytes {
            return Err(Refusal::lacking("file of that size"));
        }
        file.try_clone().map_err(|error| Refusal::of("dup", &error))
    }

    /// Returns the number that belongs to the task in this seat.
    ///
    /// # Errors
    /// [`Refusal::Facility`] if there is none.
    pub fn number(&self, seat: &Seat) -> Result<i32, Refusal> {
        let number = self.numbers.get(seat.index as usize);
        number.copied().ok_or_else(|| Refusal::lacking("number"))
    }
}

/// One of the tasks that run at the same time: its number, its kind and its processors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    /// Which task it is, from 0.
    pub index: u32,
    /// The kind of all tasks.
    pub kind: Kind,
    /// The processors that it may use. The list is empty if it may use any.
    pub cpus: Vec<u32>,
}
