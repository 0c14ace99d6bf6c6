//! The locks of a program, as a forecast lists them.

use kilocore_figures::Nanoseconds;
use serde::Serialize;

/// A lock of the program as the forecast sees it. Locks created at the same place count as one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ForecastLock {
    /// Where to look in the source: the innermost caller that does more than create or take a lock,
    /// and the function through which it does that.
    pub place: String,
    /// The call stack at which it is created or first taken, innermost frame first, ready to be
    /// shown.
    pub site: Vec<String>,
    /// Where it is acquired. The places with the longest waits come first. Empty if the profile
    /// does not say.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub acquired_at: Vec<AcquiredAt>,
    /// The kind of lock, if `run --lock` does not replace it. Some read-write locks are replaced by
    /// `run --rwlock`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_alone: Option<&'static str>,
    /// `mutex`, `read-write` or `spin`.
    pub family: &'static str,
    /// Whether the program asked for writers first, of all these read-write locks.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub writers_first: bool,
    /// How many locks there are.
    pub instances: u32,
    /// The number of equally used locks that would collide as often.
    pub effective_instances: u32,
    /// Exclusive acquisitions in the profile.
    pub acquisitions: u64,
    /// Shared acquisitions in the profile.
    pub shared_acquisitions: u64,
    /// Share of the acquisitions that had to wait, as measured.
    pub contended_share: f64,
    /// Mean hold on the host, in the mode in which the lock is taken more often.
    /// Locks that are taken inside are not included.
    #[serde(rename = "hold_ns")]
    pub hold: Nanoseconds<f64>,
    /// Between what the mean hold on the host lies, if it was estimated from windows.
    #[serde(rename = "hold_range_ns", skip_serializing_if = "Option::is_none")]
    pub hold_range: Option<[Nanoseconds<f64>; 2]>,
    /// Mean exclusive hold on the host. Locks that are taken inside are not
    /// included.
    #[serde(rename = "exclusive_hold_ns")]
    pub exclusive_hold: Nanoseconds<f64>,
    /// Mean wait of the acquisitions that waited, as measured.
    #[serde(rename = "wait_ns")]
    pub wait: Nanoseconds<f64>,
    /// Number of cache lines of data that move with the lock.
    pub lines: f64,
    /// The lower end of the range that the profile leaves open for that number.
    pub lines_low: f64,
    /// The upper end of that range.
    pub lines_high: f64,
    /// Where these numbers come from.
    pub lines_source: LinesSource,
    /// Share of the threads' busy time spent under this lock, as measured.
    pub held_share: f64,
}

/// Where it is known from how many lines move with a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinesSource {
    /// They were counted under QEMU.
    Traced,
    /// They were estimated from how long holds lasted on one core and on several.
    Estimated,
    /// The profile does not tell.
    Assumed,
}

/// The kind of a read-write lock that `run --rwlock` replaces.
pub(crate) const READ_WRITE_LOCK: &str = "a read-write lock";

impl ForecastLock {
    /// Whether `run --rwlock` replaces it.
    pub(crate) fn is_replaced_by_rwlock(&self) -> bool {
        self.family == "read-write" && self.left_alone == Some(READ_WRITE_LOCK)
    }
}

/// A place at which a lock is acquired.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AcquiredAt {
    /// Where to look in the source, worded like [`ForecastLock::place`].
    pub place: String,
    /// The whole call stack, innermost frame first.
    pub site: Vec<String>,
    /// Number of acquisitions there. An estimate.
    pub acquisitions: u64,
    /// How many of them had to wait. An estimate.
    pub contended: u64,
    /// The sum of their waits. An estimate.
    #[serde(rename = "wait_ns")]
    pub waited: Nanoseconds<f64>,
}
