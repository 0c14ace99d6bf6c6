//! What another lock promises, and what it does not.

use std::iter;

use kilocore_figures::Shape;

use super::outlook::cores;
use crate::choice::{Choice, WORTH_TAKING};
use crate::waiting::{hands_over, parks};
use crate::words::{counted, either, percent, rounded};
use crate::{Curve, ForecastGain, GainError, PublishedGain};

/// How many equals are named.
const NAMED_EQUALS: usize = 4;

/// How far such gains were from measured ones.
pub(super) fn about_gains(lock: &str, error: &GainError) -> String {
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
pub(super) fn praise(choice: &Choice<'_>) -> Vec<String> {
    let best = choice.best;
    let ForecastGain { gain, low, high } = choice.gain;
    let [least, most] = choice.gain.even_chances(choice.published());
    let mut text = vec![format!(
        "{} {}: {} times today's throughput on {} ({} to {} by what the profile leaves open). Going by how \
         far such forecasts were off, it is as likely as not between {} and {}, and a gain at all with a \
         chance of {}.",
        if choice.is_sure() { "Take" } else { "Perhaps" },
        best.lock,
        rounded(gain),
        counted(cores(best).into(), "core"),
        rounded(low),
        rounded(high),
        rounded(least),
        rounded(most),
        percent(choice.chance())
    )];
    text.extend(elsewhere(choice));
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

/// How the best lock did for other programs, if that counts.
fn elsewhere(choice: &Choice<'_>) -> Option<String> {
    let published = choice.published()?;
    let PublishedGain { cases, middle, gained, lost, .. } = published;
    let do_the_same = match choice.today.shape {
        Shape::Scales => "scale",
        Shape::Flattens => "flatten",
        Shape::Collapses => "collapse",
    };
    Some(format!(
        "Published measurements of programs to which locks matter and that {do_the_same} under glibc's mutex, on 48 \
         cores of several nodes: {} times as much under {} in the geometric mean of {cases}; {gained} gained a tenth \
         or more, {lost} lost as much. By these and the forecast together, {} times is as likely exceeded as not.",
        rounded(middle),
        choice.best.lock,
        rounded(choice.gain.expected(Some(published))),
    ))
}

/// Says that no lock is the way on.
pub(super) fn nothing_helps(choice: &Choice<'_>) -> Vec<String> {
    let waiting = |curve: &Curve| percent(curve.end().point.wait_share);
    let Choice { today, best, .. } = *choice;
    if choice.unlikely {
        let text = format!(
            "No lock is recommended: {} does best there in the forecast, {} times as much as today's, but the \
             profile leaves {} to {} times open, and going by how far such forecasts were off it is a gain at \
             all with a chance of {}. It can be tried under `run`; otherwise, the way on is to hold locks for \
             less long, to acquire them less often, or to use more of them.",
            best.lock,
            rounded(choice.gain.gain),
            rounded(choice.gain.low),
            rounded(choice.gain.high),
            percent(choice.chance())
        );
        return iter::once(text).chain(elsewhere(choice)).collect();
    }
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
