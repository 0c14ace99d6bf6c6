//! Locks that threads wait for by trying again and again.
//!
//! Whoever tries a lock that is taken leaves a failed try in the profile, and no wait. Whether it tries again soon
//! or does something else first, the failed tries tell: a random try finds the lock taken as often as it
//! is held by others, and it then stays taken for what is left of the hold. If that is `l` on average and the next
//! try comes after `b`, a thread fails `l / b + 1/2` times each time that it finds the lock taken.

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{Lock, Run};

use crate::Duration;

/// Threads wait by trying if tries fail this many times as often as acquisitions wait. Some locks are tried first
/// and then waited for, so that both happen each time.
const MOSTLY_TRIED: f64 = 2.0;
/// If threads only tried, each that finds the lock taken would fail at least once. If there are fewer failed tries
/// than this share of that, most acquisitions were no tries.
const ALL_TRIED: f64 = 0.5;
/// How many more times a thread fails than tries fit into what is left of the hold.
const FIRST_FAILS: f64 = 0.5;

/// Computing between two tries of one of these locks, in cycles. `None` if threads wait for them.
///
/// It is at most as long as a hold: if hardly anyone fails twice, nobody knows by how much it is longer.
pub(super) fn between(locks: &[&Lock], hold: &Duration, run: &Run, threads: u64) -> Option<f64> {
    let failed: u64 = locks.iter().map(|lock| lock.failed_tries).sum();
    let waited: u64 = locks.iter().map(|lock| lock.contended).sum();
    if failed as f64 <= waited as f64 * MOSTLY_TRIED {
        return None;
    }
    let by_others = 1.0 - 1.0 / threads.max(1) as f64;
    let wall = run.wall_time.max(Nanoseconds(1.0));
    let found_taken: f64 = locks
        .iter()
        .map(|lock| lock.acquisitions as f64 * (lock.held() / wall).min(1.0) * by_others)
        .sum();
    let each = failed as f64 / found_taken.max(f64::MIN_POSITIVE);
    if each < ALL_TRIED {
        return None;
    }
    let left = hold.mean() * (1.0 + hold.relative_variance()) / 2.0;
    let between = left / (each - FIRST_FAILS).max(f64::MIN_POSITIVE);
    Some(between.min(hold.mean()))
}

#[cfg(test)]
mod tests {
    use kilocore_lock_profile::Lock;

    use super::between;
    use crate::Duration;
    use crate::from_profile::synthetic::{mutex, run};

    #[test]
    fn failed_tries_say_how_soon_the_next_one_comes() {
        let hold = Duration::Constant(400.0);
        let of = |failed_tries, contended| {
            let lock = Lock { failed_tries, contended, ..mutex(1, "store", 100_000) };
            let run = run(vec![lock], 100_000);
            let lock = &run.processes[0].locks[0];
            // Each thread holds the lock for this share of the time.
            let found_taken = 100_000.0 * (lock.held() / run.wall_time) / 2.0;
            (between(&[lock], &hold, &run, 2), found_taken)
        };
        let (_, found_taken) = of(1, 0);
        // 200 cycles are left on average: five tries, each 40 cycles apart, and half a one.
        let (tried, _) = of((found_taken * 5.5) as u64, 0);
        assert!((tried.expect("it is tried") - 40.0).abs() < 0.1, "{tried:?}");
        // Whoever fails once comes back later, and when is not known.
        assert_eq!(of((found_taken * 0.9) as u64, 0).0, Some(400.0));
        assert_eq!(of(0, 0).0, None);
        assert_eq!(of((found_taken * 0.1) as u64, 0).0, None, "most do not try");
        assert_eq!(of(1_000, 900).0, None, "it is tried, and then waited for");
    }
}
