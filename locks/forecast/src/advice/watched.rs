//! Programs that were watched, and whose own locks nobody waits for.
//!
//! Watching sees every wait, whatever for: a thread that sleeps for a lock, one that spins and, where
//! the kernel shows it, one that waits for a lock of the kernel. So it can be said that nothing is
//! contended here, and that a lock of the kernel is. What locks without waits would cost on more cores is
//! not known, because only locks that are waited for are counted.

use kilocore_lock_profile::{Finding, Profile, Run};

use super::answer::answer;
use super::kernel_locks;
use crate::words::{counted, duration, percent};
use crate::{Recommendation, Verdict};

/// The answer for a program whose own locks show nothing, if its times say something.
pub(super) fn answer_by_times(profile: &Profile) -> Option<Recommendation> {
    let run = profile.runs.first().filter(|run| run.watching.is_some())?;
    run.times.as_ref()?;
    kernel_locks::answer_alone(profile).or_else(|| no_contention(run))
}

/// What threads wait for, asleep or spinning, by the account of their time, as a gap in an answer that says that
/// locks do not matter.
pub(super) fn contended(run: &Run) -> Option<String> {
    let times = run.checked_times()?;
    times.findings.iter().find_map(|finding| match finding {
        Finding::ContendedLock { name, wait, .. } => {
            Some(format!("threads waited {} of their time for {name}", percent(*wait)))
        }
        Finding::GlobalLock { name, wait, .. } => Some(format!(
            "threads that take turns at {name} waited {} of their time for it",
            percent(*wait)
        )),
        Finding::KernelLocks { wait, .. } if kernel_locks::gap(run).is_none() => Some(format!(
            "threads waited {} of their time for the kernel's own locks",
            percent(*wait)
        )),
        Finding::Spinning { spin, longest } => {
            let place =
                longest.as_ref().map_or_else(String::new, |place| format!(", most in {place}"));
            Some(format!(
                "for {} of their time on a core threads spin until another thread writes to \
                 memory{place}, for something that no forecast has",
                percent(*spin)
            ))
        }
        _ => None,
    })
}

/// What reconciles that locks are forecast to limit a program with that they do not here.
pub(super) fn not_yet(run: &Run) -> Option<String> {
    let times = run.checked_times()?;
    let wait = times.findings.iter().find_map(|finding| match finding {
        Finding::NoContention { wait, .. } => Some(*wait),
        _ => None,
    })?;
    Some(format!(
        "Here, on {}, threads wait for locks {} of their time. On more cores they would wait longer.",
        counted(run.cores.into(), "core"),
        percent(wait)
    ))
}

/// Whether of the program's locks only those were counted that threads waited for. The others may
/// well limit it on more cores, so that no forecast acquits it.
pub(super) fn counts_only_waited_for(run: &Run) -> bool {
    run.watching.as_ref().is_some_and(|watching| !watching.beside_library)
}

/// What keeps everything from being said of a program of which only the windows tell, if these were too
/// short.
pub(super) fn too_short(run: &Run) -> Option<String> {
    let times =
        run.times.as_ref().filter(|times| counts_only_waited_for(run) && !times.is_enough())?;
    Some(format!(
        "its threads were watched for {} of {}, too short a time to say what they wait for: measure a \
         longer run",
        duration(times.observed.calculated()),
        duration(run.wall_time)
    ))
}

/// The same as a gap, where the locks that were counted do not limit the program.
pub(super) fn uncounted(forecast: &str) -> String {
    format!(
        "{forecast} as far as the locks go that its threads waited for here; locks that nobody waits \
         for are not counted"
    )
}

/// How to learn of the other locks.
pub(super) fn more_threads(run: &Run) -> String {
    format!(
        "That is so on {}. What its locks would cost on more cores is not known: measure with more \
         threads, on a machine that has more cores.",
        counted(run.cores.into(), "core")
    )
}

/// That there is no contention, with how it is known, worded such that it can stand in a sentence.
pub(super) fn nobody_waits(run: &Run) -> Option<String> {
    let (times, checked) = (run.times.as_ref()?, run.checked_times()?);
    let (wait, known) = checked.findings.iter().find_map(|finding| match finding {
        Finding::NoContention { wait, known } => Some((*wait, *known)),
        _ => None,
    })?;
    // Without samples of a timer, spinning is not told from computing.
    times.coverage.ticks_seen.then(|| {
        format!(
            "in {} of {} together its threads waited for locks {} of their time, and it is known where {} \
             of that time went",
            counted(times.windows, "window"),
            duration(times.observed.calculated()),
            percent(wait),
            percent(known)
        )
    })
}

fn no_contention(run: &Run) -> Option<Recommendation> {
    let why = format!(
        "there is no contention here, where {}; but locks that nobody waits for are not counted",
        nobody_waits(run)?
    );
    let text = vec![
        more_threads(run),
        "If it stops scaling, look for memory bandwidth, shared cache lines or serial parts: `kilocore \
         locate` compares two profiles."
            .to_owned(),
    ];
    Some(answer(Verdict::Unknown, &why, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::kernel_locks::tests::profile;

    #[test]
    fn no_contention_is_said_with_what_is_known_of_it() {
        let quiet = || {
            let mut quiet = profile(10);
            let times = quiet.runs[0].times.as_mut().expect("it was watched");
            times.findings = vec![Finding::NoContention { wait: 0.002, known: 0.97 }];
            quiet
        };
        let answer = answer_by_times(&quiet()).expect("it says something");
        // On more cores, locks that nobody waits for here may well limit it.
        assert_eq!(answer.verdict, Verdict::Unknown);
        assert!(answer.headline.contains("there is no contention here"), "{answer:?}");
        assert!(
            answer.headline.contains("for locks 0.2 % of their time, and it is known where 97 %")
        );
        assert!(answer.text[0].contains("on 2 cores") && !answer.scaling_known, "{answer:?}");
        let mut blind = quiet();
        blind.runs[0].times.as_mut().expect("times").coverage.ticks_seen = false;
        assert_eq!(answer_by_times(&blind), None);
        blind = quiet();
        blind.runs[0].watching = None;
        assert_eq!(answer_by_times(&blind), None);
    }
}
