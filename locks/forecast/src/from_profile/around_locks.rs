//! How much of a process's computing was around its locks.
//!
//! A forecast repeats what threads did under locks and between two of them. A thread that takes locks while
//! it begins, and then computes to its end without any, is not what is repeated.

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{Lock, Process};

use crate::words::percent;

/// The share of a process's processor time that its threads spent under locks and between two of them.
/// Holds count by the clock, and those inside each other several times, so that it may be less.
pub(crate) fn share(process: &Process) -> Option<f64> {
    let threads = &process.threads;
    // Of locks that were watched, these times are estimates of the whole run.
    let counted = process.locks.iter().all(|lock| lock.precision.is_none());
    let held: Nanoseconds<f64> = process.locks.iter().map(Lock::held).sum();
    let waited: Nanoseconds<f64> = process.locks.iter().map(Lock::waited).sum();
    let known = counted && threads.cpu_time > Nanoseconds(0.0) && threads.think.count > 0;
    known.then(|| ((threads.think.sum + held + waited) / threads.cpu_time).min(1.0))
}

/// What that keeps from being said.
pub(crate) fn gap(share: f64) -> String {
    format!(
        "its threads did {} of their computing neither under locks nor between two of them, and what was \
         seen of locks is of the rest alone",
        percent(1.0 - share)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::from_profile::synthetic::{mutex, run};

    #[test]
    fn computing_after_the_last_lock_is_not_around_locks() {
        let mut process = run(vec![mutex(1, "store", 10_000)], 10_000).processes.remove(0);
        let held: Nanoseconds<f64> = process.locks.iter().map(Lock::held).sum();
        let around = process.threads.think.sum + held;
        process.threads.cpu_time = around;
        assert_eq!(share(&process), Some(1.0));
        process.threads.cpu_time = around * 20.0;
        let little = share(&process).expect("it was counted");
        assert!((0.05..0.1).contains(&little), "{little}");
        assert!(gap(little).starts_with("its threads did 9"), "{}", gap(little));
        process.locks[0].precision = Some(kilocore_lock_profile::Precision::default());
        assert_eq!(share(&process), None);
    }
}
