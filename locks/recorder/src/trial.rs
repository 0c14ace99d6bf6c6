//! Running a program with other locks on the cores that are here, in turn with itself as it is.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use kilocore_hardware::in_order_of_use;
use kilocore_lock_profile::{TrialFailure, TrialRound, TriedHere};
use kilocore_process::allowed_cores;

use crate::limits::within_limits;
use crate::timing::{OneRun, Timing, one_run};

/// The least number of rounds, and the most.
const ROUNDS: [u32; 2] = [3, 7];
/// A program that takes this many times as long as without the other locks is ended.
const MUCH_LONGER: u32 = 10;
/// No program is ended before that.
const NOT_YET: Duration = Duration::from_secs(5);

/// Times a program as it is and with other locks, in turn, on all cores that are allowed, or as many as control
/// groups allow it the time of. `environment` is
/// what puts the locks of `tried` under it; a run of it as it is takes some `usual` time. The rounds are added
/// to `tried`. There are none if three would take longer than the budget.
///
/// A program that does not end with the other locks is ended after ten times the time that it takes without.
#[must_use]
pub fn time_with_locks(
    command: &[OsString],
    environment: &[(OsString, OsString)],
    timing: &Timing,
    usual: Duration,
    mut tried: TriedHere,
) -> TriedHere {
    let all = in_order_of_use(&allowed_cores());
    let cores = within_limits(&all);
    if cores.is_empty() {
        return tried;
    }
    let [least, most] = ROUNDS;
    if usual * 2 * least > timing.budget {
        return tried;
    }
    let began = Instant::now();
    let limit = (usual * MUCH_LONGER).max(NOT_YET);
    let of = |number, environment| OneRun {
        command,
        environment,
        work: &timing.work,
        round: number,
        cores,
        limit: Some(limit),
    };
    for number in 0..most {
        // Every other round begins with the other locks, so that what changes slowly falls on both.
        let mut order = [&[], environment];
        if number % 2 == 1 {
            order.reverse();
        }
        let mut ends = order.map(|environment| one_run(&of(number, environment)));
        if number % 2 == 1 {
            ends.reverse();
        }
        match ends.into() {
            (Ok(as_it_is), Ok(with_them)) => tried.rounds.push(TrialRound { as_it_is, with_them }),
            // It fails as it is, or nobody wants to wait: that says nothing of the locks.
            (Err(_), _) => break,
            (_, Err(failure)) if failure.interrupted => break,
            (Ok(_), Err(failure)) => {
                tried.failure = Some(match failure.was_ended {
                    true => TrialFailure::DidNotEnd,
                    false => TrialFailure::Failed,
                });
                break;
            }
        }
        if number + 1 >= least && began.elapsed() > timing.budget / 2 {
            break;
        }
    }
    tried
}

#[cfg(test)]
mod tests {
    use kilocore_process::work::Rule;

    use super::*;
    use crate::timed_work::TimedWork;

    /// A program that does what a variable of its environment says, which is nothing as it is.
    fn tried(with_them: &str) -> TriedHere {
        let command: Vec<OsString> = ["sh", "-c", "eval \"$DO\""].map(Into::into).to_vec();
        let environment = [("DO".into(), with_them.into())];
        let timing =
            Timing { budget: Duration::from_secs(60), work: TimedWork::Rule(Rule::runs()) };
        let tried =
            TriedHere { lock: Some("mcs"), rwlock: None, rounds: Vec::new(), failure: None };
        time_with_locks(&command, &environment, &timing, Duration::from_millis(5), tried)
    }

    #[test]
    fn what_fails_with_the_locks_alone_is_seen_and_what_does_not_is_timed() {
        let _children = crate::CHILDREN.lock();
        let fine = tried("exit 0");
        assert_eq!((fine.failure, fine.rounds.len()), (None, 7));
        assert!(fine.rounds.iter().all(|round| round.as_it_is.cores == round.with_them.cores));
        assert_eq!(fine.gain(), None, "it is over at once");
        let fails = tried("exit 3");
        assert_eq!((fails.failure, fails.rounds.len()), (Some(TrialFailure::Failed), 0));
        let hangs = tried("exec sleep 1000");
        assert_eq!((hangs.failure, hangs.rounds.len()), (Some(TrialFailure::DidNotEnd), 0));
    }
}
