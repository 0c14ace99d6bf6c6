//! Which points a process is to compute, and what it reports of them.

use std::collections::BTreeSet;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::elsewhere::Mode;
use crate::orders::write_report;
use crate::{Key, Missing, Orders, OrdersError, Report};

/// Which points a process is to compute: all that it needs, none, or a share. If it was told so by [`Orders`], it reports
/// what has come when this is dropped.
///
/// A [`PointSource`](crate::PointSource) follows one. Results that cannot be kept among its points, as what they depend on is
/// known only when they are there, are kept by whoever knows that, who follows one as well.
#[derive(Debug)]
pub struct Assignment {
    mode: Mode,
    /// The folder below which results are kept beside those of the user.
    folder: Option<PathBuf>,
    /// Where what has come is written in the end.
    report: Option<PathBuf>,
    /// On how many threads points are computed. `None` stands for one on each core.
    threads: Option<NonZero<usize>>,
    has_other_hosts: bool,
    /// Whether a point was asked for that another process computes.
    lacks: AtomicBool,
    /// Why something that was computed could not be written, what the system said first.
    unwritten: Mutex<Option<String>>,
}

impl Assignment {
    /// All that is asked for is computed, and nobody is told.
    #[must_use]
    pub const fn all() -> Self {
        Self::in_mode(Mode::Every)
    }

    /// Nothing is computed, and what is missing is collected.
    #[must_use]
    pub const fn listing() -> Self {
        Self::in_mode(Mode::listing())
    }

    /// Only these are computed.
    #[must_use]
    pub const fn sharing(keys: BTreeSet<Key>) -> Self {
        Self::in_mode(Mode::sharing(keys))
    }

    const fn in_mode(mode: Mode) -> Self {
        Self {
            mode,
            folder: None,
            report: None,
            threads: None,
            has_other_hosts: false,
            lacks: AtomicBool::new(false),
            unwritten: Mutex::new(None),
        }
    }

    /// What the environment's [`Orders`] say; all, if it has none.
    ///
    /// # Errors
    /// If there are orders that cannot be followed.
    pub fn of_environment() -> Result<Self, OrdersError> {
        Ok(Orders::of_environment()?.map_or_else(Self::all, Self::from))
    }

    /// The folder below which results are kept beside those of the user, if there are orders.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// On how many threads points are computed, at most, if that is said.
    #[must_use]
    pub fn threads(&self) -> Option<NonZero<usize>> {
        self.threads
    }

    /// Whether hosts other than this one may compute what is missing.
    #[must_use]
    pub fn has_other_hosts(&self) -> bool {
        self.has_other_hosts
    }

    /// Whether everything is computed here.
    #[must_use]
    pub fn is_all(&self) -> bool {
        matches!(self.mode, Mode::Every)
    }

    /// Whether a share is computed, and nothing is answered.
    #[must_use]
    pub fn is_share(&self) -> bool {
        matches!(self.mode, Mode::Sharing(..))
    }

    /// Whether a point is of the share that is computed.
    #[must_use]
    pub fn shares(&self, key: &Key) -> bool {
        matches!(&self.mode, Mode::Sharing(keys, _) if keys.contains(key))
    }

    /// Whether a share is computed and all of it has been noted.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.mode.is_done()
    }

    /// Whether a point that is not kept is to be computed here. If it is to be listed, it is.
    pub fn computes(&self, key: Key, missing: impl FnOnce() -> Missing) -> bool {
        let computes = self.mode.computes(key, missing);
        if !computes {
            self.lacks.store(true, Ordering::Relaxed);
        }
        computes
    }

    /// Whether another process computes none of the points that were asked for.
    #[must_use]
    pub fn has_given_all(&self) -> bool {
        !self.lacks.load(Ordering::Relaxed)
    }

    /// Notes that nobody needs to compute a point any more, and how long it took, if this process has computed it.
    pub fn note_kept(&self, key: Key, took: Duration) {
        self.mode.note_kept(key, took);
    }

    /// Notes that a point cannot be computed, or not be kept.
    pub fn note_failed(&self, key: Key, why: impl FnOnce() -> String) {
        self.mode.note_failed(key, why);
    }

    /// Notes that the system has refused to write some of what was computed. Which points these are nobody knows.
    pub(crate) fn note_unwritten(&self, why: Option<String>) {
        let mut unwritten = self.unwritten.lock().unwrap_or_else(PoisonError::into_inner);
        *unwritten = unwritten.take().or(why);
    }

    /// What has come so far.
    #[must_use]
    pub fn report(&self) -> Report {
        let unwritten = self.unwritten.lock().unwrap_or_else(PoisonError::into_inner);
        match &*unwritten {
            None => self.mode.report(),
            Some(why) => self.mode.report().unwritten(why),
        }
    }
}

impl From<Orders> for Assignment {
    fn from(orders: Orders) -> Self {
        let Orders { folder, report, share, threads, has_other_hosts } = orders;
        let mut told = match share {
            Some(keys) => Self::sharing(keys),
            None => Self::listing(),
        };
        (told.folder, told.report) = (Some(folder), Some(report));
        (told.threads, told.has_other_hosts) = (threads, has_other_hosts);
        told
    }
}

impl Drop for Assignment {
    fn drop(&mut self) {
        if let Some(file) = &self.report {
            // Whoever asked for it finds none, and takes this process for lost.
            let _ = write_report(file, &self.report());
        }
    }
}
