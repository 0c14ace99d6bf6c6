//! A lock of which too little is known for a verdict that rests on it.

use kilocore_lock_profile::{Run, ThreadTimes};

use crate::choice::LITTLE;
use crate::from_profile::UNKNOWN_PLACE;
use crate::words::duration;
use crate::{Curve, ForecastLock};

/// A mean hold is known if it is at most so many times as long as it is at least.
const KNOWN_WITHIN: f64 = 3.0;

/// Whether threads have been seen to wait for locks. Windows that were too short show no waits, whatever happened in
/// them.
pub(super) fn wait_here(run: Option<&Run>) -> bool {
    let times = run.and_then(|run| run.times.as_ref()).filter(|times| times.is_enough());
    let all = times.map(ThreadTimes::total);
    all.is_some_and(|all| all.locks.share_of(all.present()) >= LITTLE)
}

/// Says that it is not known how long the lock is held that is forecast to cost most, if that is so.
/// Where threads have been seen to wait for locks, that does not matter: the locks limit the program
/// already.
pub(super) fn vague_hold(
    today: &Curve,
    locks: &[ForecastLock],
    run: Option<&Run>,
) -> Option<String> {
    let shares = &today.end().point.lock_share_by_lock;
    let (lock, _) = locks.iter().zip(shares).max_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let [low, high] = lock.hold_range.filter(|[low, high]| *high > *low * KNOWN_WITHIN)?;
    (!wait_here(run)).then(|| {
        let at = match lock.place.as_str() {
            UNKNOWN_PLACE => "whose place is unknown",
            place => place,
        };
        format!(
            "the lock that would cost most, {at}, was watched too little: it is held for {} to {} \
             at a time",
            duration(low),
            duration(high)
        )
    })
}
