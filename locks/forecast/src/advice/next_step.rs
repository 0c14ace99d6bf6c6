//! What to type next where locks are not the answer, but the account of the threads' time shows a pattern.
//!
//! Each step has a least share of the threads' time. Below that, something else weighs more.

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{Activities, Finding, Profile, ThreadTimes};
use kilocore_show::shell::shell_words;

use crate::surroundings::is_undisturbed;
use crate::words::percent;
use crate::{Recommendation, Verdict};

/// The share of all threads' time asleep in calls that map memory, where the kernel does not show whether
/// that is for its locks.
const ASLEEP_IN_MAPPING: f64 = 0.2;
/// The share of their time for which the threads of an interpreter wait for its one lock.
const INTERPRETERS_LOCK: f64 = 0.2;
/// The share of its time in which one thread computes, while the others wait or sleep.
const ONE_COMPUTES: f64 = 0.85;
/// The share of the time on a core in the kernel.
const IN_KERNEL: f64 = 0.5;
/// The least part of a core that this must be.
const CORES_IN_KERNEL: f64 = 0.5;
/// No more steps are named.
const MOST_STEPS: usize = 2;

/// A step, and the share of the time that it is about.
struct Step {
    share: f64,
    sentence: String,
}

/// The answer with the next steps at its end, the weightiest first. There are none if locks are the answer,
/// nor where others or a quota kept the program from its cores.
pub(crate) fn with_next_steps(mut given: Recommendation, profile: &Profile) -> Recommendation {
    let limited = matches!(given.verdict, Verdict::LimitedByLocks | Verdict::LimitedByKernelLocks);
    if !limited {
        given.text.extend(steps(profile));
    }
    given
}

fn steps(profile: &Profile) -> Vec<String> {
    let run = profile.runs.first().filter(|run| is_undisturbed(run));
    let times = run.and_then(|run| run.checked_times()).filter(ThreadTimes::is_enough);
    let Some(times) = times else { return Vec::new() };
    let program = shell_words(&profile.command);
    let found = times.findings.iter().find_map(|one| of_finding(one, &program));
    let all = [found, mapping(&times, &program), in_kernel(&times, &program)];
    let mut steps: Vec<Step> = all.into_iter().flatten().collect();
    steps.sort_by(|a, b| b.share.total_cmp(&a.share));
    steps.into_iter().take(MOST_STEPS).map(|step| step.sentence).collect()
}

/// One thread that computes, or threads that take turns.
fn of_finding(finding: &Finding, program: &str) -> Option<Step> {
    match finding {
        Finding::GlobalLock { name, interpreter: true, wait, .. } if *wait >= INTERPRETERS_LOCK => {
            Some(Step {
                share: *wait,
                sentence: format!(
                    "Next: threads wait {} of their time for {name}, and more of them compute no more: \
                     divide the work among processes.",
                    percent(*wait)
                ),
            })
        }
        Finding::OneBusyThread { name, busy, others, .. }
            if *others > 0 && *busy >= ONE_COMPUTES =>
        {
            Some(Step {
                share: *busy,
                sentence: format!(
                    "Next: `kilocore locate -- {program}` names the functions in which {name} computes \
                     while the others wait: they are what to divide among threads, or to make faster."
                ),
            })
        }
        _ => None,
    }
}

/// Sleep in calls that map memory, where the kernel does not show its locks.
fn mapping(times: &ThreadTimes, program: &str) -> Option<Step> {
    let total = times.total();
    let share = total.kernel_locks.share_of(total.present());
    (!times.coverage.kernel_locks_seen && share >= ASLEEP_IN_MAPPING).then(|| Step {
        share,
        sentence: format!(
            "Next: threads sleep {} of their time in calls that map memory, as for `mmap_lock`. `kilocore \
             run --pages -- {program}` serves its large anonymous memory from a pool: time it so.",
            percent(share)
        ),
    })
}

/// Much time on a core in the kernel that is not for its locks.
fn in_kernel(times: &ThreadTimes, program: &str) -> Option<Step> {
    let total = times.total();
    let Activities { kernel, kernel_locks, .. } = total;
    let share = kernel.share_of(total.computing());
    let cores = kernel.share_of(times.observed);
    // Where spinning for the kernel's locks is not seen, it is in the kernel's time, and so it is open.
    let apart = times.coverage.ticks_seen && times.coverage.kernel_locks_seen;
    let shown = apart && kernel_locks < Nanoseconds(kernel.0 / 10);
    (shown && share >= IN_KERNEL && cores >= CORES_IN_KERNEL).then(|| Step {
        share: kernel.share_of(total.present()),
        sentence: format!(
            "Next: {} of the time on a core is in the kernel, and not for its locks. `kilocore locate -- \
             {program}` names its functions that take longer on more cores, and `kilocore bench` measures \
             which interfaces of the kernel scale here.",
            percent(share)
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::answer::answer;
    use crate::advice::kernel_locks::tests::profile;

    fn times(profile: &mut Profile) -> &mut ThreadTimes {
        profile.runs[0].times.as_mut().expect("it was watched")
    }

    /// Nothing but user time, in a tenth of a second of one thread.
    fn computing() -> Profile {
        let mut computing = profile(0);
        let times = times(&mut computing);
        times.kernel_locks.clear();
        let user = Nanoseconds(100_000_000);
        times.roles[0].times = Activities { user, ..Activities::default() };
        computing
    }

    #[test]
    fn a_program_that_computes_has_no_next_step() {
        assert_eq!(steps(&computing()), Vec::<String>::new());
    }

    #[test]
    fn an_interpreters_lock_asks_for_processes() {
        let lock = |wait| Finding::GlobalLock {
            word: 0,
            name: "Ruby's global lock".to_owned(),
            interpreter: true,
            threads: 4,
            wait,
            cores: 1.0,
        };
        let mut turns = computing();
        times(&mut turns).findings = vec![lock(0.7)];
        let said = steps(&turns);
        assert!(said[0].contains("70 % of their time for Ruby's global lock"), "{said:?}");
        assert!(said[0].ends_with("divide the work among processes."), "{said:?}");
        times(&mut turns).findings = vec![lock(0.19)];
        assert!(steps(&turns).is_empty());
    }

    #[test]
    fn one_thread_that_computes_for_others_is_located() {
        let busy = |busy, others| Finding::OneBusyThread {
            role: 0,
            name: "writer".to_owned(),
            busy,
            others,
            others_cores: 0.1,
            others_wait: 0.8,
        };
        let mut one = computing();
        // The windows agree with the whole run.
        one.runs[0].cpu_time = Some(Nanoseconds(1e9));
        times(&mut one).findings = vec![busy(0.95, 3)];
        let said = steps(&one);
        assert!(said[0].contains("`kilocore locate -- './map all' 4`"), "{said:?}");
        for other in [busy(0.84, 3), busy(0.95, 0)] {
            times(&mut one).findings = vec![other];
            assert!(steps(&one).is_empty());
        }
    }

    #[test]
    fn sleep_in_mappings_is_told_where_the_kernel_hides_its_locks() {
        let mut hidden = computing();
        let user = Nanoseconds(80_000_000);
        times(&mut hidden).roles[0].times =
            Activities { user, kernel_locks: Nanoseconds(20_000_000), ..Activities::default() };
        assert!(steps(&hidden).is_empty(), "where they are seen, that is no guess");
        times(&mut hidden).coverage.kernel_locks_seen = false;
        let said = steps(&hidden);
        assert!(said[0].contains("`kilocore run --pages -- './map all' 4`"), "{said:?}");
        times(&mut hidden).roles[0].times.kernel_locks = Nanoseconds(19_000_000);
        assert!(steps(&hidden).is_empty());
    }

    #[test]
    fn much_time_in_the_kernel_without_locks_asks_for_its_functions() {
        let mut kernel = computing();
        let half = Nanoseconds(50_000_000);
        times(&mut kernel).roles[0].times =
            Activities { user: half, kernel: half, ..Activities::default() };
        let said = steps(&kernel);
        assert!(said[0].contains("50 % of the time on a core is in the kernel"), "{said:?}");
        assert!(said[0].contains("`kilocore bench`"), "{said:?}");
        times(&mut kernel).roles[0].times.kernel_locks = Nanoseconds(6_000_000);
        assert!(steps(&kernel).is_empty(), "its locks are another matter");
        times(&mut kernel).roles[0].times.kernel_locks = Nanoseconds(0);
        times(&mut kernel).coverage.kernel_locks_seen = false;
        assert!(steps(&kernel).is_empty(), "it may spin for locks");
    }

    #[test]
    fn steps_stand_last_and_not_where_locks_are_the_answer() {
        let mut kernel = computing();
        times(&mut kernel).roles[0].times =
            Activities { kernel: Nanoseconds(100_000_000), ..Activities::default() };
        let given = |verdict| answer(verdict, "so it is", vec!["First.".to_owned()]);
        let told = with_next_steps(given(Verdict::Unknown), &kernel);
        assert_eq!((told.text.len(), &*told.text[0]), (2, "First."));
        let limited = given(Verdict::LimitedByLocks);
        assert_eq!(with_next_steps(limited.clone(), &kernel), limited);
    }
}
