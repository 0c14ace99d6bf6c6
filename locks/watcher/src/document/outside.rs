//! What was seen from outside, as a profile has it.

use std::collections::BTreeMap;

use kilocore_lock_profile::{Awake, Futexes, Outside};

use crate::ledger::Ledger;

/// How long a look stands for, in nanoseconds: all threads count as looked at once a millisecond.
const LOOK_NS: f64 = 1e6;

/// So much of windows, in looks of the whole time.
pub(super) fn looks(ns: f64, scale: f64) -> u64 {
    (ns * scale / LOOK_NS).round() as u64
}

/// What was seen from outside, as if somebody had looked at all threads once a millisecond.
pub(crate) fn outside(ledger: &Ledger, futexes: Futexes, scale: f64, threads_peak: u64) -> Outside {
    let looks = |ns: f64| looks(ns, scale);
    let mut asleep: BTreeMap<String, u64> = ledger
        .asleep
        .iter()
        .map(|(call, ns)| ((*call).to_owned(), looks(*ns)))
        .filter(|(_, count)| *count > 0)
        .collect();
    if futexes.total() > 0 {
        asleep.insert("futex".to_owned(), futexes.total());
    }
    let unread = looks(ledger.unknown_ns);
    if unread > 0 {
        asleep.insert(String::new(), unread);
    }
    Outside {
        rounds: looks(ledger.surveyed_ns),
        threads_peak,
        running: looks(ledger.running_ns),
        running_unrecorded: Some(0),
        asleep,
        futexes,
        voluntary_switches: (ledger.voluntary as f64 * scale).round() as u64,
        awake: Awake { rounds: looks(ledger.surveyed_ns), one: looks(ledger.one_awake_ns) },
        unrecorded: Vec::new(),
    }
}
