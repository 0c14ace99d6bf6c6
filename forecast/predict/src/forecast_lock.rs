//! The locks of a program, as a forecast lists them.

use serde::Serialize;

/// A lock of the program as the forecast sees it: those created at the same place are one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ForecastLock {
    /// Where to look in the source: the innermost caller that does more than make or take a lock,
    /// and through what it does that.
    pub place: String,
    /// Where it is created or first taken, innermost frame first, ready to be shown.
    pub site: Vec<String>,
    /// Where it is acquired: the places with the longest waits first. Empty where the profile does
    /// not tell.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub acquired_at: Vec<AcquiredAt>,
    /// What it is, if `run` does not replace it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_alone: Option<&'static str>,
    /// `mutex`, `read-write` or `spin`.
    pub family: &'static str,
    /// How many there are.
    pub instances: u32,
    /// How many equally used ones would collide as often.
    pub effective_instances: u32,
    /// Exclusive acquisitions in the profile.
    pub acquisitions: u64,
    /// Shared acquisitions in the profile.
    pub shared_acquisitions: u64,
    /// Share of the acquisitions that had to wait, as measured.
    pub contended_share: f64,
    /// Mean hold in nanoseconds of the host, without locks taken inside, in the mode in which the
    /// lock is taken more often.
    pub hold_ns: f64,
    /// Mean exclusive hold in nanoseconds of the host, without locks taken inside.
    pub exclusive_hold_ns: f64,
    /// Mean wait of those that waited, in nanoseconds, as measured.
    pub wait_ns: f64,
    /// Lines of data that move with the lock, and the range that the profile leaves open.
    pub lines: f64,
    /// The lower end of that range.
    pub lines_low: f64,
    /// The upper end of that range.
    pub lines_high: f64,
    /// Whether the lines are assumed because the profile does not tell.
    pub lines_assumed: bool,
    /// Share of the threads' busy time spent under this lock, as measured.
    pub held_share: f64,
}

/// A place at which a lock is acquired.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AcquiredAt {
    /// Where to look in the source, as [`ForecastLock::place`] says it.
    pub place: String,
    /// The whole call stack, innermost frame first.
    pub site: Vec<String>,
    /// Acquisitions there. An estimate.
    pub acquisitions: u64,
    /// How many of them had to wait. An estimate.
    pub contended: u64,
    /// How long they waited, all together, in nanoseconds. An estimate.
    pub wait_ns: f64,
}
