//! The lock that costs most, and what there is to do about one that `run` leaves alone.

use crate::words::{duration, percent};
use crate::{Curve, ForecastLock};

/// How many places of acquisition are named.
const NAMED_PLACES: usize = 2;

/// Names the lock whose operations are forecast to take most of the threads' time.
pub(super) fn culprit(today: &Curve, locks: &[ForecastLock]) -> Option<String> {
    let shares = &today.end().point.lock_share_by_lock;
    let (lock, share) = locks
        .iter()
        .zip(shares)
        .max_by(|(_, a), (_, b)| a.total_cmp(b))
        .filter(|(_, w)| **w > 0.0)?;
    let which = match (lock.instances, lock.left_alone) {
        (1, None) => "the mutex".to_owned(),
        (1, Some(kind)) => kind.to_owned(),
        (many, None) => format!("one of the {many} mutexes"),
        (many, Some(kind)) => format!("one of {many} of its kind ({kind})"),
    };
    let acquired: Vec<&str> =
        lock.acquired_at.iter().take(NAMED_PLACES).map(|at| at.place.as_str()).collect();
    let acquired = if acquired.is_empty() {
        String::new()
    } else {
        format!("acquired at {}, ", acquired.join(" and "))
    };
    Some(format!(
        "The lock that costs most there, {} of the threads' time to wait for, take and let go, is \
         {which} {acquired}made or first acquired at {}, held for {} at a time.{}",
        percent(*share),
        lock.place,
        duration(lock.hold),
        about_what_run_leaves_alone(lock)
    ))
}

/// What there is to do about a lock that `run` does not replace.
fn about_what_run_leaves_alone(lock: &ForecastLock) -> String {
    let Some(kind) = lock.left_alone else { return String::new() };
    match lock.family {
        "read-write" => about_readers_and_writers(lock),
        "spin" => " `run` leaves spin locks alone: the way on is to make it a mutex, which `run` \
                   can replace, to hold it for less long, or to split it."
            .to_owned(),
        _ => format!(
            " `run` leaves {kind} alone: the way on is to do without that attribute, so that `run` \
             can replace it, to hold it for less long, or to split it."
        ),
    }
}

/// The same of a read-write lock.
fn about_readers_and_writers(lock: &ForecastLock) -> String {
    let by_writers = lock.exclusive_hold * lock.acquisitions as f64;
    let by_readers = lock.hold * lock.shared_acquisitions as f64;
    if lock.shared_acquisitions <= lock.acquisitions || by_writers > by_readers {
        format!(
            " It is acquired for writing in {} of the cases, for {} at a time, and then keeps out \
             everybody else: the way on is to write under it less often or for less long, or to \
             split it.",
            percent(
                lock.acquisitions as f64
                    / (lock.acquisitions + lock.shared_acquisitions).max(1) as f64
            ),
            duration(lock.exclusive_hold)
        )
    } else {
        " Its readers do not exclude each other, but each writes the lock's one word twice: the way \
         on is to read without taking it, or to split it."
            .to_owned()
    }
}
