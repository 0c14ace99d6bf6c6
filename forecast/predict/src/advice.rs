//! What a forecast means, in plain words: the verdict, how sure it is, and what to do.

use kilocore_curve::Shape;
use kilocore_lock_profile::Profile;

use crate::choice::{Choice, WORTH_TAKING, gain_error};
use crate::from_profile::{Conduct, Profiled};
use crate::waiting::{hands_over, parks};
use crate::words::{counted, duration, either, percent, rounded};
use crate::{
    Coverage, Curve, Evidence, ForecastLock, GainError, Recommendation, Verdict, shell_words,
};

/// Waiting for locks below this share of the time does not matter.
const NO_MATTER: f64 = 0.01;
/// Nor does it below this share if no lock helps: much of it is the mere taking of free locks ...
const LITTLE: f64 = 0.05;
/// ... nor below this share of what is lost against a program that scales: something else limits it.
const LESSER_PART: f64 = 0.25;
/// The share of the usable cores that must have been idle, other than for locks, to be spoken of.
const IDLE: f64 = 0.3;
/// The share of the threads' time on conditions from which it is open what more threads would do.
const HALF: f64 = 0.5;
/// The share of the threads' time from which waiting on condition variables counts as the reason.
const MOSTLY_CONDITIONS: f64 = 0.25;
/// Places of acquisition that are named.
const NAMED_PLACES: usize = 2;
/// Equals that are named.
const NAMED_EQUALS: usize = 4;

/// How much is known of a program, whatever is forecast.
#[derive(Debug, Clone)]
pub(crate) struct View {
    pub(crate) evidence: Option<Evidence>,
    pub(crate) coverage: Coverage,
}

impl View {
    /// Of the first run of a profile.
    pub(crate) fn of(profile: &Profile) -> Self {
        let Some(run) = profile.runs.first() else {
            return Self { evidence: None, coverage: Coverage::default() };
        };
        let evidence = Evidence::of(run);
        let coverage = Coverage::of(profile, run, &evidence);
        Self { evidence: Some(evidence), coverage }
    }

    /// The share of the threads' time that they waited on conditions, that at barriers left out.
    fn on_conditions(&self, conduct: &Conduct) -> f64 {
        match &self.coverage.sleep {
            Some(sleep) if sleep.threads > 0.0 => {
                let all = sleep.threads / sleep.share;
                (conduct.threads_on_conditions / all).min(sleep.share)
            }
            _ => conduct.condition_share,
        }
    }

    /// What was not seen, a sentence each.
    fn gaps(&self) -> Vec<String> {
        self.evidence.as_ref().map_or_else(Vec::new, |evidence| self.coverage.gaps(evidence))
    }

    /// What keeps it from any verdict on the locks that were seen.
    fn withheld(&self) -> Option<Recommendation> {
        let Some(evidence) = &self.evidence else {
            return Some(answer(
                Verdict::TooLittleEvidence,
                "the profile holds no run",
                Vec::new(),
            ));
        };
        let lack = evidence.lack()?;
        let gaps = self.gaps();
        let mut answer = if lack == crate::evidence::Lack::Acquisitions && !gaps.is_empty() {
            unknown(gaps)
        } else {
            let text = [lack.mend().to_owned()].into_iter();
            let text = text.chain(gaps.into_iter().map(|gap| not_seen(&gap))).collect();
            answer(Verdict::TooLittleEvidence, &lack.words(evidence), text)
        };
        answer.confidence = self.seen();
        Some(answer)
    }

    /// What was seen, in two sentences.
    fn seen(&self) -> String {
        let evidence = self.evidence.as_ref().map(Evidence::sentence);
        let sentences: Vec<String> =
            evidence.into_iter().chain([self.coverage.sentence()]).collect();
        sentences.join(" ")
    }
}

/// What was seen of a profiled program and what was not, a sentence or two each.
#[must_use]
pub fn what_was_seen(profile: &Profile) -> Vec<String> {
    let view = View::of(profile);
    let gaps = view.gaps();
    [view.seen()].into_iter().chain(gaps.iter().map(|gap| not_seen(gap))).collect()
}

/// The answer where there is no forecast: too little was seen for one, or no lock at all. `None` if
/// one can be made.
pub(crate) fn advise_without_forecast(profile: &Profile) -> Option<Recommendation> {
    let view = View::of(profile);
    view.withheld().or_else(|| {
        let run = profile.runs.first()?;
        crate::own_locks::subject(run).is_none().then(|| {
            let mut answer = unknown(view.gaps());
            answer.confidence = view.seen();
            answer
        })
    })
}

/// Says what to do. The first curve is that of the program as it is.
pub(crate) fn advise(
    curves: &[Curve],
    profiled: &Profiled,
    profile: &Profile,
    machine: &str,
) -> Recommendation {
    let view = View::of(profile);
    if let Some(withheld) = view.withheld() {
        return withheld;
    }
    let choice = Choice::among(curves, &profiled.conduct);
    let helps = choice.helps && reaches(choice.today, &profiled.locks);
    let waiting = choice.today.end().point.wait_share;
    let matters = if helps {
        waiting >= NO_MATTER
    } else {
        choice.today.shape != Shape::Scales
            && waiting >= LITTLE
            && waiting >= LESSER_PART * lost(choice.today)
    };
    let gaps = view.gaps();
    let mut answer = if profiled.conduct.takes_turns {
        cores_unused(&choice, waiting, &profiled.conduct, machine)
    } else if matters && !view.coverage.is_of_a_lesser_part() {
        limited(&choice, helps, profiled, profile, machine)
    } else if gaps.is_empty() {
        let on_conditions = view.on_conditions(&profiled.conduct);
        not_limited(&choice, waiting, on_conditions, &profiled.conduct, machine)
    } else {
        let mut answer = unknown(gaps.clone());
        answer.text.push(of_seen_locks(&choice, waiting, machine));
        answer
    };
    if matches!(answer.verdict, Verdict::LimitedByLocks | Verdict::CoresUnused) {
        answer.text.extend(gaps.iter().map(|gap| not_seen(gap)));
    }
    if answer.verdict != Verdict::CoresUnused {
        answer.text.extend(cautions(&profiled.conduct));
    }
    let sure = answer.gain_error.map(|error| about_gains(choice.best.lock, &error));
    answer.confidence = sure.into_iter().chain([view.seen()]).collect::<Vec<_>>().join(" ");
    answer
}

/// An answer without a recommendation.
fn answer(verdict: Verdict, why: &str, text: Vec<String>) -> Recommendation {
    let known = [Verdict::LimitedByLocks, Verdict::NotByLocks, Verdict::CoresUnused];
    Recommendation {
        verdict,
        scaling_known: known.contains(&verdict),
        headline: format!("{}: {why}.", verdict.words()),
        confidence: String::new(),
        lock: None,
        equals: Vec::new(),
        gain: 1.0,
        gain_error: None,
        text,
        command: None,
    }
}

/// That it is not known, the weightiest of the gaps first.
fn unknown(gaps: Vec<String>) -> Recommendation {
    let mut gaps = gaps.into_iter();
    let first = gaps.next().unwrap_or_else(|| "it acquired no lock that can be seen".to_owned());
    let text = gaps.map(|gap| not_seen(&gap)).collect();
    answer(Verdict::Unknown, &first, text)
}

fn not_seen(gap: &str) -> String {
    format!("Mind that {gap}.")
}

/// What the locks alone would do.
fn of_seen_locks(choice: &Choice<'_>, waiting: f64, machine: &str) -> String {
    format!(
        "Of the locks that were seen alone: {}; taking them and waiting for them is {} of the \
         threads' time there.",
        shape(choice.today, machine),
        percent(waiting)
    )
}

/// That threads take turns.
fn cores_unused(
    choice: &Choice<'_>,
    waiting: f64,
    conduct: &Conduct,
    machine: &str,
) -> Recommendation {
    let why = format!(
        "its {} kept {:.1} of {} cores busy and waited on conditions meanwhile, for one another or \
         for work",
        counted(conduct.peak_threads, "thread"),
        conduct.busy_cores,
        conduct.cores
    );
    let mut text: Vec<String> = conduct
        .condition_place
        .iter()
        .map(|place| {
            format!(
                "They waited longest on the condition first used at {place}. Where it passes a turn \
                 on (an interpreter's lock, a queue, a phase of one thread), that is what to change; \
                 where it waits for work, profile the program with more of it."
            )
        })
        .collect();
    text.push(of_seen_locks(choice, waiting, machine));
    answer(Verdict::CoresUnused, &why, text)
}

/// That locks are not the reason.
fn not_limited(
    choice: &Choice<'_>,
    waiting: f64,
    on_conditions: f64,
    conduct: &Conduct,
    machine: &str,
) -> Recommendation {
    let forecast = shape(choice.today, machine);
    let open = on_conditions > HALF && choice.today.shape == Shape::Scales;
    let why = if open {
        format!(
            "{forecast} as far as locks go; whether it does is unknown, as threads waited on \
             conditions for {} of their time, for one another or for work",
            percent(on_conditions)
        )
    } else {
        format!("{forecast}; look elsewhere")
    };
    let serial = conduct.time.serial_share();
    let text = (serial > 0.0 && choice.today.shape != Shape::Scales).then(|| {
        format!(
            "What limits it in the forecast is the {} of its computing during which one thread ran \
             alone: no further core divides that.",
            percent(serial)
        )
    });
    let text = text.into_iter().chain([format!(
        "Taking locks and waiting for them is {} of the threads' time there. A lock of the \
         program's own that spins would look like computing.",
        percent(waiting)
    )]);
    let answer = answer(Verdict::NotByLocks, &why, text.collect());
    Recommendation { scaling_known: !open, ..answer }
}

/// That they are, and what to do.
fn limited(
    choice: &Choice<'_>,
    helps: bool,
    profiled: &Profiled,
    profile: &Profile,
    machine: &str,
) -> Recommendation {
    let Choice { today, best, .. } = *choice;
    let gain = if helps { choice.gain() } else { 1.0 };
    let error = gain_error(best.lock);
    let why = if !helps {
        format!("{}; no lock that `run` can put there mends that", shape(today, machine))
    } else {
        let perhaps = if sure(choice, &error) { "" } else { "perhaps " };
        format!(
            "{}; under {}, {perhaps}{} times as much there",
            shape(today, machine),
            best.lock,
            rounded(gain)
        )
    };
    let mut answer = answer(Verdict::LimitedByLocks, &why, Vec::new());
    answer.text.extend(culprit(today, &profiled.locks));
    if helps {
        answer.text.extend(praise(choice, &error));
        answer.lock = Some(best.lock);
        answer.equals.clone_from(&choice.equals);
        answer.gain = gain;
        answer.gain_error = Some(error);
        let command = shell_words(&profile.command);
        answer.command = Some(format!("kilocore run --lock {} -- {command}", best.lock));
    } else {
        answer.text.extend(nothing_helps(choice));
    }
    answer.text.extend(choice.spinning.map(|spinning| {
        format!(
            "Under {} it would be {} times as much, were there a core for each thread; but its \
             waiters keep their cores, and the program had more threads than cores when it was \
             profiled, where that can make it a few times slower.",
            spinning.lock,
            rounded(crate::choice::end(spinning) / crate::choice::end(today))
        )
    }));
    answer
}

/// The share of the throughput that a program which scales would have, and this one lacks in the end.
fn lost(today: &Curve) -> f64 {
    let Some(first) = today.points.first() else { return 0.0 };
    let (from, to) = (&first.point, &today.end().point);
    let each = |point: &crate::Point| point.throughput_per_s / f64::from(point.cores);
    (1.0 - each(to) / each(from).max(f64::MIN_POSITIVE)).max(0.0)
}

/// Whether the choice of a lock reaches any that matters.
fn reaches(today: &Curve, locks: &[ForecastLock]) -> bool {
    let shares = &today.end().point.lock_share_by_lock;
    let replaced = locks.iter().zip(shares).filter(|(lock, _)| lock.left_alone.is_none());
    replaced.map(|(_, share)| share).sum::<f64>() >= NO_MATTER
}

/// Whether a gain is beyond what the profile leaves open and what such forecasts usually err.
fn sure(choice: &Choice<'_>, error: &GainError) -> bool {
    let apart = choice.best.end().low > choice.today.end().high;
    apart && choice.gain() > error.median
}

/// How far such gains were from measured ones.
fn about_gains(lock: &str, error: &GainError) -> String {
    let whose = if GainError::published(lock).is_some() {
        format!("under {lock}")
    } else {
        format!("under other locks (nobody published any under {lock})")
    };
    format!(
        "Forecast gains {whose} were off by a factor of {:.2} in the median of {} published cases, \
         and on the right side in {} of {}.",
        error.median, error.cases, error.right, error.decided
    )
}

/// What the best lock promises, and what it does not.
fn praise(choice: &Choice<'_>, error: &GainError) -> Vec<String> {
    let best = choice.best;
    let gain = choice.gain();
    let mut text = vec![format!(
        "{} {}: {} times today's throughput on {}; going by how far such forecasts were off, as \
         likely as not between {} and {}.",
        if sure(choice, error) { "Take" } else { "Perhaps" },
        best.lock,
        rounded(gain),
        counted(cores(best).into(), "core"),
        rounded(gain / error.median),
        rounded(gain * error.median)
    )];
    if best.end().low <= choice.today.end().high {
        text.push("The bands overlap: the profile leaves open whether it helps.".to_owned());
    }
    if let Some(equals) = named_equals(&choice.equals) {
        text.push(format!("As good, within what differs from one profile to the next: {equals}."));
    }
    if !parks(best.lock) {
        let how = if hands_over(best.lock) {
            "waiters keep their cores and have their turns in order"
        } else {
            "waiters keep their cores"
        };
        text.push(format!(
            "Its {how}: with more threads than cores it loses. Under `run` the surplus sleeps, and it \
             can be a few times slower than glibc's."
        ));
    }
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
            counted(best.peak_cores.into(), "core"),
            cores(best),
            percent(best.end_share)
        )),
    }
    text
}

/// The first of the equals, and how many more there are.
fn named_equals(equals: &[&str]) -> Option<String> {
    let (named, more) = equals.split_at(equals.len().min(NAMED_EQUALS));
    match (named, more.len()) {
        ([], _) => None,
        (named, 0) => Some(either(named)),
        (named, more) => Some(format!("{} or {}", named.join(", "), counted(more as u64, "other"))),
    }
}

/// That no lock is the way on.
fn nothing_helps(choice: &Choice<'_>) -> Vec<String> {
    let waiting = |curve: &Curve| percent(curve.end().point.wait_share);
    let Choice { today, best, .. } = *choice;
    let under_best = if best.lock == today.lock {
        ", which does as well as any".to_owned()
    } else {
        format!(", and {} under {}, which does best", waiting(best), best.lock)
    };
    vec![format!(
        "No lock that may be put under it does better by more than {:.0} %: threads wait {} of \
         their time under today's{under_best}. The way on is to hold locks for less long, to \
         acquire them less often, or to use more of them.",
        (WORTH_TAKING - 1.0) * 100.0,
        waiting(today),
    )]
}

/// What the profiled run was like, as far as that takes something from the forecast.
fn cautions(conduct: &Conduct) -> Vec<String> {
    let mut text = Vec::new();
    if conduct.unused_cores > IDLE * able(conduct) {
        let instead = match &conduct.condition_place {
            Some(place) if conduct.condition_share > MOSTLY_CONDITIONS => format!(
                "they waited on condition variables, longest on the one first used at {place}"
            ),
            _ => "they slept, waited for something else, or shared the cores with other programs"
                .to_owned(),
        };
        let serial = conduct.time.serial_share();
        let consequence = if serial > 0.0 {
            format!(
                "So {} of its computing is forecast as serial, which no further core divides; if \
                 other programs had the cores, that is too much",
                percent(serial)
            )
        } else {
            "The forecast takes it that every further thread brings as much work as these did; if \
             they wait for one another (for a token, a queue, a serial phase), the program scales \
             less than drawn here"
                .to_owned()
        };
        text.push(format!(
            "Mind that its threads kept only {:.1} of {} cores busy while profiled, and not because \
             of locks: {instead}. {consequence}.",
            conduct.busy_cores, conduct.cores
        ));
    }
    text
}

/// Cores that the profiled threads could have kept busy.
fn able(conduct: &Conduct) -> f64 {
    f64::from(conduct.cores).min(conduct.peak_threads as f64)
}

fn cores(curve: &Curve) -> u32 {
    curve.end().point.cores
}

/// What the program as it is will do, to stand behind a colon.
fn shape(today: &Curve, machine: &str) -> String {
    let most = cores(today);
    let peak = counted(today.peak_cores.into(), "core");
    match today.shape {
        Shape::Scales => format!("forecast to scale to {most} cores of {machine}"),
        Shape::Flattens => format!(
            "forecast to reach its peak at {peak} of {machine} and to gain {} beyond",
            if today.peak_cores == most { "little" } else { "nothing" }
        ),
        Shape::Collapses => format!(
            "forecast to peak at {peak} of {machine} and to fall to {} of that at {most}",
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
    let which = match (lock.instances, lock.left_alone) {
        (1, None) => "the mutex".to_owned(),
        (1, Some(kind)) => kind.to_owned(),
        (many, None) => format!("one of the {many} mutexes"),
        (many, Some(kind)) => format!("one of {many} of its kind ({kind})"),
    };
    let acquired: Vec<&str> =
        lock.acquired_at.iter().take(NAMED_PLACES).map(|at| at.place.as_str()).collect();
    let acquired = if acquired.is_empty() {
        String::new()
    } else {
        format!("acquired at {}, ", acquired.join(" and "))
    };
    Some(format!(
        "The lock that costs most there, {} of the threads' time to wait for, take and let go, is \
         {which} {acquired}made or first acquired at {}, held for {} at a time.{}",
        percent(*share),
        lock.place,
        duration(lock.hold_ns),
        about_what_run_leaves_alone(lock)
    ))
}

/// What there is to do about a lock that `run` does not replace.
fn about_what_run_leaves_alone(lock: &ForecastLock) -> String {
    let Some(kind) = lock.left_alone else { return String::new() };
    match lock.family {
        "read-write" => about_readers_and_writers(lock),
        "spin" => " `run` leaves spin locks alone: the way on is to make it a mutex, which `run` \
                   can replace, to hold it for less long, or to split it."
            .to_owned(),
        _ => format!(
            " `run` leaves {kind} alone: the way on is to do without that attribute, so that `run` \
             can replace it, to hold it for less long, or to split it."
        ),
    }
}

/// The same of a read-write lock.
fn about_readers_and_writers(lock: &ForecastLock) -> String {
    let spared = "`run` leaves read-write locks to glibc";
    let by_writers = lock.acquisitions as f64 * lock.exclusive_hold_ns;
    let by_readers = lock.shared_acquisitions as f64 * lock.hold_ns;
    if lock.shared_acquisitions <= lock.acquisitions || by_writers > by_readers {
        format!(
            " It is acquired for writing in {} of the cases, for {} at a time, and then keeps out \
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

#[cfg(test)]
mod tests;
