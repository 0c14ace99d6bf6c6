//! What a forecast means, in plain words.

use kilocore_profile::Profile;

use crate::from_profile::{Conduct, Profiled};
use crate::{Curve, ForecastLock, Recommendation, Shape};

/// A lock must gain so much over today's at the largest number of cores to be worth taking.
const WORTH_TAKING: f64 = 1.05;
/// Waiting for locks below this share of the time does not matter.
const NO_MATTER: f64 = 0.01;
/// Nor does it below this share if no lock helps: much of it is the mere taking of free locks.
const LITTLE: f64 = 0.05;
/// Fewer acquisitions than this say little.
const FEW: u64 = 1_000;
/// The share of the usable cores that must have been idle, other than for locks, to be spoken of.
const IDLE: f64 = 0.3;
/// The share of the threads' time from which waiting on condition variables counts as the reason.
const MOSTLY_CONDITIONS: f64 = 0.25;
/// Curves that end within this share of the best one's end are as good as it.
const AS_GOOD: f64 = 0.97;

/// Says what to do. The first curve is that of the program as it is.
pub(crate) fn advise(
    curves: &[Curve],
    profiled: &Profiled,
    profile: &Profile,
    machine: &str,
) -> Recommendation {
    let today = &curves[0];
    let best = best_at_the_end(curves);
    let gain = end(best) / end(today);
    let waiting = today.end().point.wait_share;
    let mut text = vec![describe_today(today, machine)];
    let helps = gain >= WORTH_TAKING;
    let matters = waiting >= if helps { NO_MATTER } else { LITTLE };
    if matters {
        text.extend(culprit(today, &profiled.locks));
        text.extend(if helps { praise(today, best, gain) } else { nothing_helps(today, best) });
    } else {
        text.push(format!(
            "Taking locks and waiting for them is {} of the threads' time there: locks are not \
             what limits this program, look elsewhere.",
            percent(waiting)
        ));
    }
    text.extend(cautions(&profiled.conduct));
    let lock = (matters && helps).then_some(best.lock);
    let command =
        lock.map(|lock| format!("kilocore run --lock {lock} -- {}", shell_words(&profile.command)));
    Recommendation { lock, gain, text, command }
}

/// What the best lock promises, and what it does not.
fn praise(today: &Curve, best: &Curve, gain: f64) -> Vec<String> {
    let sure = best.end().low > today.end().high;
    let mut text = vec![if sure {
        let (least, most) = (best.end().low / today.end().high, best.end().high / today.end().low);
        format!(
            "Take {}: it is forecast to give {} times today's throughput on {} cores ({} to {} \
             within what the profile leaves open).",
            best.lock,
            rounded(gain),
            cores(best),
            rounded(least),
            rounded(most)
        )
    } else {
        format!(
            "Perhaps {}: it is forecast to give {} times today's throughput on {} cores, but the \
             bands overlap, so the profile leaves open whether it helps.",
            best.lock,
            rounded(gain),
            cores(best)
        )
    }];
    match best.shape {
        Shape::Scales => {}
        Shape::Flattens if best.peak_cores == cores(best) => text.push(
            "Even so throughput rises no further there: what is done under the lock sets the \
             limit."
                .to_owned(),
        ),
        Shape::Flattens | Shape::Collapses => text.push(format!(
            "Even so its peak is at {}, and {} cores give {} of that: what is done under the lock \
             sets the limit.",
            cores_in_words(best.peak_cores),
            cores(best),
            percent(best.end_share)
        )),
    }
    text
}

/// That no lock is the way on.
fn nothing_helps(today: &Curve, best: &Curve) -> Vec<String> {
    let waiting = |curve: &Curve| percent(curve.end().point.wait_share);
    let under_best = if best.lock == today.lock {
        ", which does as well as any".to_owned()
    } else {
        format!(", and {} under {}, which does best", waiting(best), best.lock)
    };
    vec![format!(
        "No lock among those simulated does better by more than {:.0} %: threads wait {} of their \
         time under today's{under_best}. The way on is to hold locks for less long, to take them \
         less often, or to use more of them.",
        (WORTH_TAKING - 1.0) * 100.0,
        waiting(today),
    )]
}

/// What the profiled run was like, as far as that takes something from the forecast.
fn cautions(conduct: &Conduct) -> Vec<String> {
    let mut text = Vec::new();
    if conduct.acquisitions < FEW {
        text.push(format!(
            "Mind that the program took locks only {} while profiled, too seldom to say much: \
             profile a longer run, under load.",
            match conduct.acquisitions {
                1 => "once".to_owned(),
                times => format!("{times} times"),
            }
        ));
    }
    if conduct.peak_threads == 1 {
        text.push(
            "Mind that it ran as a single thread: the forecast is for as many such threads as \
             cores, which share its locks. Unless it starts them, more cores change nothing."
                .to_owned(),
        );
    } else if conduct.unused_cores > IDLE * able(conduct) {
        let instead = match &conduct.condition_place {
            Some(place) if conduct.condition_share > MOSTLY_CONDITIONS => format!(
                "they waited on condition variables, longest on the one first used at {place}"
            ),
            _ => "they slept, waited for something else, or shared the cores with other programs"
                .to_owned(),
        };
        text.push(format!(
            "Mind that its threads kept only {:.1} of {} cores busy while profiled, and not because \
             of locks: {instead}. The forecast takes it that every further thread brings as much \
             work as these did; if they wait for one another (for a token, a queue, a serial \
             phase), the program scales less than drawn here.",
            conduct.busy_cores, conduct.cores
        ));
    }
    text
}

/// Cores that the profiled threads could have kept busy.
fn able(conduct: &Conduct) -> f64 {
    f64::from(conduct.cores).min(conduct.peak_threads as f64)
}

/// The curve that ends highest; among those as good, the one that takes the least energy.
fn best_at_the_end(curves: &[Curve]) -> &Curve {
    let highest = curves.iter().map(end).fold(0.0, f64::max);
    curves
        .iter()
        .filter(|curve| end(curve) >= AS_GOOD * highest)
        .min_by(|a, b| a.end().point.joules_per_op.total_cmp(&b.end().point.joules_per_op))
        .unwrap_or(&curves[0])
}

fn end(curve: &Curve) -> f64 {
    curve.end().point.throughput_per_s
}

fn cores(curve: &Curve) -> u32 {
    curve.end().point.cores
}

fn describe_today(today: &Curve, machine: &str) -> String {
    let most = cores(today);
    match today.shape {
        Shape::Scales => {
            format!("As it is, the program is forecast to scale to {most} cores of {machine}.")
        }
        Shape::Flattens => format!(
            "As it is, the program is forecast to reach its peak at {} of {machine} and to gain \
             {} beyond.",
            cores_in_words(today.peak_cores),
            if today.peak_cores == most { "little" } else { "nothing" }
        ),
        Shape::Collapses => format!(
            "As it is, the program is forecast to peak at {} of {machine} and to fall to {} \
             of that at {most}.",
            cores_in_words(today.peak_cores),
            percent(today.end_share)
        ),
    }
}

/// Names the lock whose operations are forecast to take most of the threads' time.
fn culprit(today: &Curve, locks: &[ForecastLock]) -> Option<String> {
    let shares = &today.end().point.lock_share_by_lock;
    let (lock, share) = locks
        .iter()
        .zip(shares)
        .max_by(|(_, a), (_, b)| a.total_cmp(b))
        .filter(|(_, w)| **w > 0.0)?;
    let which = match (lock.instances, lock.family) {
        (1, "read-write") => "the read-write lock".to_owned(),
        (1, "spin") => "the spin lock".to_owned(),
        (1, family) => format!("the {family}"),
        (many, "read-write") => format!("one of the {many} read-write locks"),
        (many, "mutex") => format!("one of the {many} mutexes"),
        (many, family) => format!("one of the {many} {family} locks"),
    };
    Some(format!(
        "The lock that costs most there, {} of the threads' time to wait for, take and let go, is \
         {which} made or first taken at {}, held for {} at a time.{}",
        percent(*share),
        lock.place,
        duration(lock.hold_ns),
        about_readers_and_writers(lock)
    ))
}

/// What else there is to say if the lock is a read-write lock.
fn about_readers_and_writers(lock: &ForecastLock) -> String {
    if lock.family != "read-write" {
        return String::new();
    }
    let spared = "`run` leaves read-write locks to glibc";
    let by_writers = lock.acquisitions as f64 * lock.exclusive_hold_ns;
    let by_readers = lock.shared_acquisitions as f64 * lock.hold_ns;
    if lock.shared_acquisitions <= lock.acquisitions || by_writers > by_readers {
        format!(
            " It is taken for writing in {} of the cases, for {} at a time, and then keeps out \
             everybody else; {spared}: the way on is to write under it less often or for less \
             long, or to split it.",
            percent(
                lock.acquisitions as f64
                    / (lock.acquisitions + lock.shared_acquisitions).max(1) as f64
            ),
            duration(lock.exclusive_hold_ns)
        )
    } else {
        format!(
            " Its readers do not exclude each other, but each writes the lock's one word twice, \
             and {spared}: the way on is to read without taking it, or to split it."
        )
    }
}

/// A share in words: with a digit after the point where it is small.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        p if p < 0.1 => "less than 0.1 %".to_owned(),
        p if p < 9.95 => format!("{p:.1} %"),
        p => format!("{p:.0} %"),
    }
}

/// A duration in the unit that suits it, to two or three digits.
fn duration(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => return format!("{ns:.0} ns"),
        ns if ns < 1e6 => (ns / 1e3, "µs"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    if value < 100.0 { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
}

fn cores_in_words(cores: u32) -> String {
    if cores == 1 { "1 core".to_owned() } else { format!("{cores} cores") }
}

fn rounded(ratio: f64) -> String {
    if ratio < 10.0 { format!("{ratio:.1}") } else { format!("{ratio:.0}") }
}

/// The command as a shell would read it back.
fn shell_words(words: &[String]) -> String {
    words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
}

/// A word of a command, quoted where a shell would read it as something else.
#[must_use]
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else if word.chars().any(char::is_control) {
        format!("$'{}'", word.chars().map(ansi_c).collect::<String>())
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// A character as it is written between `$'` and `'`.
fn ansi_c(c: char) -> String {
    match c {
        '\n' => r"\n".to_owned(),
        '\t' => r"\t".to_owned(),
        '\\' | '\'' => format!("\\{c}"),
        // Three octal digits, so that a digit that follows is not taken for part of it.
        c if c.is_ascii_control() => format!("\\{:03o}", c as u32),
        c if c.is_control() => format!("\\u{:04x}", c as u32),
        c => c.to_string(),
    }
}

#[cfg(test)]
mod tests;
