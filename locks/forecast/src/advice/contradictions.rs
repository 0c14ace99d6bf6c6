//! Whatever a profile holds, the sentences of one answer do not contradict each other.
//!
//! The profiles are made: the recorder, the looks from outside and the windows each tell of the same
//! run what they like, as they do where one of them missed a part of it. The answer is everything that
//! `doctor` prints of it in words: the headline, what it says besides, and what the threads' times show.

use kilocore_lock_profile::thread_account::{
    Account, Event, EventKind, Nanoseconds, Reason, Thread, ThreadId, Word, WordKind,
};
use kilocore_lock_profile::{
    Condition, CpuLimit, Finding, Outside, Profile, Run, ThreadTimes, Watching,
};
use proptest::prelude::*;

use super::tests::{advise, without_forecast};
use crate::from_profile::synthetic::{durations, mutex, profile_of, run};
use crate::{Curve, Recommendation, Verdict, from_profile};

const MS: u64 = 1_000_000;
const WALL: Nanoseconds<f64> = Nanoseconds(2e9);

/// What a thread does in a window, in per cents of it: it computes first, then waits for a lock, then
/// for work, sleeps, waits for the end of another, for the kernel, and has no core in the end.
type ActivityShares = [u64; 6];

fn account(threads: &[ActivityShares], cores: u32, kernel_seen: bool) -> ThreadTimes {
    let word = |address| Word { space: 42, address };
    let reasons = [
        Reason::Futex(word(0x10)),
        Reason::Futex(word(0x20)),
        Reason::Sleep,
        Reason::Futex(word(0x30)),
        Reason::KernelLock,
    ];
    let mut account = Account::new();
    account.on_cores(cores);
    account.begin_window(Nanoseconds(0));
    let mut take = |at: u64, thread: u32, what| {
        account.take(&Event { at: Nanoseconds(at * MS), thread: ThreadId(thread), what });
    };
    for (thread, doing) in (42..).zip(threads) {
        let mut at = doing[0];
        take(0, thread, EventKind::Tick { kernel: false, spins: false });
        for (&share, reason) in doing[1..].iter().zip(reasons) {
            if share > 0 && at < 100 {
                take(at, thread, EventKind::Out(reason));
                at = (at + share).min(100);
                take(at, thread, EventKind::Waking { by: None });
                take(at, thread, EventKind::In);
            }
        }
        if at < 100 {
            take(at, thread, EventKind::Out(Reason::Preempted));
        }
    }
    account.end_window(Nanoseconds(100 * MS));
    if kernel_seen {
        account.kernel_locks(Vec::new());
    }
    let named = |id: u32| Thread {
        id: ThreadId(id),
        process: 42,
        name: format!("w-{id}"),
        function: None,
        main: id == 42,
    };
    let all: Vec<Thread> = (42..).take(threads.len()).map(named).collect();
    let kind = |word: Word| match word.address {
        0x10 => WordKind::Lock,
        0x20 => WordKind::Condition,
        _ => WordKind::Join,
    };
    account.finish(&all, &kind, &|_| String::new())
}

fn share() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), 0.0..0.1_f64, 0.0..=1.0_f64, Just(1.0)]
}

fn doing() -> impl Strategy<Value = ActivityShares> {
    let part = || prop_oneof![2 => Just(0_u64), 1 => 0..=100_u64];
    (prop_oneof![Just(0_u64), Just(100), 0..=100_u64], part(), part(), part(), part(), part())
        .prop_map(|(computes, a, b, c, d, e)| [computes, a, b, c, d, e])
}

prop_compose! {
    fn made_run()(
        cores in 1..=4_u32,
        threads in proptest::collection::vec(doing(), 1..=5),
        (busy, waits, on_conditions) in (share(), share(), share()),
        acquisitions in prop_oneof![Just(1_u64), Just(500), Just(20_000)],
        (awake, in_locks, elsewhere, unrecorded) in (share(), share(), share(), prop_oneof![
            Just(None), Just(Some(0.0)), share().prop_map(Some)
        ]),
        looks in prop_oneof![Just(5_u64), Just(1_000)],
        (by_looks, by_windows, watched, kernel_seen) in any::<(bool, bool, bool, bool)>(),
        second in prop_oneof![2 => Just(0.0), 1 => share()],
        limit in proptest::option::of((0.1..4.0_f64, 0..30_u64)),
    ) -> Run {
        let mut run = run(vec![mutex(1, "store", acquisitions)], 10_000);
        let all = threads.len() as f64;
        let able = all.min(f64::from(cores));
        (run.cores, run.wall_time) = (cores, WALL);
        let process = &mut run.processes[0];
        process.threads.peak = threads.len() as u64;
        process.threads.cpu_time = WALL * (busy * able);
        process.locks[0].wait.sum = WALL * (waits * all);
        process.conditions = vec![Condition {
            wait: durations(acquisitions, WALL.0 * on_conditions * all / acquisitions as f64),
            ..Condition::default()
        }];
        if second > 0.0 {
            let mut other = process.clone();
            (other.pid, other.threads.cpu_time) = (43, WALL * (second * able));
            other.locks[0].acquisitions /= 10;
            run.processes.push(other);
        }
        if by_looks {
            let count = |share: f64| (share * all * looks as f64) as u64;
            let asleep = [("futex", in_locks), ("epoll_wait", elsewhere)];
            let asleep = asleep.map(|(call, share)| (call.to_owned(), count(share * (1.0 - awake))));
            run.outside = Some(Outside {
                rounds: looks,
                threads_peak: threads.len() as u64,
                running: count(awake),
                running_unrecorded: unrecorded.map(|share: f64| count(share * awake)),
                asleep: asleep.into_iter().filter(|(_, looks)| *looks > 0).collect(),
                ..Outside::default()
            });
        }
        run.times = by_windows.then(|| account(&threads, cores, kernel_seen));
        run.watching = (by_windows && watched).then(Watching::default);
        run.limit = limit.map(|(cores, throttled)| CpuLimit { cores, periods: 20.max(throttled), throttled, ..CpuLimit::default() });
        run
    }
}

prop_compose! {
    fn curves()(
        today in prop_oneof![Just([1.0, 6.0, 48.0]), Just([1.0, 5.0, 30.0]), Just([1.0, 5.0, 5.5]), Just([1.0, 5.0, 2.0])],
        gain in prop_oneof![Just(1.0), 1.0..4.0_f64],
        waiting in share(),
    ) -> Vec<Curve> {
        let curve = |lock, gain: f64| {
            let [alone, few, many] = today;
            super::tests::curve(lock, &[(1, alone), (6, few * gain), (48, many * gain)], 0.0, waiting)
        };
        vec![curve("futex", 1.0), curve("mcs", gain)]
    }
}

/// Everything that is said.
struct Said {
    answer: Recommendation,
    all: String,
    findings: Vec<Finding>,
}

fn said(profile: &Profile, answer: Recommendation) -> Said {
    let times = profile.runs[0].checked_times();
    let findings = times.map_or_else(Vec::new, |times| times.findings);
    let parts = [&answer.headline, &answer.confidence].into_iter().chain(&answer.text).cloned();
    let parts: Vec<String> = parts.chain(findings.iter().map(ToString::to_string)).collect();
    Said { answer, all: parts.join(" "), findings }
}

/// The figures of `1.9 of 2 cores busy` and of `1.90 cores busy`.
fn busy_cores(text: &str) -> Vec<f64> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let figure = |at: usize| words.get(at)?.parse::<f64>().ok();
    let mut found = Vec::new();
    for at in (2..words.len()).filter(|&at| words[at].starts_with("busy")) {
        let before = match (words[at - 1], at.checked_sub(4).map(|first| words[first + 1])) {
            ("core" | "cores", Some("of")) => figure(at - 4),
            ("core" | "cores", _) => figure(at - 2),
            _ => None,
        };
        found.extend(before);
    }
    found
}

impl Said {
    fn says(&self, words: &str) -> bool {
        self.all.contains(words)
    }

    fn finds(&self, of: impl Fn(&Finding) -> bool) -> bool {
        self.findings.iter().any(of)
    }

    /// Which statements of the answer contradict one another or the run; none if all agree.
    fn contradictions(&self, run: &Run) -> Vec<&'static str> {
        let contended = self.finds(|one| {
            matches!(
                one,
                Finding::ContendedLock { .. }
                    | Finding::GlobalLock { .. }
                    | Finding::KernelLocks { .. }
            )
        });
        let quiet = self.finds(|one| matches!(one, Finding::NoContention { .. }));
        let short = self.finds(|one| matches!(one, Finding::NotEnoughCores { .. }));
        let busy = busy_cores(&self.all);
        let seen = busy_cores(&self.answer.confidence).first().copied();
        let limited = self.answer.verdict == Verdict::LimitedByLocks;
        let waited = run.processes.iter().flat_map(|process| &process.locks);
        let waited = waited.map(|lock| lock.wait.sum).sum::<Nanoseconds<f64>>() / WALL;
        let total = run.times.as_ref().map(ThreadTimes::total).unwrap_or_default();
        let asleep = (total.waiting() + total.sleep).share_of(total.present());
        let kept_apart = |text: &str| text.contains("process whose locks were seen kept");
        let kept = busy_cores(&self.answer.headline).into_iter().chain(
            self.answer
                .text
                .iter()
                .filter(|text| !kept_apart(text))
                .flat_map(|text| busy_cores(text)),
        );
        let mut kept = kept.filter(|_| !kept_apart(&self.answer.headline));
        let one_thread = self.findings.iter().any(|one| match one {
            Finding::OneBusyThread { busy, others_cores, .. } => {
                seen.is_some_and(|seen| seen > 1.5 * (busy + others_cores) + 0.55)
            }
            _ => false,
        });
        let contradicts = [
            (
                self.answer.verdict == Verdict::NotByLocks && contended,
                "not limited by locks, and they are contended",
            ),
            (
                limited && quiet && !self.says("On more cores they would"),
                "limited by locks, and no contention",
            ),
            (
                quiet && waited > 0.05 * run.processes[0].threads.peak as f64 * 1.5,
                "no contention, and waits",
            ),
            (
                self.answer.verdict == Verdict::CoresUnused && short,
                "cores are unused, and there are not enough",
            ),
            (
                self.says("which waits for locks do not explain:") && contended,
                "waits for locks explain nothing, and they are contended",
            ),
            (limited && self.says("forecast to scale"), "limited, and it scales"),
            (
                self.says("forecast to scale") && self.says("forecast to reach"),
                "it scales and flattens",
            ),
            (self.says("Threads hardly slept.") && asleep > 0.3, "threads hardly slept, and slept"),
            (
                self.says("Threads hardly slept.") && self.says("waited on conditions"),
                "threads hardly slept, and waited on conditions",
            ),
            (
                busy.iter().any(|&busy| busy > f64::from(run.cores) + 0.005),
                "more cores are busy than there are",
            ),
            (
                kept.any(|kept| seen.is_some_and(|seen| (kept - seen).abs() > 0.15)),
                "the same cores are busy to different degrees",
            ),
            (
                seen.is_some_and(|seen| seen > 1.15)
                    && (self.says("ran one at a time") || self.says("its threads compute one at")),
                "one thread at a time keeps more than a core busy",
            ),
            (one_thread, "one busy thread, and more cores are busy"),
            (
                run.limit
                    .as_ref()
                    .is_some_and(|limit| seen.is_some_and(|seen| seen > 1.2 * limit.cores + 0.1))
                    && self.says("allowed it the time")
                    && !self.says("not all the time"),
                "more cores are busy than were allowed",
            ),
        ];
        contradicts.into_iter().filter(|(is_so, _)| *is_so).map(|(_, what)| what).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, ..ProptestConfig::default() })]
    #[test]
    fn no_answer_contradicts_itself(run in made_run(), curves in curves()) {
        let profile = profile_of(vec![run]);
        let run = &profile.runs[0];
        let answers = [
            without_forecast(&profile),
            from_profile(&profile).ok().map(|known| advise((&curves, &[]), &known, &profile, "m")),
        ];
        for answer in answers.into_iter().flatten() {
            let said = said(&profile, answer);
            let found = said.contradictions(run);
            prop_assert!(found.is_empty(), "{found:?}: {}", said.all);
        }
    }
}
