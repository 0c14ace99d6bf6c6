//! A computation for tests, which counts how often it computes.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use kilocore_points::{Elsewhere, Job, Key, PointSource};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use thiserror::Error;

/// What the squares of a test are multiplied by.
#[derive(Debug)]
pub(crate) struct Factor {
    pub(crate) factor: f64,
    pub(crate) computed: Computed,
}

impl Factor {
    pub(crate) fn new(factor: f64) -> Self {
        Self { factor, computed: Computed::default() }
    }
}

/// How many were computed. It is no input.
#[derive(Default)]
pub(crate) struct Computed(AtomicUsize);

impl std::fmt::Debug for Computed {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Ok(())
    }
}

impl Computed {
    /// How many since this was asked last.
    pub(crate) fn take(&self) -> usize {
        self.0.swap(0, Ordering::Relaxed)
    }
}

/// The square of a number. A negative one is refused.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Square(pub(crate) f64);

/// A square, with what else a point may hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Squared {
    pub(crate) square: f64,
    pub(crate) words: Vec<String>,
}

#[derive(Debug, Error, PartialEq)]
pub(crate) enum NoSquare {
    #[error("{0} is negative")]
    Negative(f64),
    #[error(transparent)]
    Elsewhere(#[from] Elsewhere),
}

impl Job for Square {
    type Shared = Factor;
    type Point = Squared;
    type Error = NoSquare;

    const COMPUTATION: &'static str = "square";

    fn key(&self) -> Key {
        Key::of(self)
    }

    fn cost(&self) -> f64 {
        self.0
    }

    fn compute(&self, shared: &Factor) -> Result<Squared, NoSquare> {
        shared.computed.0.fetch_add(1, Ordering::Relaxed);
        if self.0 < 0.0 {
            return Err(NoSquare::Negative(self.0));
        }
        Ok(Squared { square: self.0 * self.0 * shared.factor, words: vec![self.words()] })
    }

    fn shared_words(shared: &Factor) -> String {
        format!("{} times", shared.factor)
    }

    fn words(&self) -> String {
        format!("the square of {}", self.0)
    }
}

/// The numbers from 1 to `count`, to be squared.
pub(crate) fn jobs(count: u32) -> Vec<Square> {
    (1..=count).map(|number| Square(number.into())).collect()
}

/// A folder, by its path without links.
pub(crate) fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    (folder, path)
}

/// What a source says to jobs.
pub(crate) fn ask(
    source: &PointSource,
    factor: &Factor,
    jobs: &[Square],
) -> Result<Vec<f64>, NoSquare> {
    let points = source.points(factor, jobs, &|| ())?;
    assert!(points.iter().zip(jobs).all(|(point, job)| point.words == [job.words()]));
    Ok(points.iter().map(|point| point.square).collect())
}
