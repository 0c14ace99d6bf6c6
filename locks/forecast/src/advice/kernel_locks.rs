//! Waits for the kernel's own locks, where they are the reason or a part of it.
//!
//! The account of the threads' time has them where the kernel shows them. No forecast has these locks,
//! and `run` does not replace them. But the account says how much of the threads' time goes into them and
//! where they are taken, so that it can be said what to do next.
//!
//! Waits in futexes are left out: there, threads wait for locks of the program.

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{KernelLockWaits, Profile, Run, ThreadTimes};
use kilocore_show::shell::shell_words;

use super::answer::answer;
use super::kernel_subject::Subject;
use crate::surroundings::is_undisturbed;
use crate::words::percent;
use crate::{Recommendation, Verdict};

/// The share of the time of threads that have work from which on the kernel's locks are worth a word. They
/// limit a program from there on of whose own locks nothing was seen: if two threads wait for one lock for
/// a twentieth of their time, five threads keep it always taken.
const MATTER: f64 = 0.05;
/// The same share from which on they limit a program whose own locks do not, or are said first beside these.
const LARGE: f64 = 0.2;
/// Of all waits for the kernel's locks, the share of one subject from which on it is the one that limits,
/// where they matter and are not large.
const MOST: f64 = 0.5;
/// Fewer waits in all windows say nothing.
const FEWEST_WAITS: u64 = 30;
/// Nor do the waits of fewer threads: nobody else of the program can have had the lock then.
const FEWEST_THREADS: u64 = 2;
/// Places with less than this share of the waits are not named.
const WORTH_NAMING: f64 = 0.1;
/// No more places are named.
const NAMED_PLACES: usize = 3;

/// The waits of a run's threads for the kernel's own locks.
#[derive(Debug, Clone)]
pub(super) struct InKernel<'a> {
    /// The share of the time of threads that have work in which they wait for such locks.
    share: f64,
    /// What the locks protect that are waited for longest.
    subject: &'static Subject,
    /// The share of its locks in all these waits.
    part: f64,
    /// Where these locks are taken, with the share of each place in all the waits.
    places: Vec<(&'a KernelLockWaits, f64)>,
    /// How often threads waited for these locks.
    count: u64,
    /// How many threads did so at the place with the most.
    threads: u64,
    /// The program and its arguments, as a shell reads them.
    program: String,
}

impl<'a> InKernel<'a> {
    /// Of the first run of a profile. `None` if the kernel did not show such waits, if they do not matter,
    /// or if nobody knows where they are.
    fn of(profile: &'a Profile) -> Option<Self> {
        let times = profile.runs.first()?.times.as_ref()?;
        let share = share(times).filter(|share| *share >= MATTER)?;
        let all = waits(times);
        let sum = Nanoseconds::saturating_sum(all.iter().map(|(one, _)| one.waited));
        let of = |subject: &Subject| {
            let same = all.iter().filter(|(_, other)| std::ptr::eq(*other, subject));
            Nanoseconds::saturating_sum(same.map(|(one, _)| one.waited))
        };
        let subject = all.iter().map(|(_, subject)| *subject).max_by_key(|subject| of(subject))?;
        let places: Vec<_> = all
            .iter()
            .filter(|(_, other)| std::ptr::eq(*other, subject))
            .map(|(one, _)| (*one, one.waited.share_of(sum)))
            .collect();
        Some(Self {
            share,
            subject,
            part: of(subject).share_of(sum),
            count: places.iter().map(|(one, _)| one.count).sum(),
            threads: places.iter().map(|(one, _)| one.threads).max().unwrap_or(0),
            places,
            program: shell_words(&profile.command),
        })
    }

    /// Whether enough was seen of them to say that they limit the program.
    fn is_shown(&self) -> bool {
        self.count >= FEWEST_WAITS && self.threads >= FEWEST_THREADS
    }

    /// How long threads wait for them, and for which most, such that a sentence can begin or go on with it.
    fn how_long(&self) -> String {
        format!(
            "threads that have work wait {} of their time for the kernel's own locks, {} of that for \
             locks of {}",
            percent(self.share),
            percent(self.part),
            self.subject.what
        )
    }

    /// Where they are taken.
    fn where_taken(&self) -> Option<String> {
        let named = self.places.iter().filter(|(_, part)| *part >= WORTH_NAMING);
        let named: Vec<String> = named
            .take(NAMED_PLACES)
            .map(|(place, part)| format!("{} for {place}", percent(*part)))
            .collect();
        (!named.is_empty()).then(|| format!("Of these waits, {}.", named.join("; ")))
    }

    fn step(&self) -> String {
        let step = self.subject.step;
        format!("`{}` {}.", step.command(&self.program), step.does())
    }

    /// What to change, and what to type next.
    fn mend(&self) -> String {
        format!("About locks of {}: {}. {}", self.subject.what, self.subject.mend, self.step())
    }

    /// The answer that they limit the program. `measured` is what the program did on more cores, if that
    /// was timed.
    pub(super) fn limits(&self, measured: Option<&str>) -> Recommendation {
        let how_long = self.how_long();
        let why = match measured {
            Some(measured) => format!("{measured}, and {how_long}"),
            None => how_long,
        };
        let forecast = "`kilocore run --lock` does not replace the kernel's locks, and no forecast has \
                        them: how far the program scales is not known.";
        let mut text: Vec<String> = self.where_taken().into_iter().collect();
        text.extend([self.mend(), forecast.to_owned()]);
        let limited = answer(Verdict::LimitedByKernelLocks, &why, text);
        let command = Some(self.subject.step.command(&self.program));
        Recommendation { scaling_known: false, command, ..limited }
    }

    /// What is said of them beside another verdict.
    fn sentences(&self) -> [String; 2] {
        let place = self.places.first();
        let place = place.map_or_else(String::new, |(lock, _)| format!(", longest for {lock}"));
        let how_long = self.how_long();
        [format!("The {how_long}{place}, which no forecast has."), self.mend()]
    }
}

/// The waits for the kernel's own locks, if they are a large share of the threads' time, enough was seen of
/// them, and the host was not busy: a thread that loses its core while it has a lock makes all others wait.
pub(super) fn large(profile: &Profile) -> Option<InKernel<'_>> {
    known(profile).filter(|waits| waits.share >= LARGE)
}

/// The answer for a program of whose own locks nothing was seen, if the kernel's limit it.
pub(super) fn answer_alone(profile: &Profile) -> Option<Recommendation> {
    let waits = known(profile)?;
    let one = waits.share >= LARGE || waits.part >= MOST;
    one.then(|| waits.limits(None))
}

/// The answer with what is to be said first: that much time goes into locks of the kernel, too.
pub(crate) fn said_beside(mut given: Recommendation, profile: &Profile) -> Recommendation {
    // What was withheld for want of evidence is not made up for.
    let stands = matches!(given.verdict, Verdict::LimitedByLocks | Verdict::CoresUnused);
    if let Some(waits) = large(profile).filter(|_| stands) {
        given.text.splice(0..0, waits.sentences());
    }
    given
}

/// The same for an account without a verdict.
pub(super) fn seen(profile: &Profile) -> Option<[String; 2]> {
    large(profile).map(|waits| waits.sentences())
}

/// What the kernel's locks keep from being said of others, if they matter.
pub(super) fn gap(run: &Run) -> Option<String> {
    let times = run.times.as_ref()?;
    let share = share(times).filter(|share| *share >= MATTER)?;
    let longest = waits(times).first().map(|(lock, _)| format!(", longest for {lock}"));
    Some(format!(
        "threads that have work wait {} of their time for the kernel's own locks{}, which no forecast has",
        percent(share),
        longest.unwrap_or_default()
    ))
}

fn known(profile: &Profile) -> Option<InKernel<'_>> {
    let run = profile.runs.first()?;
    InKernel::of(profile).filter(|waits| waits.is_shown() && is_undisturbed(run))
}

/// The waits that are not for locks of the program, with what the locks protect.
fn waits(times: &ThreadTimes) -> Vec<(&KernelLockWaits, &'static Subject)> {
    let all = times.kernel_locks.iter().map(|one| (one, Subject::of(one)));
    all.filter(|(_, subject)| !subject.is_of_the_program()).collect()
}

/// The share of the time of threads that have work in which they wait for the kernel's locks. `None` if
/// the kernel did not show that, or not for long enough.
fn share(times: &ThreadTimes) -> Option<f64> {
    let total = times.total();
    // Where some of it is without work, the share is larger than what is said.
    let with_work = total.with_work();
    let seen = times.is_enough() && times.coverage.kernel_locks_seen;
    if !seen || with_work == Nanoseconds(0) {
        return None;
    }
    let placed = Nanoseconds::saturating_sum(times.kernel_locks.iter().map(|one| one.waited));
    let counted = Nanoseconds::saturating_sum(waits(times).iter().map(|(one, _)| one.waited));
    let of_the_kernel = if placed == Nanoseconds(0) { 1.0 } else { counted.share_of(placed) };
    Some(total.kernel_locks.share_of(with_work) * of_the_kernel)
}

#[cfg(test)]
pub(in crate::advice) mod tests {
    use kilocore_lock_profile::{
        Activities, Interference, KernelLockKind, RoleTimes, Run, TimesCoverage, Watching,
    };

    use super::*;

    /// An account in which the kernel's locks take so many thousandths of the time.
    pub(in crate::advice) fn times(kernel_locks: u64, seen: bool) -> ThreadTimes {
        let [kernel, kernel_locks] = [1_000 - kernel_locks, kernel_locks].map(Nanoseconds);
        // What the main thread waits for is no share of the work.
        let times =
            Activities { kernel, kernel_locks, ends: Nanoseconds(700), ..Activities::default() };
        let lock = |name: &str, functions: [&str; 2], ns| KernelLockWaits {
            kind: KernelLockKind::Writing,
            name: name.to_owned(),
            functions: functions.map(str::to_owned).to_vec(),
            waited: Nanoseconds(ns),
            count: 20,
            threads: 2,
        };
        let kernel_locks = vec![
            lock("mmap_lock", ["__vm_munmap", "__x64_sys_munmap"], 40),
            lock("", ["other", "__x64_sys_other"], 35),
            lock("mmap_lock", ["vm_mmap_pgoff", "__x64_sys_mmap"], 25),
        ];
        let coverage =
            TimesCoverage { kernel_locks_seen: seen, ticks_seen: true, ..TimesCoverage::default() };
        ThreadTimes {
            observed: Nanoseconds(100_000_000),
            roles: vec![RoleTimes { times, ..RoleTimes::default() }],
            kernel_locks,
            coverage,
            ..ThreadTimes::default()
        }
    }

    /// A profile of a program that was watched, with such an account.
    pub(in crate::advice) fn profile(kernel_locks: u64) -> Profile {
        let run = Run {
            cores: 2,
            wall_time: Nanoseconds(1e9),
            watching: Some(Watching::default()),
            times: Some(times(kernel_locks, true)),
            ..Run::default()
        };
        let command = ["./map all", "4"].map(str::to_owned).to_vec();
        Profile { command, runs: vec![run], ..crate::from_profile::synthetic::profile() }
    }

    fn times_of(profile: &mut Profile) -> &mut ThreadTimes {
        profile.runs[0].times.as_mut().expect("it was watched")
    }

    #[test]
    fn a_lock_of_the_kernel_that_most_waits_are_for_limits_and_has_a_next_step() {
        let answer = answer_alone(&profile(100)).expect("it says something");
        assert_eq!(answer.verdict, Verdict::LimitedByKernelLocks);
        assert_eq!(
            answer.headline,
            "Limited by locks of the kernel: threads that have work wait 10 % of their time for the \
             kernel's own locks, 65 % of that for locks of mapped memory."
        );
        let expected = "Of these waits, 40 % for mmap_lock (writing), acquired in __vm_munmap for \
                        sys_munmap; 25 % for";
        assert!(answer.text[0].starts_with(expected), "{answer:?}");
        assert!(answer.text[1].contains("map memory in larger pieces"), "{answer:?}");
        let command = "kilocore run --pages -- './map all' 4";
        assert!(answer.text[1].contains(&format!("`{command}` serves")), "{answer:?}");
        assert_eq!(answer.command.as_deref(), Some(command));
        assert!(!answer.scaling_known);
    }

    #[test]
    fn little_or_unseen_or_scattered_waits_do_not() {
        assert_eq!(answer_alone(&profile(40)), None);
        let mut unseen = profile(400);
        times_of(&mut unseen).coverage.kernel_locks_seen = false;
        assert_eq!((answer_alone(&unseen), gap(&unseen.runs[0])), (None, None));
        let mut scattered = profile(100);
        times_of(&mut scattered).kernel_locks[2].functions[1] = "__x64_sys_brk".to_owned();
        times_of(&mut scattered).kernel_locks[2].name.clear();
        assert_eq!(answer_alone(&scattered), None);
        let gap = gap(&scattered.runs[0]).expect("there is something else");
        assert!(
            gap.contains("10 % of their time for the kernel's own locks, longest for "),
            "{gap}"
        );
        assert_eq!(super::gap(&profile(40).runs[0]), None);
    }

    #[test]
    fn large_waits_limit_also_where_they_are_scattered() {
        assert!(large(&profile(199)).is_none());
        let mut scattered = profile(200);
        times_of(&mut scattered).kernel_locks[2].waited = Nanoseconds(5);
        let answer = answer_alone(&scattered).expect("a fifth of the time is much");
        assert!(answer.headline.contains("56 % of that for locks of mapped memory"), "{answer:?}");
    }

    #[test]
    fn a_few_waits_or_those_of_one_thread_say_nothing() {
        let mut few = profile(400);
        assert!(large(&few).is_some());
        for lock in &mut times_of(&mut few).kernel_locks {
            lock.count = 14;
        }
        assert!(large(&few).is_none());
        let mut alone = profile(400);
        for lock in &mut times_of(&mut alone).kernel_locks {
            lock.threads = 1;
        }
        assert!(large(&alone).is_none());
        let mut short = profile(400);
        times_of(&mut short).observed = Nanoseconds(2_000_000);
        assert_eq!((answer_alone(&short), gap(&short.runs[0])), (None, None));
    }

    #[test]
    fn nothing_is_concluded_on_a_busy_host() {
        let mut busy = profile(400);
        let others = Nanoseconds(5e8);
        busy.runs[0].interference = Some(Interference { others, ..Interference::default() });
        assert!(large(&busy).is_none() && answer_alone(&busy).is_none());
    }

    #[test]
    fn waits_in_futexes_are_for_locks_of_the_program() {
        let mut futex = profile(400);
        for lock in &mut times_of(&mut futex).kernel_locks {
            lock.name = "a futex's bucket".to_owned();
        }
        assert_eq!((answer_alone(&futex), gap(&futex.runs[0])), (None, None));
        // Half of the waits are for locks of the kernel.
        times_of(&mut futex).kernel_locks[1].name.clear();
        times_of(&mut futex).kernel_locks[1].waited = Nanoseconds(65);
        times_of(&mut futex).kernel_locks[1].count = 30;
        let answer = large(&futex).expect("a fifth is left").limits(None);
        assert!(answer.headline.contains("wait 20 % of their time"), "{answer:?}");
        assert_eq!(answer.command.as_deref(), Some("kilocore locate -- './map all' 4"));
    }

    #[test]
    fn another_verdict_stands_and_hears_of_them_first() {
        let given = answer(Verdict::LimitedByLocks, "it peaks", vec!["The lock.".to_owned()]);
        let told = said_beside(given.clone(), &profile(400));
        assert_eq!((told.verdict, &told.headline), (given.verdict, &given.headline));
        assert!(told.text[0].starts_with("The threads that have work wait 40 %"), "{told:?}");
        assert_eq!(told.text[2], "The lock.");
        assert_eq!(said_beside(given.clone(), &profile(100)), given);
    }
}
