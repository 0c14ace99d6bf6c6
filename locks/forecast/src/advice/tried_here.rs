//! A recommendation, held against what the recommended locks did here.
//!
//! What was measured is right. The recommended locks are for more cores than are here, so that no gain here
//! is no contradiction. But where they lose here and the forecast says otherwise of as many cores, there is no
//! advice from it, nor where the program fails with them.

use kilocore_lock_profile::{TrialFailure, TriedGain, TriedHere};

use super::answer::answer;
use crate::words::{counted, rounded};
use crate::{Forecast, Recommendation, Verdict};

/// A forecast gain that is more than this many times the highest measured one is another.
const APART: f64 = 1.2;

/// Adds what the recommended locks did here to a forecast, and holds its recommendation against it.
#[must_use]
pub fn with_trial(mut forecast: Forecast, tried: TriedHere) -> Forecast {
    let gain = tried.gain();
    let on_as_many = gain.and_then(|gain| forecast_gain(&forecast, gain.cores));
    let given = forecast.recommendation;
    forecast.recommendation = held(given, &tried, gain, on_as_many);
    forecast.tried_here = Some(tried);
    forecast
}

/// The forecast gain of what is recommended, on that many cores.
fn forecast_gain(forecast: &Forecast, cores: u32) -> Option<f64> {
    let on = |lock: &str| {
        let curve = forecast.curves.iter().find(|curve| curve.lock == lock)?;
        let point = curve.points.iter().find(|point| point.point.cores == cores)?;
        Some(point.point.throughput_per_s)
    };
    Some(on(forecast.recommendation.shown()?)? / on(forecast.today)?)
}

fn held(
    mut given: Recommendation,
    tried: &TriedHere,
    gain: Option<TriedGain>,
    forecast: Option<f64>,
) -> Recommendation {
    let locks: Vec<&str> = tried.lock.into_iter().chain(tried.rwlock).collect();
    let locks = locks.join(" and ");
    match (tried.failure, gain) {
        (Some(failure), _) => {
            let did = match failure {
                TrialFailure::DidNotEnd => {
                    "took ten times as long here and was ended, so that lock is not for it"
                }
                TrialFailure::Failed => "ended with an error here, so that lock is not for it",
            };
            withdrawn(given, &format!("tried under {locks}, it {did}"))
        }
        (None, Some(gain)) => match forecast {
            Some(forecast) if gain.high < 1.0 && forecast > APART * gain.high => {
                let why = format!(
                    "{}, and the forecast has {} times there, so there is no advice from it",
                    did(&locks, &gain),
                    rounded(forecast)
                );
                withdrawn(given, &why)
            }
            _ => {
                given
                    .text
                    .insert(0, format!("Tried here: {}; {}.", did(&locks, &gain), means(&gain)));
                given
            }
        },
        (None, None) => given,
    }
}

/// What was measured, worded such that it can stand in a sentence.
fn did(locks: &str, gain: &TriedGain) -> String {
    format!(
        "under {locks}, on {}, it does {:.2} times what it does as it is (measured in {}, {:.2} to {:.2})",
        counted(gain.cores.into(), "core"),
        gain.gain,
        counted(gain.rounds as u64, "round"),
        gain.low,
        gain.high
    )
}

fn means(gain: &TriedGain) -> &'static str {
    match gain {
        TriedGain { low, .. } if *low > 1.0 => "it gains already",
        TriedGain { high, .. } if *high < 1.0 => {
            "it loses on so few, and what is forecast is a gain on many"
        }
        _ => "on so few, no gain shows and no loss",
    }
}

/// The same verdict, without a lock to take.
fn withdrawn(given: Recommendation, why: &str) -> Recommendation {
    // What costs most is the first of what is said.
    let text = given.text.into_iter().take(1).collect();
    Recommendation { confidence: given.confidence, ..answer(Verdict::LimitedByLocks, why, text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given() -> Recommendation {
        let text = vec!["The lock that costs most is one.".to_owned(), "Take mcs.".to_owned()];
        Recommendation {
            lock: Some("mcs"),
            gain: 3.0,
            command: Some("kilocore run --lock mcs -- ./program".to_owned()),
            ..answer(
                Verdict::LimitedByLocks,
                "forecast to fall; under mcs, 3.0 times as much",
                text,
            )
        }
    }

    fn held_with(failure: Option<TrialFailure>, here: [f64; 3], forecast: f64) -> Recommendation {
        let tried = TriedHere { lock: Some("mcs"), rwlock: None, rounds: Vec::new(), failure };
        let [low, gain, high] = here;
        let gain = TriedGain { cores: 2, rounds: 5, gain, low, high };
        held(given(), &tried, Some(gain), Some(forecast))
    }

    #[test]
    fn a_gain_or_a_small_loss_here_leaves_the_advice() {
        for (here, words) in [
            ([1.1, 1.2, 1.3], "it gains already"),
            ([0.9, 1.0, 1.1], "no gain shows"),
            ([0.85, 0.9, 0.95], "it loses on so few"),
        ] {
            let held = held_with(None, here, 1.05);
            assert_eq!((held.lock, held.command.is_some()), (Some("mcs"), true));
            assert!(held.text[0].contains(words) && held.text.len() == 3, "{:?}", held.text);
        }
    }

    #[test]
    fn a_loss_that_the_forecast_does_not_have_leaves_no_advice() {
        let held = held_with(None, [0.6, 0.7, 0.8], 1.4);
        assert_eq!(
            (held.verdict, held.lock, &held.command),
            (Verdict::LimitedByLocks, None, &None)
        );
        assert!(held.headline.contains("0.70 times"), "{}", held.headline);
        assert_eq!(held.text, ["The lock that costs most is one."]);
        // The forecast says so, too.
        assert_eq!(held_with(None, [0.6, 0.7, 0.8], 0.75).lock, Some("mcs"));
    }

    #[test]
    fn a_program_that_fails_with_a_lock_is_not_told_to_take_it() {
        for failure in [TrialFailure::DidNotEnd, TrialFailure::Failed] {
            let held = held_with(Some(failure), [1.5; 3], 1.5);
            assert_eq!((held.lock, held.gain), (None, 1.0));
            assert!(held.headline.contains("tried under mcs"), "{}", held.headline);
        }
    }
}
