//! What two profiles say of a change, in sentences.

use kilocore_lock_profile::{
    ChangeVerdict, Doubt, PaceChange, ProfileComparison, RUN, SECTION, ScalingQuality,
};
use kilocore_show::number;

use crate::measured_words::why_not;

/// What one is called.
fn one(unit: &str) -> String {
    match unit {
        RUN => "a run".to_owned(),
        SECTION => "a critical section".to_owned(),
        unit => format!("a unit of work ({unit})"),
    }
}

fn cores(pace: &PaceChange) -> String {
    if pace.cores == 1 { "on one core".to_owned() } else { format!("on {} cores", pace.cores) }
}

/// How many times as long something takes, as the rounds have it.
fn interval(pace: &PaceChange) -> String {
    format!("{:.2} to {:.2} times as long", pace.times_as_long_low, pace.times_as_long_high)
}

/// What the rounds say of a pace, whatever is allowed.
pub(super) fn change(pace: &PaceChange) -> &'static str {
    if pace.times_as_long_low > 1.0 {
        "slower"
    } else if pace.times_as_long_high < 1.0 {
        "faster"
    } else {
        "within the rounds"
    }
}

/// Whether it has become slower by more than is allowed, and why nobody can tell if that is so.
pub(super) fn answer(comparison: &ProfileComparison, allowed: Option<f64>) -> Vec<String> {
    let doubts = comparison.doubts.iter().map(doubt);
    if !comparison.doubts.is_empty() {
        let first = "The runs cannot tell whether the program has become slower.".to_owned();
        return std::iter::once(first).chain(doubts).collect();
    }
    let Some(share) = allowed else { return vec![in_general(comparison)] };
    let more = number::percent(share);
    let paces = &comparison.paces;
    let of = |verdict: ChangeVerdict| {
        let such = paces.iter().filter(move |pace| pace.verdict(share) == verdict);
        such.map(|pace| format!("{} {}", interval(pace), cores(pace)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let unit = one(&comparison.unit);
    vec![match comparison.verdict(share) {
        ChangeVerdict::Slower => format!(
            "The program has become slower by more than {more}: {unit} takes {}.",
            of(ChangeVerdict::Slower)
        ),
        ChangeVerdict::NotSlower => format!(
            "The program has not become slower by more than {more}: {unit} takes {}.",
            of(ChangeVerdict::NotSlower)
        ),
        ChangeVerdict::Unknown => {
            let most = paces.iter().map(|pace| pace.times_as_long_high).fold(1.0, f64::max);
            format!(
                "The runs cannot tell whether the program has become slower by more than {more}: {unit} takes \
                 {}, as rounds differ so much. Rounds on a quiet host, and longer runs, differ less. It has not \
                 become slower by more than {}.",
                of(ChangeVerdict::Unknown),
                number::percent((most - 1.0 + 0.0005).max(0.0))
            )
        }
    }]
}

/// What there is to say if nothing is allowed or forbidden.
fn in_general(comparison: &ProfileComparison) -> String {
    let of = |what: &str| {
        let such = comparison.paces.iter().filter(|pace| change(pace) == what);
        such.map(cores).collect::<Vec<_>>().join(", ")
    };
    match [of("slower"), of("faster")] {
        [slower, faster] if slower.is_empty() && faster.is_empty() => {
            "The times before and after differ by no more than rounds do.".to_owned()
        }
        [slower, faster] if faster.is_empty() => format!("The program has become slower {slower}."),
        [slower, faster] if slower.is_empty() => format!("The program has become faster {faster}."),
        [slower, faster] => {
            format!("The program has become slower {slower}, and faster {faster}.")
        }
    }
}

/// Why nothing can be concluded, and what mends that.
fn doubt(doubt: &Doubt) -> String {
    match doubt {
        Doubt::Commands { before, after } => {
            format!("The commands differ: `{before}` before, and `{after}` after.")
        }
        Doubt::Machines { what, before, after } => {
            format!("The {what} of the machines differ: {before} before, {after} after.")
        }
        Doubt::Units { before, after } => {
            format!("The units of work differ: `{before}` before, `{after}` after.")
        }
        Doubt::Untimed { side, reason: Some(why) } => {
            format!("The profile from {side} has no timed runs: {}.", why_not(*why))
        }
        Doubt::Untimed { side, reason: None } => format!(
            "The profile from {side} has no timed runs; `kilocore doctor --keep FILE` makes a profile that has."
        ),
        Doubt::Quality { side, quality } => {
            let why = match quality {
                ScalingQuality::Disturbed => {
                    "other programs had much of the cores in most rounds; repeat it on a quieter host"
                }
                ScalingQuality::HeldUp => {
                    "a control group held the program up in most rounds; repeat it without that quota"
                }
                ScalingQuality::CoresLost => {
                    "cores were turned off or taken from the program in most rounds; repeat it where it keeps them"
                }
                ScalingQuality::Unfilled => {
                    "the load did not fill the cores; repeat it under more load"
                }
                ScalingQuality::Short => {
                    "they take less than 50 ms, and show how the program starts; give it more to do"
                }
                ScalingQuality::SetTime => SET_TIME,
                ScalingQuality::Good | ScalingQuality::FewRounds => "there are too few of them",
            };
            format!("The timed runs from {side} are good for nothing: {why}.")
        }
        Doubt::FewRounds { side, rounds, enough } => format!(
            "From {side} there are {rounds} quiet rounds, and {enough} are needed to see how much rounds differ; \
             `--budget` of `kilocore doctor` with more time makes more."
        ),
        Doubt::Cores => "There is no number of cores that both were timed on.".to_owned(),
        Doubt::SetTime => format!("All runs took the same time: {SET_TIME}."),
        Doubt::Failed { side, status } => {
            format!("The recorded run from {side} failed, with status {status}.")
        }
        Doubt::Limited { side } => {
            format!("A control group limited what the program had of the cores {side}.")
        }
        Doubt::Steered { side } => format!("`kilocore steer` steered the program {side}."),
    }
}

const SET_TIME: &str = "the program runs for a set time, or it spins, and `--work REGEX` or `--sections` of `kilocore doctor` counts what it does";
