//! Answers that locks are not what limits a program on the cores that are here.
//!
//! A stopwatch shows that where the cores do about as much as in proportion: then nothing limits the program
//! yet. Elsewhere an account of all waits does, if they are next to nothing.

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{Activities, Lock, Run, ScalingPoint};

use super::answer::of_here_alone;
use super::did::did;
use super::explained::{account, grows_in_proportion};
use super::outlook::LESSER_PART;
use super::watched::{more_threads, nobody_waits};
use crate::coverage::unexplained_sleep;
use crate::measured_here::MeasuredHere;
use crate::words::percent;
use crate::{Recommendation, Verdict};

/// Waits for locks that are so small a share of the time of threads that have work are no reason for anything.
const HARDLY: f64 = 0.03;
/// The same share where the stopwatch says that the cores are used.
const SOME: f64 = 0.1;
/// The least share of a program's processor time that the recorded processes must have used.
const NEARLY_ALL: f64 = 0.9;
/// The share of their time from which on it is named what threads wait for instead.
const MUCH: f64 = 0.1;

/// The answer that locks do not limit it here, if that is known.
pub(super) fn not_by_locks_here(run: &Run, here: &MeasuredHere) -> Option<Recommendation> {
    let point = here.comparable()?;
    let all = account(run).filter(hardly_spin)?;
    let grows = grows_in_proportion(&point);
    if !grows && is_parked(&all, &point) {
        return None;
    }
    let rests_on = match grows {
        true => nobody_waits(run).or_else(|| some_wait(&all)),
        false => nobody_waits(run).or_else(|| hardly_waits(run, &all, &point)),
    }?;
    let end = match grows {
        true => "; how far it scales beyond is not known",
        false => "",
    };
    let mut text = vec![more_threads(run)];
    if !grows {
        text.insert(0, instead(&all, &point));
    }
    let why = format!("{}, and {rests_on}{end}", did(&point));
    Some(of_here_alone(Verdict::NotByLocks, &why, text))
}

/// Whether threads hardly spin or wait in the kernel: on one core, those that do are in the way of whom they wait for, so
/// that more cores look better than they are.
fn hardly_spin(all: &Activities) -> bool {
    let spun = all.spinning.saturating_add(all.kernel_locks);
    all.with_work() > Nanoseconds(0) && spun.share_of(all.with_work()) <= HARDLY
}

/// Whether cores are unused while a runtime has parked threads: what its tasks wait for is not seen then.
fn is_parked(all: &Activities, point: &ScalingPoint) -> bool {
    !keeps_busy(point) && all.idle.share_of(all.present()) > HARDLY
}

/// Whether it keeps nearly all cores busy.
fn keeps_busy(point: &ScalingPoint) -> bool {
    point.busy_cores >= NEARLY_ALL * f64::from(point.cores)
}

/// How little threads wait for locks of any kind, as far as the account of their time goes.
fn some_wait(all: &Activities) -> Option<String> {
    let waits = Nanoseconds::saturating_sum([all.locks, all.spinning, all.kernel_locks]);
    let share = waits.share_of(all.with_work());
    (share <= SOME).then(|| {
        format!(
            "threads that have work are seen to wait {} of their time for locks",
            percent(share)
        )
    })
}

/// How little threads wait for locks at most, by the library's counts of pthread locks, by their sleep in futexes
/// that nothing explains, and by the account of their time.
fn hardly_waits(run: &Run, all: &Activities, point: &ScalingPoint) -> Option<String> {
    let lost = 1.0 - point.speedup / f64::from(point.cores);
    let watching = run.watching.as_ref().filter(|watching| watching.beside_library);
    watching?;
    let processes = || run.processes.iter();
    let computed: Nanoseconds<f64> = processes().map(|process| process.threads.cpu_time).sum();
    let whole = computed >= run.cpu_time? * NEARLY_ALL;
    let complete = processes().all(|process| process.locks_not_recorded == 0);
    let waited: Nanoseconds<f64> =
        processes().flat_map(|process| &process.locks).map(Lock::waited).sum();
    let in_locks = waited / (waited + computed).max(Nanoseconds(1.0));
    let spun = all.spinning.saturating_add(all.kernel_locks).share_of(all.with_work());
    let most = in_locks + unexplained_sleep(run)? + spun;
    (whole && complete && most <= HARDLY.max(LESSER_PART * lost)).then(|| {
        let share = percent(most);
        let at_most = if share.starts_with("less") { "" } else { "at most " };
        let end = if most > HARDLY { ", a small part of what more cores do not bring" } else { "" };
        format!("its threads wait for locks of any kind {at_most}{share} of their time{end}")
    })
}

/// What takes the cores, or keeps threads from them, where that is not locks.
fn instead(all: &Activities, point: &ScalingPoint) -> String {
    let Activities { barriers, work, idle, io, page_faults, sleep, .. } = *all;
    let kinds = [
        ("at barriers", barriers),
        ("for work from other threads", work.saturating_add(idle)),
        ("for input or output", io),
        ("for pages", page_faults),
        ("for a time of their own choice", sleep),
    ];
    // Who waits for the end of others is no part of what is divided among the cores.
    let time = all.present().saturating_sub(all.ends);
    let longest = kinds.into_iter().max_by_key(|(_, waited)| *waited);
    let longest = longest.filter(|(_, waited)| waited.share_of(time) >= MUCH);
    let busy = format!("It keeps {:.1} of {} cores busy", point.busy_cores, point.cores);
    match (!keeps_busy(point), longest) {
        (true, Some((what, waited))) => {
            let share = percent(waited.share_of(time));
            format!("{busy}. Its threads wait {share} of their time {what}.")
        }
        (true, None) => format!(
            "{busy}. A part of the work that one thread does alone, or input and output, may be the reason."
        ),
        (false, _) => format!(
            "{busy}, so they compete for something that is no lock: memory, or data that several of them write. \
             `kilocore locate` says which functions take longer on more cores."
        ),
    }
}

#[cfg(test)]
mod tests {
    use kilocore_lock_profile::{Finding, Outside, Watching};

    use super::super::explained::tests::{run_of, spinning};
    use super::super::held_against::tests::here;
    use super::*;
    use crate::from_profile::synthetic::{mutex, run};

    /// A run that was watched beside the library, whose threads did so, in thousandths.
    fn watched(times: Activities) -> Run {
        let mut run = run(vec![mutex(1, "store", 100_000)], 10_000);
        run.processes[0].locks[0].wait.sum = Nanoseconds(0.0);
        run.times = run_of(times).times;
        run.watching = Some(Watching { beside_library: true, ..Watching::default() });
        run.outside = Some(Outside { rounds: 100, running: 200, ..Outside::default() });
        run.cpu_time = Some(run.processes[0].threads.cpu_time);
        run
    }

    fn said(run: &Run, here: &MeasuredHere) -> Option<String> {
        let answer = not_by_locks_here(run, here)?;
        assert_eq!((answer.verdict, answer.scaling_known), (Verdict::NotByLocks, false));
        Some([answer.headline, answer.text.join(" ")].join(" "))
    }

    #[test]
    fn two_cores_that_do_twice_as_much_are_not_limited() {
        let times = Activities { locks: Nanoseconds(60), unknown: Nanoseconds(200), ..spinning(0) };
        let answer = said(&watched(times), &here(0.55, 1.9)).expect("the stopwatch shows it");
        assert!(answer.contains("1.82 times what it does on one"), "{answer}");
        assert!(answer.contains("how far it scales beyond is not known"), "{answer}");
        let more = Activities { locks: Nanoseconds(200), ..spinning(0) };
        assert_eq!(said(&watched(more), &here(0.55, 1.9)), None, "it will be limited soon");
        assert_eq!(
            said(&watched(spinning(60)), &here(0.55, 1.9)),
            None,
            "one core is worse than it is"
        );
        let mut blind = watched(times);
        blind.times.as_mut().expect("it has some").coverage.ticks_seen = false;
        assert_eq!(said(&blind, &here(0.55, 1.9)), None);
    }

    #[test]
    fn locks_that_nobody_waits_for_are_not_why_cores_bring_little() {
        let times = Activities { barriers: Nanoseconds(500), ..spinning(0) };
        let quiet = watched(times);
        let answer = said(&quiet, &here(0.8, 1.4)).expect("nobody waits for locks");
        assert!(answer.contains("for locks of any kind less than 0.1 % of their time"), "{answer}");
        assert!(answer.contains("Its threads wait 33 % of their time at barriers"), "{answer}");
        let busy = said(&quiet, &here(1.1, 2.0)).expect("nobody waits for locks");
        assert!(busy.contains("compete for something that is no lock"), "{busy}");

        let parked = Activities { idle: Nanoseconds(100), ..times };
        assert_eq!(said(&watched(parked), &here(0.8, 1.4)), None, "its tasks may wait for a lock");
        assert!(said(&watched(parked), &here(1.1, 2.0)).is_some(), "all cores are busy");
        let mut waits = quiet.clone();
        let computed = waits.processes[0].threads.cpu_time;
        waits.processes[0].locks[0].wait.sum = computed * 0.06;
        assert!(said(&waits, &here(0.8, 1.4)).is_some(), "more than a third is lost");
        waits.processes[0].locks[0].wait.sum = computed * 0.12;
        assert_eq!(said(&waits, &here(0.8, 1.4)), None, "a tenth is a reason");
        let mut asleep = quiet.clone();
        let outside = asleep.outside.as_mut().expect("it was looked at");
        outside.asleep.insert("futex".to_owned(), 100);
        outside.futexes.elsewhere = 100;
        assert_eq!(said(&asleep, &here(0.8, 1.4)), None, "that may be locks of another kind");
        let mut part = quiet.clone();
        part.cpu_time = part.cpu_time.map(|time| time * 2.0);
        assert_eq!(said(&part, &here(0.8, 1.4)), None, "half of it was not recorded");
        let mut alone = quiet;
        alone.watching = Some(Watching::default());
        assert_eq!(said(&alone, &here(0.8, 1.4)), None);
        let times = alone.times.as_mut().expect("it was watched");
        times.findings = vec![Finding::NoContention { wait: 0.002, known: 0.97 }];
        let answer = said(&alone, &here(0.8, 1.4)).expect("all waits were seen");
        assert!(answer.contains("waited for locks 0.2 % of their time"), "{answer}");
    }
}
