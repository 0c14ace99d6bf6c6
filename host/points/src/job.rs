//! What can be computed.

use std::error::Error;
use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::Key;

/// A point that can be computed.
///
/// What comes out depends on nothing but the job and what it shares with others: not on the time, on this host, on
/// which thread computes it or on what was computed before. Nothing checks that, and a point that breaks the rule is
/// wrong wherever it is found again.
pub trait Job: Sync {
    /// The inputs that are the same for all jobs of a batch, such as the machine. What `Debug` says of them is all
    /// that a point depends on of them.
    type Shared: Debug + Sync + ?Sized;
    /// What comes out. It has to be read field by field, as it is written: `flatten` and `untagged` cannot be.
    type Point: Serialize + DeserializeOwned + Send;
    /// Why nothing comes out. That is not kept.
    type Error: Error + From<Elsewhere> + Send;

    /// The name of the computation. No two kinds of jobs have the same.
    const COMPUTATION: &'static str;

    /// The key of the inputs that are the job's own. [`Key::of`] makes it, if `Debug` says all of the job.
    fn key(&self) -> Key;

    /// About how long it takes, compared with other jobs of its kind. The costliest are begun first. Nothing else
    /// depends on it.
    fn cost(&self) -> f64;

    /// Computes the point.
    ///
    /// # Errors
    /// If there is no such point.
    fn compute(&self, shared: &Self::Shared) -> Result<Self::Point, Self::Error>;

    /// How what jobs share is named to a person, in a few words: `deferred updates on xeon-e7-8870v2-8s`.
    fn shared_words(shared: &Self::Shared) -> String;

    /// How the job is named to a person beside these, in a few words: `stock, 15 cores`.
    fn words(&self) -> String;
}

/// A point that this process does not compute, because another one does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("computed by another process")]
pub struct Elsewhere;
