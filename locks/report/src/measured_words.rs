//! What was measured of a program on the cores that are here, in words.

use kilocore_forecast::MeasuredHere;
use kilocore_lock_profile::{RUN, ScalingPoint, ScalingQuality, WhyNotTimed};

/// Why there is nothing, or nothing more, worded such that it can follow a colon.
pub(crate) fn why_not(why: WhyNotTimed) -> &'static str {
    match why {
        WhyNotTimed::Once => "it was to be run once",
        WhyNotTimed::Attached => "it ran already, and is not confined to fewer cores",
        WhyNotTimed::OneCore => "it may use one core only",
        WhyNotTimed::TooLong => {
            "runs on one core and on all would take longer than `--budget` allows; give it more"
        }
        WhyNotTimed::PartOfARun => "only a part of its run counted",
        WhyNotTimed::Failed => "a run failed or was ended",
        WhyNotTimed::Input => {
            "its input was a pipe, which cannot be read twice; give it a file with `<`"
        }
        WhyNotTimed::NoWork => "nothing that it printed could be counted by `--work`",
    }
}

/// What the points are called.
pub(crate) fn heading(here: &MeasuredHere) -> String {
    let rounds = here.points.last().map_or(0, |point| point.runs);
    let rounds = if rounds == 1 { "one round".to_owned() } else { format!("{rounds} rounds") };
    let what = if here.unit == RUN { "runs".to_owned() } else { format!("units ({})", here.unit) };
    format!("Throughput here, {what} per second: {rounds} without a recorder")
}

/// What the points are called, and where they come from.
pub(crate) fn title(here: &MeasuredHere) -> String {
    format!("{} (measured)", heading(here))
}

/// What is to be known of the points, or of why there are none: a sentence, if anything.
pub(crate) fn note(here: &MeasuredHere) -> Option<String> {
    if here.points.is_empty() {
        return here.why_not.map(|why| format!("Not timed on fewer cores: {}.", why_not(why)));
    }
    let good_for = match here.quality {
        ScalingQuality::Good => None,
        ScalingQuality::FewRounds => {
            Some("One round proves nothing; `--budget` with more time makes more.")
        }
        ScalingQuality::Disturbed => Some(
            "Other programs had much of the cores in most rounds, so nothing is concluded from this. \
             Repeat it when the host has less to do.",
        ),
        ScalingQuality::Short => Some(
            "Nothing is concluded from runs of less than 50 ms: they show how the program starts.",
        ),
        ScalingQuality::SetTime => Some(
            "All runs took the same time and computed more on more cores: the program runs for a set \
             time, or it spins. Nothing is concluded from that; `--work REGEX` counts what it does.",
        ),
    };
    if let Some(text) = good_for {
        return Some(text.to_owned());
    }
    let forecast = here.forecast?;
    let last = here.points.last()?;
    let beside = if forecast.agrees { "agrees with that" } else { "does not agree with that" };
    let spins = if forecast.one_core_spins && forecast.high < last.speedup_low {
        " Several threads that spin on one core keep the holder of the lock from it, so that more cores \
         look better than they are; {threads} in the command lets the threads follow the cores."
    } else {
        ""
    };
    Some(format!(
        "The forecast {beside}: {:.1} times on {} cores ({:.1} to {:.1}).{spins}",
        forecast.speedup, last.cores, forecast.low, forecast.high
    ))
}

/// How many times as much as on one core, with the extremes of the rounds.
pub(crate) fn speedup(point: &ScalingPoint) -> String {
    let figure = format!("{:.2}", point.speedup);
    let [low, high] =
        [point.speedup_low, point.speedup_high].map(|speedup| format!("{speedup:.2}"));
    if low == high { figure } else { format!("{figure} ({low}–{high})") }
}
