//! What a benchmark is.

use std::fs::File;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Refusal;
use crate::kind::Kind;
use crate::place::Place;

/// What there is to know about a benchmark without running it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Info {
    /// The name on the command line.
    pub name: &'static str,
    /// What it measures, in a few words.
    pub title: &'static str,
    /// What one operation is.
    pub operation: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// The kind of its tasks, unless another is asked for.
    pub default: Kind,
    /// Why it cannot be run as the other kind, if it cannot.
    pub only: Option<&'static str>,
    /// Whether an operation keeps its core: it has no children and does not sleep, not even where
    /// it waits for other tasks. Then, a task that is off its core was displaced by others.
    pub keeps_core: bool,
    /// Whether lists and `all` leave it out.
    pub hidden: bool,
}

impl Info {
    /// Whether tasks may be of this kind.
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

/// A benchmark: a file in [`benchmarks`](crate::benchmarks) and a line in the registry there.
///
/// [`Benchmark::prepare`] runs once, in the process that measures; [`Benchmark::task`] in each
/// task, of which there are others for every sample.
pub trait Benchmark: Sync {
    /// What there is to know about it.
    fn info(&self) -> &'static Info;

    /// Makes what all tasks share.
    ///
    /// # Errors
    /// What cannot be had here.
    fn prepare(&self, _place: &mut Place<'_>) -> Result<Shared, Refusal> {
        Ok(Shared::default())
    }

    /// Makes what one task needs for itself. Runs on the task's own core.
    ///
    /// # Errors
    /// What cannot be had here.
    fn task(&self, shared: &Shared, seat: &Seat) -> Result<Box<dyn Task>, Refusal>;
}

/// What one task does over and over.
pub trait Task {
    /// Carries out so many operations.
    ///
    /// # Errors
    /// The first operation that fails ends the benchmark.
    fn run(&mut self, operations: u64) -> Result<(), Refusal>;
}

/// What all tasks of a benchmark share.
#[derive(Debug, Default)]
pub struct Shared {
    /// Files, which have no name: tasks inherit them open.
    pub files: Vec<File>,
    /// A folder for files with names. It goes with all that is in it.
    pub folder: Option<PathBuf>,
    /// Numbers: what has neither a name nor a descriptor, such as sets of semaphores.
    pub numbers: Vec<i32>,
    /// How much of something the benchmark has chosen here, such as the size of a file in bytes.
    pub size: u64,
}

impl Shared {
    /// The folder.
    ///
    /// # Errors
    /// [`Refusal::Facility`] if none was made.
    pub fn folder(&self) -> Result<&Path, Refusal> {
        self.folder.as_deref().ok_or_else(|| Refusal::lacking("folder"))
    }

    /// The only file, of at least so many bytes, for one task.
    ///
    /// # Errors
    /// [`Refusal::Facility`] if there is none or it is smaller.
    pub fn file(&self, bytes: u64) -> Result<File, Refusal> {
        let file = self.files.first().ok_or_else(|| Refusal::lacking("file"))?;
        let size = file.metadata().map_err(|error| Refusal::of("fstat", &error))?.len();
        if size < bytes {
            return Err(Refusal::lacking("file of that size"));
        }
        file.try_clone().map_err(|error| Refusal::of("dup", &error))
    }

    /// The number for one task.
    ///
    /// # Errors
    /// [`Refusal::Facility`] if there is none.
    pub fn number(&self, seat: &Seat) -> Result<i32, Refusal> {
        let number = self.numbers.get(seat.index as usize);
        number.copied().ok_or_else(|| Refusal::lacking("number"))
    }
}

/// A task's place among the others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    /// Which task it is, from 0.
    pub index: u32,
    /// What kind it and the others are.
    pub kind: Kind,
    /// The processors that it may use; none if it may use any.
    pub cpus: Vec<u32>,
}
