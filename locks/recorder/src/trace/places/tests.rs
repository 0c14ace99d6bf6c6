//! Made-up words and locks.

use kilocore_lock_profile::{Caller, FORMAT, Host, Process, Run};
use kilocore_references::TracedLock;

use super::*;

fn frames(offsets: &[u64]) -> Vec<Frame> {
    let frame = |offset: &u64| Frame {
        function: String::new(),
        module: "/bin/program".to_owned(),
        offset: *offset,
        line: None,
    };
    offsets.iter().map(frame).collect()
}

fn lock(id: u32, made: &[u64], acquired: &[&[u64]]) -> Lock {
    let caller = |site: &&[u64]| Caller { site: frames(site), ..Caller::default() };
    Lock {
        id,
        site: frames(made),
        callers: acquired.iter().map(caller).collect(),
        ..Lock::default()
    }
}

fn profile(locks: Vec<Lock>) -> Profile {
    let process = Process { executable: "/bin/program".to_owned(), locks, ..Process::default() };
    Profile {
        format: FORMAT.to_owned(),
        version: 1,
        command: vec!["program".to_owned()],
        host: Host {
            processor: String::new(),
            cores: 2,
            clock_ghz: 2.0,
            core_to_core: None,
            kernel: String::new(),
            offline: None,
            hardware_threads: Vec::new(),
        },
        runs: vec![Run { processes: vec![process], ..Run::default() }],
        trace: None,
        scaling: None,
    }
}

fn word(acquisitions: u64, handovers: u64, lines: u64, callers: &[u64]) -> Found {
    let mut lock = TracedLock::new(64);
    (lock.acquisitions, lock.handovers) = (acquisitions, handovers);
    lock.lines_moved_to_write = lines;
    Found { site: frames(callers), callers: vec![frames(callers)], figures: Figures::of(&lock) }
}

fn traced(profile: &Profile, index: usize) -> Option<Traced> {
    profile.runs[0].processes[0].locks[index].traced
}

#[test]
fn a_word_is_the_lock_with_which_most_callers_agree() {
    let mut profile =
        profile(vec![lock(0, &[1, 2], &[&[10, 20, 40]]), lock(1, &[1, 3], &[&[10, 30, 40]])]);
    let words = vec![word(100, 50, 200, &[10, 30, 40]), word(7, 0, 0, &[10, 20])];
    assert_eq!(match_words(words, &mut profile), []);
    let first = traced(&profile, 0).expect("it was traced");
    let second = traced(&profile, 1).expect("it was traced");
    assert_eq!((first.acquisitions, first.places), (7, 1));
    assert_eq!((second.acquisitions, second.places, second.lines()), (100, 1, 4.0));
}

#[test]
fn locks_of_one_place_share_a_sum_and_so_do_those_that_cannot_be_told_apart() {
    let of_one_place = || lock(0, &[1, 2], &[&[10]]);
    let mut profile = profile(vec![of_one_place(), of_one_place(), lock(2, &[5], &[&[10, 77]])]);
    let words = vec![word(100, 10, 40, &[10]), word(300, 30, 40, &[10, 9])];
    assert_eq!(match_words(words, &mut profile), []);
    for index in 0..3 {
        let traced = traced(&profile, index).expect("it was traced");
        assert_eq!((traced.words, traced.places, traced.acquisitions), (2, 2, 400));
        assert_eq!(traced.lines(), 2.0);
    }
}

#[test]
fn any_of_the_places_where_a_word_was_taken_may_tell() {
    let mut profile = profile(vec![lock(0, &[1], &[&[10, 20]]), lock(1, &[2], &[&[10, 30, 41]])]);
    let mut word = word(5, 0, 0, &[10, 99]);
    word.callers.push(frames(&[10, 30, 40]));
    assert_eq!(match_words(vec![word], &mut profile), []);
    assert_eq!(traced(&profile, 0), None);
    assert_eq!(traced(&profile, 1).map(|traced| traced.acquisitions), Some(5));
}

#[test]
fn what_agrees_with_nothing_is_listed_the_most_used_first() {
    let mut profile = profile(vec![lock(0, &[1], &[&[10]])]);
    let words = vec![word(5, 0, 0, &[11]), word(9, 0, 0, &[12]), word(5, 0, 0, &[4])];
    let others = match_words(words, &mut profile);
    let offsets: Vec<u64> = others.iter().map(|word| word.site[0].offset).collect();
    assert_eq!(offsets, [12, 4, 11]);
    assert_eq!(traced(&profile, 0), None);
}

#[test]
fn functions_that_are_inlined_at_a_call_are_one_call() {
    assert_eq!(agreement(&frames(&[10, 10, 20]), &frames(&[10, 20, 20])), 2);
    assert_eq!(agreement(&frames(&[10, 11]), &frames(&[10, 12])), 1);
    assert_eq!(agreement(&[], &frames(&[10])), 0);
}
