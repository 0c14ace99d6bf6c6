//! What was measured of a program on the cores that are here, in words.

use kilocore_forecast::MeasuredHere;
use kilocore_lock_profile::{RUN, SECTION, ScalingPoint, ScalingQuality, UnlikeCores, WhyNotTimed};
use kilocore_show::number;

/// Why there is nothing, or nothing more, worded such that it can follow a colon.
pub(crate) fn why_not(why: WhyNotTimed) -> &'static str {
    match why {
        WhyNotTimed::Once => "it was to be run once",
        WhyNotTimed::Attached => {
            "it ran already; `--confine` measures it on fewer cores while it serves, which takes cores from it"
        }
        WhyNotTimed::NotConfined => "it could not be confined to fewer cores, or not all of it",
        WhyNotTimed::OwnCores => {
            "its threads have cores of their own, so that on fewer of them it would not be the same program"
        }
        WhyNotTimed::Uncounted => {
            "nothing that it does could be counted: the kernel does not count sends for this user, and it has no \
             TCP connections that last"
        }
        WhyNotTimed::Idle => "it sent nothing meanwhile; repeat it under load",
        WhyNotTimed::Ended => "it ended before that was over, or somebody asked for the end",
        WhyNotTimed::OneCore => "it may use one core only",
        WhyNotTimed::Quota => {
            "a control group allows it the time of fewer cores, so that nothing would be known of more"
        }
        WhyNotTimed::TooLong => {
            "runs on one core and on all would take longer than `--budget` allows; give it more"
        }
        WhyNotTimed::PartOfARun => "only a part of its run counted",
        WhyNotTimed::Failed => "a run failed or was ended",
        WhyNotTimed::Input => {
            "its input was a pipe, which cannot be read twice; give it a file with `<`"
        }
        WhyNotTimed::NoWork => "nothing that it printed could be counted by `--work`",
        WhyNotTimed::FewSections => {
            "`--sections` counts pthread locks, and it took hardly any, or no library reaches its locks"
        }
        WhyNotTimed::SectionsLost => {
            "a process of it could not count all locks that it took, as it had no room to write that down"
        }
    }
}

/// What units of work are called.
pub(crate) fn units(unit: &str) -> String {
    match unit {
        RUN => "runs".to_owned(),
        SECTION => "critical sections".to_owned(),
        unit => format!("units ({unit})"),
    }
}

/// What the points are called.
pub(crate) fn heading(here: &MeasuredHere) -> String {
    let rounds = here.points.last().map_or(0, |point| point.runs);
    let rounds = if rounds == 1 { "one round".to_owned() } else { format!("{rounds} rounds") };
    let how = match (here.windows, &*here.unit) {
        (true, SECTION) => {
            "of windows, confined while it ran on, with a library under it that counts"
        }
        (true, _) => "of windows, confined while it ran on",
        (false, SECTION) => "with a library under it that counts",
        (false, _) => "without a recorder",
    };
    format!("Throughput here, {} per second: {rounds} {how}", units(&here.unit))
}

/// What the points are called, and where they come from.
pub(crate) fn title(here: &MeasuredHere) -> String {
    format!("{} (measured)", heading(here))
}

/// What is to be known of the points, or of why there are none: a sentence or some, if anything.
pub(crate) fn note(here: &MeasuredHere) -> Option<String> {
    if here.points.is_empty() {
        return match here.why_not? {
            WhyNotTimed::Quota => Some(beyond_quota(here, "one")),
            why => Some(format!("Not timed on fewer cores: {}.", why_not(why))),
        };
    }
    let most = here.points.last()?.cores;
    let quota = here.why_not.filter(|&why| why == WhyNotTimed::Quota);
    let quota = quota.map(|_| beyond_quota(here, &most.to_string()));
    let more = here.why_not.filter(|_| here.windows && quota.is_none());
    let more = more.map(|why| format!("There are no more rounds: {}.", why_not(why)));
    let notes = [good_for(here), unfilled(here), unlike(here, most), quota, more];
    let notes: Vec<String> = notes.into_iter().flatten().collect();
    (!notes.is_empty()).then(|| notes.join(" "))
}

/// Why it was timed on no more cores than so many.
fn beyond_quota(here: &MeasuredHere, cores: &str) -> String {
    let limit = here.limit.as_ref();
    let limit =
        limit.map_or_else(|| "the quota of its control group".to_owned(), ToString::to_string);
    let core = if cores == "one" { "core" } else { "cores" };
    format!(
        "Not timed on more than {cores} {core}: {limit} allows no more, so that nothing would be known of \
         what more of them bring."
    )
}

/// From how many cores on the load did not suffice, if it did for fewer.
fn unfilled(here: &MeasuredHere) -> Option<String> {
    let good = here.quality == ScalingQuality::Good;
    let first = here.points.iter().find(|point| good && !point.filled)?;
    Some(format!(
        "The load does not fill {} cores, so that it is unknown what these bring.",
        first.cores
    ))
}

/// Which of so many cores are no equals of the first.
fn unlike(here: &MeasuredHere, most: u32) -> Option<String> {
    let UnlikeCores { siblings_from, slower_from, slowest } = here.unlike_cores;
    let within = |from: Option<u32>| from.filter(|&from| from <= most);
    let siblings = within(siblings_from).map(|from| match from {
        2 => "These are hardware threads of one physical core, so that two of them do less than two cores \
              would."
            .to_owned(),
        _ => format!(
            "Only {} of these are physical cores; the others are second hardware threads of the same cores, \
             which bring less.",
            from - 1
        ),
    });
    let slower = within(slower_from).zip(slowest).map(|(from, speed)| {
        format!(
            "From {from} cores on, some of them are slower, down to {} of the speed of the fastest.",
            number::percent(speed)
        )
    });
    let notes: Vec<String> = siblings.into_iter().chain(slower).collect();
    (!notes.is_empty()).then(|| notes.join(" "))
}

/// What the points are good for, and what the forecast says of them.
fn good_for(here: &MeasuredHere) -> Option<String> {
    let good_for = match here.quality {
        ScalingQuality::Good => None,
        ScalingQuality::FewRounds => {
            Some("One round proves nothing; `--budget` with more time makes more.")
        }
        ScalingQuality::Disturbed => {
            let load = here.load.map_or_else(String::new, |load| format!(" (load {load:.1})"));
            let mend = match here.windows {
                true => {
                    "Its clients are among them if they run on this host: let them run on another one. Else repeat \
                     it when the host has less to do."
                }
                false => "Repeat it when the host has less to do.",
            };
            return Some(format!(
                "Other programs had much of the cores in most rounds{load}, so nothing is concluded from \
                 this. {mend}"
            ));
        }
        ScalingQuality::HeldUp => {
            let limit = here.limit.as_ref();
            let limit = limit.map_or_else(|| "a quota".to_owned(), ToString::to_string);
            return Some(format!(
                "In most rounds, {limit} held the program back, so nothing is concluded from this: more \
                 cores cannot bring more than it allows. Repeat it without that quota."
            ));
        }
        ScalingQuality::CoresLost => Some(
            "In most rounds, cores were turned off or taken from the program, so nothing is concluded from \
             this. Repeat it where it keeps them.",
        ),
        ScalingQuality::Unfilled => {
            let filled = here.points.iter().take_while(|point| point.filled).count();
            let cores = here.points.get(filled).map_or(1, |point| point.cores);
            let what = if cores == 1 { "one core".to_owned() } else { format!("{cores} cores") };
            return Some(format!(
                "Unknown what more cores bring: the load does not fill {what}. Repeat it under more load, from \
                 clients that send the next request when they have an answer."
            ));
        }
        ScalingQuality::Short => Some(
            "Nothing is concluded from runs of less than 50 ms: they show how the program starts.",
        ),
        ScalingQuality::SetTime => {
            let sections = match here.took_locks {
                true => ", and `--sections` how often it takes its locks",
                false => "",
            };
            return Some(format!(
                "All runs took the same time and computed more on more cores: the program runs for a set \
                 time, or it spins. Nothing is concluded from that; `--work REGEX` counts what it \
                 prints{sections}."
            ));
        }
    };
    if let Some(text) = good_for {
        return Some(text.to_owned());
    }
    let forecast = here.forecast?;
    let last = here.comparable()?;
    let beside = match forecast.agrees {
        true if forecast.is_near(&last) => "The forecast agrees with that",
        true => "The forecast's band reaches that, and its middle does not",
        false => "The forecast does not agree with that",
    };
    let spins = if forecast.one_core_spins && forecast.high < last.speedup_low {
        " Several threads that spin on one core keep the holder of the lock from it, so that more cores \
         look better than they are; {threads} in the command lets the threads follow the cores."
    } else {
        ""
    };
    Some(format!(
        "{beside}: {:.1} times on {} cores ({:.1} to {:.1}).{spins}",
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

#[cfg(test)]
mod tests {
    use kilocore_forecast::ForecastHere;
    use kilocore_lock_profile::CpuLimit;

    use super::*;

    /// A program that was timed on one core and on four, and nothing that is to be minded.
    fn here() -> MeasuredHere {
        let point = |cores| ScalingPoint {
            cores,
            runs: 3,
            throughput: 1.0,
            speedup: 1.0,
            speedup_low: 1.0,
            speedup_high: 1.0,
            busy_cores: 1.0,
            filled: true,
        };
        MeasuredHere {
            unit: RUN.to_owned(),
            points: [1, 4].map(point).to_vec(),
            quality: ScalingQuality::Good,
            why_not: None,
            windows: false,
            unlike_cores: UnlikeCores::default(),
            limit: None,
            load: Some(30.0),
            took_locks: false,
            forecast: None,
        }
    }

    #[test]
    fn cores_that_are_no_equals_are_said_where_they_were_used() {
        let said = |siblings_from, slower_from: Option<u32>| {
            let slowest = slower_from.map(|_| 0.4);
            note(&MeasuredHere {
                unlike_cores: UnlikeCores { siblings_from, slower_from, slowest },
                ..here()
            })
        };
        assert_eq!(said(None, None), None);
        assert_eq!(said(Some(5), Some(6)), None, "no run had these");
        let said = |siblings, slower| said(siblings, slower).expect("there is something to mind");
        assert!(said(Some(2), None).contains("hardware threads of one physical core"));
        assert!(said(Some(3), None).starts_with("Only 2 of these are physical cores"));
        let both = said(Some(4), Some(2));
        assert!(both.contains("Only 3 of these") && both.contains("From 2 cores on"), "{both}");
        assert!(both.contains("40"), "{both}");
    }

    #[test]
    fn a_quota_is_named_where_it_decides() {
        let limit = CpuLimit { cores: 4.5, group: Some("/x".to_owned()), ..CpuLimit::default() };
        let limited = MeasuredHere { limit: Some(limit), ..here() };
        assert_eq!(note(&limited), None, "it held nothing up");
        let held_up = MeasuredHere { quality: ScalingQuality::HeldUp, ..limited.clone() };
        let said = note(&held_up).expect("it did");
        assert!(said.contains("a quota of 4.50 cores (cgroup /x) held the program back"), "{said}");
        let fewer = MeasuredHere { why_not: Some(WhyNotTimed::Quota), ..limited };
        let said = note(&fewer).expect("there were more cores");
        assert!(said.starts_with("Not timed on more than 4 cores: a quota of 4.50"), "{said}");
        let said = note(&MeasuredHere { points: Vec::new(), ..fewer }).expect("nothing was timed");
        assert!(said.starts_with("Not timed on more than one core: a quota of"), "{said}");
    }

    #[test]
    fn of_a_program_that_took_locks_these_are_named_as_what_could_count() {
        let said = |took_locks| {
            let here = MeasuredHere { quality: ScalingQuality::SetTime, took_locks, ..here() };
            note(&here).expect("nothing is concluded")
        };
        assert!(said(false).ends_with("`--work REGEX` counts what it prints."), "{}", said(false));
        assert!(said(true).ends_with("and `--sections` how often it takes its locks."));
    }

    #[test]
    fn a_busy_host_is_said_with_its_load() {
        let busy = MeasuredHere { quality: ScalingQuality::Disturbed, ..here() };
        let said = note(&busy).expect("nothing is concluded");
        assert!(said.contains("in most rounds (load 30.0), so nothing"), "{said}");
    }

    #[test]
    fn a_forecast_agrees_if_its_middle_does() {
        let said = |speedup, agrees| {
            let point = |cores, low, high| ScalingPoint {
                cores,
                speedup: (low + high) / 2.0,
                speedup_low: low,
                speedup_high: high,
                ..here().points[0]
            };
            let points = vec![point(1, 1.0, 1.0), point(2, 1.3, 1.4)];
            let forecast =
                ForecastHere { speedup, low: 0.5, high: 2.5, agrees, one_core_spins: false };
            note(&MeasuredHere { points, forecast: Some(forecast), ..here() }).expect("it is said")
        };
        assert!(said(1.2, true).starts_with("The forecast agrees with that: 1.2 times on 2 cores"));
        for far in [0.9, 1.8] {
            let said = said(far, true);
            assert!(said.contains("band reaches that, and its middle does not"), "{said}");
        }
        assert!(said(1.35, false).starts_with("The forecast does not agree"));
    }
}
