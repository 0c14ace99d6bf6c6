//! What several processes say to each other of points that one of them computes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Key;

/// A point that was asked for and is not kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Missing {
    /// Its key.
    pub key: Key,
    /// The name of the computation.
    pub computation: String,
    /// About how long it takes, compared with others of the same computation.
    pub cost: f64,
    /// How it is named to a person.
    pub words: String,
}

/// A point that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct KeptPoint {
    /// Its key.
    pub key: Key,
    /// How long it took to compute it, in seconds: 0 if it was kept before.
    pub seconds: f64,
}

/// A point that cannot be computed, or cannot be kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedPoint {
    /// Its key.
    pub key: Key,
    /// Why.
    pub why: String,
}

/// What a process reports of the points that it was asked about.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Of a process that computes nothing: what was asked for and is not kept. The costliest of each computation first.
    pub missing: Vec<Missing>,
    /// Of one that computes a share: what of this is kept.
    pub kept: Vec<KeptPoint>,
    /// Of one that computes a share: what of this cannot be.
    pub failed: Vec<FailedPoint>,
}

impl Report {
    /// The same, where the system has refused to write some of what was computed. Which points these were is not known,
    /// so nobody is to rely on any of them; those that were written all the same are found by who looks next.
    pub(crate) fn unwritten(mut self, why: &str) -> Self {
        let (computed, known): (Vec<KeptPoint>, Vec<KeptPoint>) =
            self.kept.into_iter().partition(|point| point.seconds > 0.0);
        self.kept = known;
        let why = format!("it cannot be written: {why}");
        self.failed.extend(
            computed.iter().map(|&KeptPoint { key, .. }| FailedPoint { key, why: why.clone() }),
        );
        self
    }
}

/// Which points a process computes.
#[derive(Debug)]
pub(crate) enum Mode {
    /// All that are asked for.
    Every,
    /// None. Those that are missing are collected.
    Listing(Mutex<BTreeMap<Key, Missing>>),
    /// These alone.
    Sharing(BTreeSet<Key>, Mutex<Shared>),
}

/// What has come of a share.
#[derive(Debug)]
pub(crate) struct Shared {
    kept: BTreeMap<Key, Duration>,
    failed: BTreeMap<Key, String>,
}

impl Mode {
    pub(crate) const fn listing() -> Self {
        Self::Listing(Mutex::new(BTreeMap::new()))
    }

    pub(crate) const fn sharing(keys: BTreeSet<Key>) -> Self {
        let nothing = Shared { kept: BTreeMap::new(), failed: BTreeMap::new() };
        Self::Sharing(keys, Mutex::new(nothing))
    }

    /// Whether this is a share of which everything was noted.
    pub(crate) fn is_done(&self) -> bool {
        let Self::Sharing(keys, shared) = self else { return false };
        let Shared { kept, failed } = &*locked(shared);
        keys.iter().all(|key| kept.contains_key(key) || failed.contains_key(key))
    }

    /// What has come so far.
    pub(crate) fn report(&self) -> Report {
        match self {
            Self::Every => Report::default(),
            Self::Listing(missing) => {
                let mut missing: Vec<Missing> = locked(missing).values().cloned().collect();
                missing.sort_by(|a, b| {
                    let by_computation = a.computation.cmp(&b.computation);
                    by_computation.then(b.cost.total_cmp(&a.cost)).then(a.key.cmp(&b.key))
                });
                Report { missing, ..Report::default() }
            }
            Self::Sharing(_, shared) => {
                let Shared { kept, failed } = &*locked(shared);
                let kept = kept.iter();
                let failed = failed.iter();
                Report {
                    missing: Vec::new(),
                    kept: kept
                        .map(|(&key, took)| KeptPoint { key, seconds: took.as_secs_f64() })
                        .collect(),
                    failed: failed
                        .map(|(&key, why)| FailedPoint { key, why: why.clone() })
                        .collect(),
                }
            }
        }
    }

    /// Notes that a point is kept, and how long it took to compute it, if this process has.
    pub(crate) fn note_kept(&self, key: Key, took: Duration) {
        if let Self::Sharing(keys, shared) = self
            && keys.contains(&key)
        {
            locked(shared).kept.entry(key).or_insert(took);
        }
    }

    /// Notes that a point cannot be computed, or not be kept.
    pub(crate) fn note_failed(&self, key: Key, why: impl FnOnce() -> String) {
        if let Self::Sharing(keys, shared) = self
            && keys.contains(&key)
        {
            locked(shared).failed.insert(key, why());
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
