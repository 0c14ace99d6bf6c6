use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{
    Finding, Profile, Run, ThreadTimes, TimesCoverage, Unrecorded, Watching, WhyUnrecorded,
};

use super::{Coverage, recorded_share};
use crate::evidence::Evidence;
use crate::from_profile::synthetic::{mutex, profile_of, run, watched};

/// A run of two busy threads and a waiting main thread, seen from outside for a hundred looks.
fn seen(asleep: &[(&str, u64)]) -> Run {
    watched(run(vec![mutex(1, "store", 10_000)], 10_000), 190, asleep)
}

fn gaps(runs: Vec<Run>) -> Vec<String> {
    let profile = profile_of(runs);
    let (coverage, evidence) = coverage(&profile);
    coverage.gaps(&evidence)
}

fn coverage(profile: &Profile) -> (Coverage, Evidence) {
    let evidence = Evidence::of(&profile.runs[0]);
    (Coverage::of(profile, &profile.runs[0], &evidence), evidence)
}

#[test]
fn a_main_thread_that_waits_for_the_others_is_no_gap() {
    assert_eq!(gaps(vec![seen(&[("futex", 105)])]), Vec::<String>::new());
}

#[test]
fn sleep_in_futexes_that_no_lock_explains_is_a_gap_with_its_share() {
    // Four threads slept: two in futexes, one for input, and one that waited for the end of the
    // others.
    let mut run = seen(&[("futex", 300), ("epoll_wait", 100)]);
    run.processes[0].locks[0].wait.sum = Nanoseconds(0.0);
    let profile = profile_of(vec![run]);
    let (coverage, evidence) = coverage(&profile);
    let sleep = coverage.sleep.as_ref().unwrap();
    assert!((sleep.unexplained - 2.0 / 3.0).abs() < 0.01, "{sleep:?}");
    assert!((sleep.elsewhere[0].1 - 1.0 / 3.0).abs() < 0.01, "{sleep:?}");
    let gaps = coverage.gaps(&evidence);
    assert_eq!(gaps.len(), 1, "{gaps:?}");
    assert!(gaps[0].contains("% of the time that threads slept was in futexes"), "{gaps:?}");
    assert!(coverage.sentence().contains("elsewhere (epoll_wait)"), "{}", coverage.sentence());
}

#[test]
fn where_the_futexes_are_known_they_decide() {
    let mut run = seen(&[("futex", 300)]);
    run.processes[0].locks[0].wait.sum = Nanoseconds(0.0);
    let words = &mut run.outside.as_mut().unwrap().futexes;
    (words.joins, words.conditions) = (100, 200);
    assert_eq!(gaps(vec![run.clone()]), Vec::<String>::new());
    let words = &mut run.outside.as_mut().unwrap().futexes;
    (words.conditions, words.elsewhere) = (100, 100);
    let gaps = gaps(vec![run]);
    assert!(gaps[0].contains("50 % of the time that threads slept was in futexes"), "{gaps:?}");
}

#[test]
fn sleep_in_seen_locks_is_explained() {
    let mut run = seen(&[("futex", 300)]);
    run.processes[0].locks[0].wait.sum = run.wall_time * 2.0;
    assert_eq!(gaps(vec![run]), Vec::<String>::new());
}

#[test]
fn sleep_elsewhere_is_no_lock_and_unread_sleep_may_be() {
    assert_eq!(gaps(vec![seen(&[("epoll_wait", 900), ("nanosleep", 100)])]), Vec::<String>::new());
    let gaps = gaps(vec![seen(&[("", 300)])]);
    assert!(gaps[0].contains("could not be read"), "{gaps:?}");
}

#[test]
fn whoever_was_not_watched_is_not_known() {
    let run = run(vec![mutex(1, "store", 10_000)], 10_000);
    let mut shortly = seen(&[]);
    shortly.outside.as_mut().unwrap().rounds = 3;
    for run in [run, shortly] {
        let gaps = gaps(vec![run]);
        assert!(gaps[0].contains("not watched from outside"), "{gaps:?}");
    }
}

#[test]
fn programs_without_a_recording_are_named_with_the_reason() {
    let mut run = seen(&[]);
    let image = |executable: &str, why| Unrecorded { pid: 7, executable: executable.into(), why };
    run.outside.as_mut().unwrap().unrecorded = vec![
        image("/opt/bin/server", WhyUnrecorded::Static),
        image("/opt/bin/server", WhyUnrecorded::Static),
        image("/usr/bin/sudo", WhyUnrecorded::OtherRights),
    ];
    let gaps = gaps(vec![run]);
    assert_eq!(gaps[0], "no lock of server could be seen (linked statically)");
    assert!(gaps[1].contains("sudo") && gaps[1].contains("other rights"), "{gaps:?}");
}

#[test]
fn other_programs_on_the_cores_are_no_part_of_the_program() {
    // Both threads were always ready, and ran half of the time.
    let mut run = watched(run(vec![mutex(1, "store", 10_000)], 10_000), 200, &[]);
    run.wall_time *= 2.0;
    let share = |run: &Run| recorded_share(run, &Evidence::of(run)).unwrap();
    run.outside.as_mut().unwrap().running_unrecorded = Some(0);
    assert!((share(&run) - 1.0).abs() < 1e-9);
    run.outside.as_mut().unwrap().running_unrecorded = Some(150);
    assert!((share(&run) - 0.25).abs() < 1e-9);
}

#[test]
fn a_process_that_did_little_of_the_work_is_a_lesser_part() {
    let mut run = seen(&[]);
    run.processes[0].threads.cpu_time *= 0.1;
    let profile = profile_of(vec![run]);
    let (coverage, evidence) = coverage(&profile);
    assert!(coverage.is_of_a_lesser_part(), "{coverage:?}");
    assert!(coverage.gaps(&evidence)[0].contains("% of the program's processor time"));
}

#[test]
fn busy_cores_without_locks_may_compute_or_spin() {
    let gaps = gaps(vec![watched(run(vec![mutex(1, "store", 10)], 10_000), 190, &[])]);
    assert!(gaps[0].contains("computing and spinning"), "{gaps:?}");
}

#[test]
fn busy_cores_that_were_seen_spinning_are_said_to_spin() {
    let mut run = watched(run(vec![mutex(1, "store", 10)], 10_000), 190, &[]);
    let longest = Some("spin_barrier in server".to_owned());
    let findings = vec![Finding::Spinning { spin: 0.97, longest }];
    let coverage = TimesCoverage { ticks_seen: true, ..TimesCoverage::default() };
    let times =
        ThreadTimes { observed: Nanoseconds(1_000_000_000), coverage, ..ThreadTimes::default() };
    run.watching = Some(Watching::default());
    run.times = Some(ThreadTimes { findings, ..times.clone() });
    let spins = gaps(vec![run.clone()]);
    let expected = "hardly took a lock that was seen, but for 97 % of their time on a core they spin \
                    until another thread writes to memory, most in spin_barrier in server";
    assert!(spins[0].ends_with(expected), "{spins:?}");
    run.times = Some(times);
    let known = gaps(vec![run]);
    assert!(known[0].ends_with("it is known where 100 % of their time went"), "{known:?}");
}

#[test]
fn more_processor_time_than_on_one_core_is_a_strain() {
    let confined = || Run { cores: 1, ..run(vec![mutex(1, "store", 10_000)], 10_000) };
    assert_eq!(gaps(vec![seen(&[]), confined()]), Vec::<String>::new());
    let mut strained = seen(&[]);
    strained.processes[0].threads.cpu_time *= 1.6;
    let gaps = gaps(vec![strained, confined()]);
    assert!(gaps[0].contains("1.6 times the processor time"), "{gaps:?}");
}

#[test]
fn a_few_acquisitions_tell_of_no_strain() {
    let few = |acquisitions| run(vec![mutex(1, "store", acquisitions)], 10_000);
    let strain = |here: u64, there: u64| {
        let mut here = watched(few(here), 190, &[]);
        here.processes[0].threads.cpu_time *= 3.0;
        coverage(&profile_of(vec![here, Run { cores: 1, ..few(there) }])).0.strain
    };
    assert!(strain(10_000, 10_000).is_some());
    assert_eq!((strain(10, 10_000), strain(10_000, 10)), (None, None));
}

#[test]
fn a_single_thread_is_under_no_strain() {
    let confined = || Run { cores: 1, ..run(vec![mutex(1, "store", 10_000)], 10_000) };
    let mut alone = seen(&[]);
    alone.processes[0].threads.cpu_time *= 1.6;
    let profile = profile_of(vec![alone, confined()]);
    let (coverage, evidence) = coverage(&profile);
    let strained = |evidence: &Evidence| {
        coverage.gaps(evidence).iter().any(|gap| gap.contains("times the processor time"))
    };
    assert!(strained(&evidence));
    assert!(!strained(&Evidence { threads: 1, ..evidence }));
}

#[test]
fn locks_that_found_no_room_are_a_gap() {
    let mut run = seen(&[]);
    run.processes[0].locks_not_recorded = 12;
    assert!(gaps(vec![run])[0].contains("no room for 12"));
}
