//! What may not stand in one answer together.

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{Activities, Lock, Run};
use regex::Regex;

use super::Answer;

/// What a text says, and in which figures.
struct Text<'a>(&'a str);

impl Text<'_> {
    fn says(&self, words: &str) -> bool {
        self.0.contains(words)
    }

    /// The figure in a group of each place that fits.
    fn figures(&self, pattern: &str) -> Vec<f64> {
        let pattern = Regex::new(pattern).expect("a pattern");
        let found = pattern.captures_iter(self.0);
        found.filter_map(|one| one[1].replace(',', "").parse().ok()).collect()
    }

    fn share(&self, pattern: &str) -> Option<f64> {
        Some(self.figures(pattern).first()? / 100.0)
    }
}

/// What the answer says of how long its threads were watched, in seconds.
fn watched_s(text: &Text<'_>) -> Option<f64> {
    let pattern = r"were watched for ([0-9.]+) (?:ns|µs|ms|s) in";
    let value = *text.figures(pattern).first()?;
    let unit = Regex::new(r"were watched for [0-9.]+ (ns|µs|ms|s) in").expect("a pattern");
    let unit = unit.captures(text.0)?;
    Some(
        value
            * [("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3)]
                .iter()
                .find(|one| one.0 == &unit[1])
                .map_or(1.0, |one| one.1),
    )
}

/// The share of all threads' time that recorded locks were waited for.
fn recorded_waits(run: &Run) -> f64 {
    let locks = run.processes.iter().flat_map(|process| &process.locks);
    let threads = run.processes.iter().map(|process| process.threads.peak).max().unwrap_or(0);
    locks.map(Lock::waited).sum::<Nanoseconds<f64>>() / (run.wall_time * threads.max(1) as f64)
}

/// What contradicts what in a text of the answer.
pub(crate) fn contradictions(answer: &Answer, text: &str) -> Vec<&'static str> {
    let text = Text(text);
    let run = &answer.profile.runs[0];
    let cores = f64::from(run.cores);
    let total = run.times.as_ref().map(|times| times.total()).unwrap_or_default();
    let part = |of: fn(&Activities) -> Nanoseconds| of(&total).share_of(total.present());
    let enough = run.times.as_ref().is_some_and(|times| times.is_enough());
    let in_windows =
        run.times.as_ref().map_or(0.0, |times| total.computing().share_of(times.observed));

    let quiet = text.says("No contention:") || text.says("there is no contention here");
    let contended = [
        "A contended lock:",
        "Locks in the kernel:",
        "like a global interpreter lock:",
        "A global interpreter lock:",
    ];
    let contended = contended.iter().any(|words| text.says(words));
    let limited = text.says("Limited by locks:");
    let acquitted = text.says("Not limited by locks:");
    let scales = text.says("forecast to scale to");
    let spun = text.share(r"Spinning: for ([0-9.]+) % of their time").unwrap_or(0.0);
    let seen = text.figures(r"Seen: [^.]*?, ([0-9.]+) of [0-9]+ cores? busy");
    let most_busy = text.figures(r"([0-9.]+) (?:of [0-9]+ )?cores? busy");
    let waits_found = text.figures(r"which takes ([0-9.]+) % of all threads' time");
    let taken = text.figures(r"acquired locks ([0-9,]+) times");
    let replaced = Regex::new(r"kilocore run --(?:rw)?lock [a-z]").expect("a pattern");
    let command = replaced.is_match(text.0);
    let forecast = &answer.forecast;
    let today = forecast.curves.iter().find(|curve| curve.lock == forecast.today);
    let of_today = |word: &str| today.is_some_and(|curve| curve.shape.name() == word);
    let advice = &forecast.recommendation;
    let gain_in_words = text.figures(r"(?:Take|Perhaps) [a-z-]+: ([0-9.]+) times today's");
    let gain_of_curves = advice.lock.and_then(|lock| {
        let end = |name: &str| {
            let curve = forecast.curves.iter().find(|curve| curve.lock == name)?;
            Some(curve.end().point.throughput_per_s)
        };
        Some(end(lock)? / end(forecast.today)?)
    });
    let no_lock = text.says("acquired no lock") || text.says("No lock of the program was seen");
    let by_windows_only = run.watching.as_ref().is_some_and(|watching| !watching.beside_library);

    let pairs = [
        (text.says("NaN") || text.says("inf ") || text.says("-0 "), "a figure that is none"),
        (
            text.figures(r"([0-9]+(?:\.[0-9]+)?) %").iter().any(|&percent| percent > 100.5),
            "more than all",
        ),
        (quiet && contended, "no contention, and a contended lock"),
        (quiet && waits_found.iter().any(|&wait| wait > 5.0), "no contention, and waits"),
        (
            quiet && limited && !text.says("On more cores they would"),
            "no contention, and limited by locks",
        ),
        (
            quiet && text.says("Limited by locks of the kernel:"),
            "no contention, and limited by locks of the kernel",
        ),
        (quiet && spun > 0.05, "no contention, and spinning"),
        (quiet && recorded_waits(run) > 0.05, "no contention, and the recorder counted waits"),
        (
            quiet
                && forecast.locks.iter().any(|lock| {
                    let used = lock.wait * (lock.acquisitions as f64 * lock.contended_share);
                    used > run.wall_time * (0.1 * forecast.profiled_threads as f64)
                }),
            "no contention, and a table of locks that were waited for",
        ),
        (acquitted && contended, "not limited by locks, and they are contended"),
        (acquitted && spun > 0.3, "not limited by locks, and threads spin"),
        (acquitted && command, "not limited by locks, and another lock is put there"),
        (scales && command, "it scales, and another lock is put there"),
        (scales && limited, "it scales, and is limited"),
        (scales && !of_today("scales"), "it scales, and its curve does not"),
        (
            text.says("forecast to reach its peak") && !of_today("flattens")
                || text.says("forecast to peak at") && !of_today("collapses"),
            "a shape in words that the curve has not",
        ),
        (
            gain_in_words
                .iter()
                .any(|&words| gain_of_curves.is_none_or(|gain| (words / gain - 1.0).abs() > 0.1)),
            "a gain in words that is not the curves'",
        ),
        (advice.lock.is_some() && !limited, "another lock, though locks do not limit it"),
        (advice.gain < 1.0, "a lock that gains nothing"),
        (most_busy.iter().any(|&busy| busy > cores + 0.05), "more cores are busy than there are"),
        (
            enough
                && !text.says("windows do not show")
                && seen.first().is_some_and(|&seen| {
                    in_windows.min(cores) > 1.5 * seen + 0.6 && in_windows.min(cores) > 1.0
                }),
            "cores that are not busy, and threads that compute in windows",
        ),
        (
            text.says("Not enough cores:")
                && (text.says("Cores are unused") || text.says("cores were unused"))
                && !text.says("other programs had the cores"),
            "cores are unused, and there are not enough",
        ),
        (
            text.says("waits for locks do not explain") && contended,
            "waits for locks explain nothing, and they are contended",
        ),
        (
            no_lock && (taken.iter().any(|&times| times > 0.0) || !forecast.locks.is_empty()),
            "no lock was seen, and locks are listed",
        ),
        (
            no_lock
                && enough
                && part(|all| all.locks) > 0.05
                && !contended
                && !text.says("windows do not show"),
            "no lock was seen, and threads waited for one",
        ),
        (
            text.says("No lock of the program took enough time to matter")
                && (limited || contended),
            "no lock took time, and locks limit it",
        ),
        (
            watched_s(&text).is_some_and(|s| s < 0.05)
                && (text.says("It is known where")
                    || text.says("known for")
                    || quiet
                    || contended
                    || text.says("One busy thread")
                    || text.says("Not enough cores:")
                    || text.says("Spinning:")),
            "what threads do, from too short a time",
        ),
        (
            by_windows_only && limited && !enough && recorded_waits(run) < 0.01,
            "limited by locks, from windows that are too short",
        ),
        (
            text.says("What threads wait for longest is")
                && recorded_waits(run) == 0.0
                && part(|all| all.locks) == 0.0,
            "what threads wait for, and nobody waits",
        ),
        (
            text.says("Threads hardly slept.")
                && enough
                && part(|all| all.waiting().saturating_add(all.sleep)) > 0.3,
            "threads hardly slept, and slept",
        ),
        (
            (text.says("ran one at a time") || text.says("compute one at a time"))
                && most_busy.iter().any(|&busy| busy > 1.35),
            "one thread at a time, and more cores are busy",
        ),
        (text.says("One busy thread:") && spun > 0.9, "a busy thread, and it spins"),
    ];
    pairs.into_iter().filter(|(is_so, _)| *is_so).map(|(_, what)| what).collect()
}
