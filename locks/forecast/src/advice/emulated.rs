//! A recommendation, held against what the program does where it is itself executed on the simulated machine.
//!
//! The emulation has all of the program, and the forecast what a profile tells of it: queues, dependences and imbalance
//! are lost there. So where the two differ, the emulation is believed, and the answer begins with what it says. A lock that
//! gains nothing in it is not recommended. But where nobody knows what an instruction of the program takes, the emulation
//! has assumed that, and neither is believed.

use super::answer::answer;
use crate::emulated::{EmulatedPoint, EmulatedThere};
use crate::words::rounded;
use crate::{Forecast, Recommendation, Verdict};

/// Speedups that are at most so many times apart agree.
const NEAR: f64 = 1.25;

/// A lock is recommended by the emulation if it is so many times as fast there.
const BETTER: f64 = 1.1;

/// Adds to a forecast what the program and the recommended locks did in an emulation, and holds its recommendation
/// against that.
#[must_use]
pub fn with_emulation(mut forecast: Forecast, mut emulated: EmulatedThere) -> Forecast {
    for point in &mut emulated.points {
        point.forecast = speedup(&forecast, point);
    }
    emulated.agrees = agreement(&emulated.points);
    let machine = forecast.machine.name.clone();
    forecast.recommendation = held(forecast.recommendation, &emulated, &machine);
    forecast.emulated = Some(emulated);
    forecast
}

/// Whether the forecast is near all points that it has, if it has any.
fn agreement(points: &[EmulatedPoint]) -> Option<bool> {
    let mut compared =
        points.iter().filter(|point| point.cores != point.fewest).filter_map(|point| {
            let forecast = point.forecast?;
            let [least, most] = point.speedups();
            Some((least / forecast).max(forecast / most) <= NEAR)
        });
    let first = compared.next()?;
    Some(first && compared.all(|agrees| agrees))
}

/// The forecast of a point, as a multiple of the program as it is on the fewest cores.
fn speedup(forecast: &Forecast, of: &EmulatedPoint) -> Option<f64> {
    let on = |lock: &str, cores: u32| {
        let curve = forecast.curves.iter().find(|curve| curve.lock == lock)?;
        let point = curve.points.iter().find(|point| point.point.cores == cores)?;
        Some(point.point.throughput_per_s)
    };
    let lock = of.lock.or(of.rwlock).unwrap_or(forecast.today);
    Some(on(lock, of.cores)? / on(forecast.today, of.fewest)?)
}

fn held(mut given: Recommendation, emulated: &EmulatedThere, machine: &str) -> Recommendation {
    let Some(own) = emulated.points.iter().rfind(|point| point.is_own()) else { return given };
    let as_it_is = format!(
        "executed on the simulated {machine}, it is {} times as fast on {} cores as on {} (emulated{})",
        rounded(own.speedup),
        own.cores,
        own.fewest,
        own.by_chance.map_or_else(String::new, |range| format!("; {}", by_chance(range)))
    );
    let differs = emulated.agrees == Some(false);
    if differs && !emulated.is_timed {
        return open(given, emulated, own, &as_it_is);
    }
    let compared = match (own.forecast, differs) {
        (Some(_), false) => "the forecast agrees with that".to_owned(),
        (Some(forecast), true) => format!(
            "the forecast has {}. The emulation is the one to believe: it has all that the program does, and the \
             forecast what was recorded",
            rounded(forecast)
        ),
        (None, _) => "there is no forecast of that".to_owned(),
    };
    let other = emulated.points.iter().rfind(|point| !point.is_own() && point.cores == own.cores);
    let Some(other) = other else {
        let is_open = matches!(given.verdict, Verdict::Unknown | Verdict::TooLittleEvidence);
        if differs && !is_open {
            let (why, confidence) = (format!("{as_it_is}; {compared}"), given.confidence.clone());
            let unknown = answer(Verdict::Unknown, &why, said_before(given));
            return Recommendation { confidence, ..unknown };
        }
        given.text.insert(0, sentence(&format!("{as_it_is}; {compared}.")));
        return given;
    };
    let gain = other.speedup / own.speedup;
    let locks: Vec<&str> = other.lock.into_iter().chain(other.rwlock).collect();
    let locks = locks.join(" and ");
    let gain_rounded = rounded(gain);
    let ([own_least, own_most], [least, most]) = (own.speedups(), other.speedups());
    let gains = [least / own_most, most / own_least];
    let chance = match own.by_chance.or(other.by_chance) {
        Some(_) => format!(" ({})", by_chance(gains)),
        None => String::new(),
    };
    let least = if differs { BETTER } else { 1.0 };
    if gain < least && given.shown().is_some() {
        let why = format!(
            "executed on the simulated {machine}, under {locks} it does {gain_rounded} times{chance} what it does as it \
             is on {} cores (emulated), so no other lock is recommended",
            own.cores
        );
        let confidence = given.confidence;
        let mut text: Vec<String> = given.text.into_iter().take(1).collect();
        text.push(sentence(&format!("{as_it_is}; {compared}.")));
        return Recommendation { confidence, ..answer(Verdict::LimitedByLocks, &why, text) };
    }
    let under = format!(
        "{as_it_is}, and under {locks} {gain_rounded} times{chance} as fast as that; {compared}."
    );
    if differs {
        let words = given.verdict.words();
        let before = std::mem::replace(&mut given.headline, format!("{words}: {under}"));
        given.text.insert(0, forecast_said(&before));
        (given.gain, given.gain_range, given.gain_chance) = (gain, None, None);
    } else {
        given.text.insert(0, sentence(&under));
    }
    given
}

/// The answer where the emulation has assumed what instructions take, and the forecast says something else.
fn open(
    given: Recommendation,
    emulated: &EmulatedThere,
    own: &EmulatedPoint,
    as_it_is: &str,
) -> Recommendation {
    let forecast = own.forecast.map_or_else(String::new, |forecast| {
        format!(", and the forecast has {} for that", rounded(forecast))
    });
    let why = format!(
        "{as_it_is}{forecast}. The two differ, and which is right is not known: the program is too short to be timed, so \
         an instruction was taken to need {} cycle in the emulation. Give it a larger input",
        emulated.cycles_per_instruction
    );
    let confidence = given.confidence.clone();
    Recommendation { confidence, ..answer(Verdict::Unknown, &why, said_before(given)) }
}

/// The answer before, as advice.
fn said_before(given: Recommendation) -> Vec<String> {
    [forecast_said(&given.headline)].into_iter().chain(given.text).collect()
}

fn forecast_said(headline: &str) -> String {
    format!("Without the emulation, the answer would be: {headline}")
}

/// A clause as a sentence of its own.
fn sentence(clause: &str) -> String {
    let (first, rest) = clause.split_at(clause.len().min(1));
    first.to_uppercase() + rest
}

/// What runs that differ by nothing but chance leave open.
fn by_chance([least, most]: [f64; 2]) -> String {
    format!("by chance, {} to {}", rounded(least), rounded(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given() -> Recommendation {
        let text = vec!["The lock that costs most is one.".to_owned(), "Take mcs.".to_owned()];
        let why = "forecast to fall; under mcs, 2.4 times as much";
        let command = Some("kilocore run --lock mcs -- ./program".to_owned());
        Recommendation {
            lock: Some("mcs"),
            gain: 2.4,
            command,
            ..answer(Verdict::LimitedByLocks, why, text)
        }
    }

    fn point(lock: Option<&'static str>, cores: u32, speedup: f64, forecast: f64) -> EmulatedPoint {
        let forecast = Some(forecast);
        EmulatedPoint { lock, rwlock: None, cores, fewest: 1, speedup, by_chance: None, forecast }
    }

    /// The answer where 2 is forecast on 48 cores, and 4.8 under mcs.
    fn held_against(own: f64, other: f64) -> (Recommendation, Option<bool>) {
        let points = vec![
            point(None, 1, 1.0, 1.0),
            point(None, 48, own, 2.0),
            point(Some("mcs"), 48, other, 4.8),
        ];
        let agrees = agreement(&points);
        let emulated = EmulatedThere { points, agrees, is_timed: true, ..EmulatedThere::default() };
        (held(given(), &emulated, "m"), agrees)
    }

    #[test]
    fn an_emulation_that_agrees_says_so_and_changes_nothing_else() {
        let (held, agrees) = held_against(1.9, 5.0);
        assert_eq!((agrees, held.lock), (Some(true), Some("mcs")));
        assert_eq!((&held.headline, &held.command), (&given().headline, &given().command));
        assert!(held.text[0].contains("the forecast agrees"), "{:?}", held.text);
        assert!(held.text[0].contains("under mcs 2.6 times as fast"), "{:?}", held.text);
    }

    #[test]
    fn a_lock_that_loses_in_the_emulation_is_not_recommended() {
        let (held, agrees) = held_against(2.0, 1.8);
        assert_eq!((agrees, held.lock, &held.command), (Some(false), None, &None));
        assert_eq!(held.verdict, Verdict::LimitedByLocks);
        assert!(held.headline.contains("under mcs it does 0.9 times"), "{}", held.headline);
    }

    #[test]
    fn an_emulation_that_differs_is_believed() {
        let (held, agrees) = held_against(9.0, 20.0);
        assert_eq!((agrees, held.lock), (Some(false), Some("mcs")));
        assert!(held.headline.contains("has 2.0. The emulation is the one to believe"), "{held:?}");
        assert!(held.headline.contains("under mcs 2.2 times as fast"), "{held:?}");
        assert!(held.text[0].ends_with(&given().headline), "{held:?}");
        // A gain of the forecast that the emulation has not.
        let (held, _) = held_against(9.0, 9.4);
        assert_eq!((held.lock, &held.command), (None, &None), "{held:?}");
        assert!(held.headline.contains("no other lock is recommended"), "{held:?}");
    }

    #[test]
    fn an_emulation_that_assumes_what_instructions_take_leaves_open_what_differs() {
        let points = vec![point(None, 1, 1.0, 1.0), point(None, 48, 9.0, 2.0)];
        let agrees = agreement(&points);
        let emulated = EmulatedThere { points, agrees, ..EmulatedThere::default() };
        let held = held(given(), &emulated, "m");
        assert_eq!((held.verdict, held.lock, &held.command), (Verdict::Unknown, None, &None));
        assert!(held.headline.contains("The two differ"), "{held:?}");
        assert!(held.headline.contains("9.0 times as fast on 48 cores as on 1"), "{held:?}");
    }

    #[test]
    fn what_chance_leaves_open_is_said_and_agrees_with_all_of_it() {
        let mut own = point(None, 48, 1.5, 2.0);
        own.by_chance = Some([0.9, 1.7]);
        let points = vec![point(None, 1, 1.0, 1.0), own, point(Some("mcs"), 48, 2.0, 2.2)];
        let agrees = agreement(&points);
        let emulated = EmulatedThere { points, agrees, ..EmulatedThere::default() };
        let text = &held(given(), &emulated, "m").text[0];
        assert_eq!(agrees, Some(true));
        assert!(
            text.contains(
                "1.5 times as fast on 48 cores as on 1 (emulated; by chance, 0.9 to 1.7)"
            ),
            "{text}"
        );
        assert!(text.contains("under mcs 1.3 times (by chance, 1.2 to 2.2) as fast"), "{text}");
    }
}
