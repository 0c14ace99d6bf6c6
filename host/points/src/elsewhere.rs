//! What several processes say to each other of points that one of them computes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard};

use crate::Key;

/// A point that was asked for and is not kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Missing {
    /// Its key, for [`PointSource::sharing`](crate::PointSource::sharing).
    pub key: Key,
    /// The name of the computation.
    pub computation: &'static str,
    /// About how long it takes, compared with others of the same computation.
    pub cost: f64,
    /// How it is named to a person.
    pub words: String,
}

/// What has come of points that a process was to compute.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Those that are kept: computed by this process, or by another one before.
    pub kept: BTreeSet<Key>,
    /// Those that cannot be computed, and why.
    pub failed: BTreeMap<Key, String>,
}

/// Which points a process computes.
#[derive(Debug)]
pub(crate) enum Mode {
    /// All that are asked for.
    Every,
    /// None. Those that are missing are collected.
    Listing(Mutex<BTreeMap<Key, Missing>>),
    /// These alone.
    Sharing(BTreeSet<Key>, Mutex<Outcome>),
}

impl Mode {
    /// What is missing, the costliest of a computation first.
    pub(crate) fn missing(&self) -> Vec<Missing> {
        let Self::Listing(missing) = self else { return Vec::new() };
        let mut missing: Vec<Missing> = locked(missing).values().cloned().collect();
        missing.sort_by(|a, b| {
            a.computation.cmp(b.computation).then(b.cost.total_cmp(&a.cost)).then(a.key.cmp(&b.key))
        });
        missing
    }

    pub(crate) fn outcome(&self) -> Outcome {
        let Self::Sharing(_, outcome) = self else { return Outcome::default() };
        locked(outcome).clone()
    }

    /// Notes that a point is kept.
    pub(crate) fn note_kept(&self, key: Key) {
        if let Self::Sharing(keys, outcome) = self
            && keys.contains(&key)
        {
            locked(outcome).kept.insert(key);
        }
    }

    /// Notes that a point cannot be computed, or not be kept.
    pub(crate) fn note_failed(&self, key: Key, why: impl FnOnce() -> String) {
        if let Self::Sharing(keys, outcome) = self
            && keys.contains(&key)
        {
            locked(outcome).failed.insert(key, why());
        }
    }

    /// Whether a point that is not kept is to be computed here. If it is to be listed, it is.
    pub(crate) fn computes(&self, key: Key, missing: impl FnOnce() -> Missing) -> bool {
        match self {
            Self::Every => true,
            Self::Listing(all) => {
                locked(all).entry(key).or_insert_with(missing);
                false
            }
            Self::Sharing(keys, _) => keys.contains(&key),
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("nothing panics while it notes what became of points")
}
