//! The programs by name, and the sizes that they come in.

use core::fmt;
use core::str::FromStr;
use std::sync::Arc;

use kilocore_machine::names::{UnknownName, find};
use kilocore_platform::Platform;

use crate::numa_programs::error::{MOST_THREADS, OutOfRange, count_in_range};
use crate::numa_programs::run::{Once, Run};
use crate::numa_programs::{barnes, cholesky, mp3d, radix};

/// A program of the paper, written anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Program {
    /// A thin gas that flows past an obstacle.
    Mp3d,
    /// Bodies that attract each other.
    Barnes,
    /// The factorization of a sparse matrix.
    Cholesky,
    /// A sort of integers.
    Radix,
}

impl Program {
    /// All of them, in the order of the paper's tables.
    pub const ALL: [Program; 4] =
        [Program::Mp3d, Program::Barnes, Program::Cholesky, Program::Radix];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mp3d => "mp3d",
            Self::Barnes => "barnes",
            Self::Cholesky => "cholesky",
            Self::Radix => "radix",
        }
    }

    /// What it does in a size.
    #[must_use]
    pub fn workload(self, size: Size) -> Workload {
        match (self, size) {
            (Self::Mp3d, Size::Published) => Workload::Mp3d(mp3d::Parameters::PUBLISHED),
            (Self::Mp3d, Size::Small) => Workload::Mp3d(mp3d::Parameters::SMALL),
            (Self::Barnes, Size::Published) => Workload::Barnes(barnes::Parameters::PUBLISHED),
            (Self::Barnes, Size::Small) => Workload::Barnes(barnes::Parameters::SMALL),
            (Self::Cholesky, Size::Published) => {
                Workload::Cholesky(cholesky::Parameters::PUBLISHED)
            }
            (Self::Cholesky, Size::Small) => Workload::Cholesky(cholesky::Parameters::SMALL),
            (Self::Radix, Size::Published) => Workload::Radix(radix::Parameters::PUBLISHED),
            (Self::Radix, Size::Small) => Workload::Radix(radix::Parameters::SMALL),
        }
    }

    /// Makes its data in a size, for that many threads.
    ///
    /// # Errors
    /// [`OutOfRange`] if there are no threads, or more than [`MOST_THREADS`].
    pub fn prepare<P: Platform>(
        self,
        size: Size,
        threads: usize,
        seed: u64,
    ) -> Result<Arc<dyn Run>, OutOfRange> {
        self.workload(size).prepare::<P>(threads, seed)
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Program {
    type Err = UnknownName;
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        find("program", name, Self::ALL.map(|program| (program.name(), program)))
    }
}

/// How much a program does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Size {
    /// About as many references as were published.
    Published,
    /// Fewer than a million references, for tests.
    Small,
}

impl Size {
    /// Both sizes, the published one first.
    pub const ALL: [Size; 2] = [Size::Published, Size::Small];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Small => "small",
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Size {
    type Err = UnknownName;
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        find("size", name, Self::ALL.map(|size| (size.name(), size)))
    }
}

/// A program and what it works on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Workload {
    /// MP3D, with the gas that it computes.
    Mp3d(mp3d::Parameters),
    /// BARNES, with the bodies that it moves.
    Barnes(barnes::Parameters),
    /// CHOLESKY, with the matrix that it factors.
    Cholesky(cholesky::Parameters),
    /// RADIX, with the keys that it sorts.
    Radix(radix::Parameters),
}

impl Workload {
    /// Returns which program works on it.
    #[must_use]
    pub fn program(&self) -> Program {
        match self {
            Self::Mp3d(_) => Program::Mp3d,
            Self::Barnes(_) => Program::Barnes,
            Self::Cholesky(_) => Program::Cholesky,
            Self::Radix(_) => Program::Radix,
        }
    }

    /// Makes the data, for that many threads. The same seed makes the same data.
    ///
    /// This is no part of the program's work. Call it outside of simulated tasks, so that it costs
    /// nothing there and the first to touch a page is a thread of the program.
    ///
    /// # Errors
    /// [`OutOfRange`] if there are no threads, more than [`MOST_THREADS`], or a parameter is not in
    /// its range.
    pub fn prepare<P: Platform>(
        &self,
        threads: usize,
        seed: u64,
    ) -> Result<Arc<dyn Run>, OutOfRange> {
        count_in_range("threads", threads, 1, MOST_THREADS)?;
        Ok(match *self {
            Self::Mp3d(parameters) => {
                parameters.validate()?;
                Arc::new(Once::new(mp3d::Mp3d::<P>::new(parameters, threads, seed), threads))
            }
            Self::Barnes(parameters) => {
                parameters.validate()?;
                Arc::new(Once::new(barnes::Barnes::<P>::new(parameters, threads, seed), threads))
            }
            Self::Cholesky(parameters) => {
                parameters.validate()?;
                let cholesky = cholesky::Cholesky::<P>::new(parameters, threads, seed);
                Arc::new(Once::new(cholesky, threads))
            }
            Self::Radix(parameters) => {
                parameters.validate()?;
                Arc::new(Once::new(radix::Radix::<P>::new(parameters, threads, seed), threads))
            }
        })
    }
}
