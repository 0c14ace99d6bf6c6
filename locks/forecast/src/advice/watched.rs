//! Programs that were watched, and whose own locks nobody waits for.
//!
//! Watching sees every wait, whatever for: a thread that sleeps for a lock, one that spins and, where
//! the kernel shows it, one that waits for a lock of the kernel. So it can be said that nothing is
//! contended here, and that a lock of the kernel is. What locks without waits would cost on more cores is
//! not known, because only locks that are waited for are counted.

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{Activities, Finding, KernelLockWaits, Run, ThreadTimes};

use super::answer::answer;
use crate::words::{counted, duration, percent};
use crate::{Recommendation, Verdict};

/// The share of the time of threads that have work from which on the kernel's locks limit a program.
/// If two threads wait for one lock for a twentieth of their time, five threads keep it always taken.
const MATTER: f64 = 0.05;
/// Of all waits for the kernel's locks, the share of one lock from which on it is the one that limits.
const MOST: f64 = 0.5;

/// The answer for a program whose own locks show nothing, if its times say something.
pub(super) fn answer_by_times(run: &Run) -> Option<Recommendation> {
    let times = run.times.as_ref().filter(|_| run.watching.is_some())?;
    in_kernel(times).or_else(|| no_contention(times, run))
}

/// What the kernel's locks keep from being said of others, if they matter.
pub(super) fn gap(run: &Run) -> Option<String> {
    let times = run.times.as_ref()?;
    let share = share(times).filter(|share| *share >= MATTER)?;
    let longest =
        worst(times).map_or_else(String::new, |(lock, _)| format!(", longest for {lock}"));
    Some(format!(
        "threads that have work wait {} of their time for the kernel's own locks{longest}, which no \
         forecast has",
        percent(share)
    ))
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
        Finding::KernelLocks { wait, .. } if gap(run).is_none() => Some(format!(
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

fn in_kernel(times: &ThreadTimes) -> Option<Recommendation> {
    let share = share(times).filter(|share| *share >= MATTER)?;
    let (lock, part) = worst(times)?;
    if part < MOST {
        return None;
    }
    let why = format!(
        "threads that have work wait {} of their time for the kernel's own locks, {} of that for \
         {lock}",
        percent(share),
        percent(part)
    );
    let mut text = vec![
        "`kilocore run` does not replace the kernel's locks, and no forecast has them: how far the \
         program scales is not known."
            .to_owned(),
    ];
    text.extend(remedy(lock));
    let mut answer = answer(Verdict::LimitedByLocks, &why, text);
    answer.scaling_known = false;
    Some(answer)
}

/// The share of the time of threads that have work in which they wait for the kernel's locks.
fn share(times: &ThreadTimes) -> Option<f64> {
    let Activities { ready, locks, kernel_locks, .. } = times.total();
    let working = times.total().computing();
    let all = Nanoseconds::saturating_sum([working, ready, locks, kernel_locks]);
    let seen = times.is_enough() && times.coverage.kernel_locks_seen && all > Nanoseconds(0);
    seen.then(|| kernel_locks.share_of(all))
}

/// The lock that is waited for longest, at the worst of its places, and its share of all waits.
fn worst(times: &ThreadTimes) -> Option<(&KernelLockWaits, f64)> {
    let all: Nanoseconds<f64> = times.kernel_locks.iter().map(|one| one.waited.calculated()).sum();
    let first = times.kernel_locks.first()?;
    let same = |one: &&KernelLockWaits| match first.name.is_empty() {
        true => one.functions.first() == first.functions.first(),
        false => one.name == first.name,
    };
    let alike = times.kernel_locks.iter().filter(same);
    let waited: Nanoseconds<f64> = alike.map(|one| one.waited.calculated()).sum();
    Some((first, waited / all.max(Nanoseconds(1.0))))
}

/// What to do about a lock of the kernel.
fn remedy(lock: &KernelLockWaits) -> Option<String> {
    let what = match lock.name.as_str() {
        "mmap_lock" => {
            "map memory in larger pieces and keep it (glibc: M_TRIM_THRESHOLD, M_MMAP_THRESHOLD and \
             M_TOP_PAD of mallopt, or another allocator), touch it in advance (MAP_POPULATE), or run \
             processes instead of threads"
        }
        "lru_lock" | "zone->lock" => {
            "use fewer and larger pages (transparent huge pages), and keep memory instead of giving it \
             back"
        }
        "a page table's lock" => "use larger pages, or let each thread touch memory of its own",
        "anon_vma's lock" | "i_mmap_rwsem" | "tasklist_lock" => {
            "start fewer processes: use threads, a pool of processes, or posix_spawn"
        }
        "a futex's bucket" => "let fewer threads wait at one word, or at words of their own",
        "a pipe's mutex" | "a socket's lock" | "a file's position" | "an epoll's lock" => {
            "give each thread a descriptor of its own"
        }
        "the table of open files" => "keep files open, or run processes instead of threads",
        _ => return None,
    };
    Some(format!("About {}: {what}.", lock.name))
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
pub(super) fn more_threads(cores: u32) -> String {
    format!(
        "That is so on {}. What its locks would cost on more cores is not known: measure with more \
         threads, or have pthread locks counted with `--recorder both` or `--recorder preload`.",
        counted(cores.into(), "core")
    )
}

fn no_contention(times: &ThreadTimes, run: &Run) -> Option<Recommendation> {
    let checked = run.checked_times()?;
    let (wait, known) = checked.findings.iter().find_map(|finding| match finding {
        Finding::NoContention { wait, known } => Some((*wait, *known)),
        _ => None,
    })?;
    // Without samples of a timer, spinning is not told from computing.
    if !times.coverage.ticks_seen {
        return None;
    }
    let why = format!(
        "there is no contention here, where in {} of {} together its threads waited for locks {} of \
         their time, and it is known where {} of that time went; but locks that nobody waits for are \
         not counted",
        counted(times.windows, "window"),
        duration(times.observed.calculated()),
        percent(wait),
        percent(known)
    );
    let text = vec![
        more_threads(run.cores),
        "If it stops scaling, look for memory bandwidth, shared cache lines or serial parts: `kilocore \
         locate` compares two profiles."
            .to_owned(),
    ];
    Some(answer(Verdict::Unknown, &why, text))
}

#[cfg(test)]
mod tests {
    use kilocore_lock_profile::{KernelLockKind, RoleTimes, TimesCoverage, Watching};

    use super::*;

    fn run(kernel_locks: u64, seen: bool, findings: Vec<Finding>) -> Run {
        let [kernel, kernel_locks] = [1_000 - kernel_locks, kernel_locks].map(Nanoseconds);
        let times = Activities { kernel, kernel_locks, ..Activities::default() };
        let lock = |name: &str, function: &str, ns| KernelLockWaits {
            kind: KernelLockKind::Writing,
            name: name.to_owned(),
            functions: vec![function.to_owned(), "__x64_sys_munmap".to_owned()],
            waited: Nanoseconds(ns),
            ..KernelLockWaits::default()
        };
        let kernel_locks = vec![
            lock("mmap_lock", "__vm_munmap", 40),
            lock("", "other", 35),
            lock("mmap_lock", "vm_mmap_pgoff", 25),
        ];
        let coverage =
            TimesCoverage { kernel_locks_seen: seen, ticks_seen: true, ..TimesCoverage::default() };
        let roles = vec![RoleTimes { times, ..RoleTimes::default() }];
        let times = ThreadTimes {
            observed: Nanoseconds(100_000_000),
            roles,
            kernel_locks,
            coverage,
            findings,
            ..ThreadTimes::default()
        };
        Run { cores: 2, watching: Some(Watching::default()), times: Some(times), ..Run::default() }
    }

    #[test]
    fn a_lock_of_the_kernel_that_most_waits_are_for_limits_and_has_a_remedy() {
        let answer = answer_by_times(&run(100, true, Vec::new())).expect("it says something");
        assert_eq!(answer.verdict, Verdict::LimitedByLocks);
        let expected = "wait 10 % of their time for the kernel's own locks, 65 % of that for mmap_lock \
                        (writing), acquired in __vm_munmap for sys_munmap";
        assert!(answer.headline.contains(expected), "{answer:?}");
        assert!(answer.text.iter().any(|text| text.starts_with("About mmap_lock: map memory")));
        assert!(!answer.scaling_known);
    }

    #[test]
    fn little_or_unseen_waits_for_it_do_not() {
        assert_eq!(answer_by_times(&run(40, true, Vec::new())), None);
        assert_eq!(answer_by_times(&run(100, false, Vec::new())), None);
        let mut several = run(100, true, Vec::new());
        several.times.as_mut().expect("times").kernel_locks.remove(2);
        several.times.as_mut().expect("times").kernel_locks[1].waited = Nanoseconds(60);
        assert_eq!(answer_by_times(&several), None);
        let gap = gap(&several).expect("there is something else");
        assert!(
            gap.contains("10 % of their time for the kernel's own locks, longest for "),
            "{gap}"
        );
        assert_eq!(super::gap(&run(40, true, Vec::new())), None);
    }

    #[test]
    fn nothing_is_said_of_two_milliseconds() {
        let mut short = run(100, true, Vec::new());
        assert!(gap(&short).is_some());
        short.times.as_mut().expect("times").observed = Nanoseconds(2_000_000);
        assert_eq!((answer_by_times(&short), gap(&short)), (None, None));
    }

    #[test]
    fn no_contention_is_said_with_what_is_known_of_it() {
        let finding = || vec![Finding::NoContention { wait: 0.002, known: 0.97 }];
        let answer = answer_by_times(&run(10, true, finding())).expect("it says something");
        // On more cores, locks that nobody waits for here may well limit it.
        assert_eq!(answer.verdict, Verdict::Unknown);
        assert!(answer.headline.contains("there is no contention here"), "{answer:?}");
        assert!(
            answer.headline.contains("for locks 0.2 % of their time, and it is known where 97 %")
        );
        assert!(answer.text[0].contains("on 2 cores") && !answer.scaling_known, "{answer:?}");
        let mut blind = run(10, true, finding());
        blind.times.as_mut().expect("times").coverage.ticks_seen = false;
        assert_eq!(answer_by_times(&blind), None);
        blind = run(10, true, finding());
        blind.watching = None;
        assert_eq!(answer_by_times(&blind), None);
    }
}
