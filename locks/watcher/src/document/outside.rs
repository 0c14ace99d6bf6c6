//! What was seen from outside, as a profile has it.

use std::collections::BTreeMap;

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{Awake, Futexes, Outside};

use crate::ledger::Ledger;

/// How long a look stands for: all threads count as looked at once a millisecond.
const LOOK: Nanoseconds<f64> = Nanoseconds(1e6);

/// So much of windows, in looks of the whole time.
pub(super) fn looks(time: Nanoseconds<f64>, scale: f64) -> u64 {
    (time * scale / LOOK).round() as u64
}

/// What was seen from outside, as if somebody had looked at all threads once a millisecond.
pub(crate) fn outside(ledger: &Ledger, futexes: Futexes, scale: f64, threads_peak: u64) -> Outside {
    let looks = |time| looks(time, scale);
    let mut asleep: BTreeMap<String, u64> = ledger
        .asleep
        .iter()
        .map(|(call, time)| ((*call).to_owned(), looks(*time)))
        .filter(|(_, count)| *count > 0)
        .collect();
    if futexes.total() > 0 {
        asleep.insert("futex".to_owned(), futexes.total());
    }
    let unread = looks(ledger.unknown);
    if unread > 0 {
        asleep.insert(String::new(), unread);
    }
    Outside {
        rounds: looks(ledger.surveyed),
        threads_peak,
        running: looks(ledger.running),
        running_unrecorded: Some(0),
        asleep,
        futexes,
        voluntary_switches: (ledger.voluntary as f64 * scale).round() as u64,
        awake: Awake { rounds: looks(ledger.surveyed), one: looks(ledger.one_awake) },
        unrecorded: Vec::new(),
    }
}
