//! The locks of a forecast that have no curve, in words.

use kilocore_forecast::Forecast;
use kilocore_show::number;

/// How many of the best are named.
const NAMED: usize = 5;

/// What is said of locks without a curve, or `None` if each has one.
pub(crate) fn without_curve(forecast: &Forecast) -> Option<String> {
    let cores = forecast.curves.first()?.end().point.cores;
    let mut tried: Vec<(&str, f64)> =
        forecast.without_curve.iter().filter_map(|of| Some((of.lock, of.gain?))).collect();
    tried.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let untried = forecast.without_curve.len() - tried.len();
    let mut parts = Vec::new();
    if !tried.is_empty() {
        parts.push(format!(
            "More locks, on {cores} cores alone, × against the lock that it would replace: {}",
            by_gain(&tried)
        ));
    }
    if untried > 0 {
        let waiting = forecast.curves.first()?.end().point.wait_share;
        parts.push(format!(
            "{untried} locks are not simulated: taking locks and waiting for them is {} of the \
             threads' time on {cores} cores, too little for another lock to be worth a change",
            number::percent(waiting)
        ));
    }
    let said = parts.join("; ");
    (!parts.is_empty()).then(|| format!("{said}; `--thorough` simulates every lock's curve"))
}

/// The best with their gains, and between what the others lie.
fn by_gain(tried: &[(&str, f64)]) -> String {
    let (named, others) = tried.split_at(tried.len().min(NAMED));
    let mut words: Vec<String> =
        named.iter().map(|(lock, gain)| format!("{lock} {}", number::times(*gain))).collect();
    match others {
        [] => {}
        [(lock, gain)] => words.push(format!("{lock} {}", number::times(*gain))),
        [first, .., last] => words.push(format!(
            "{} more from {} to {} ({})",
            others.len(),
            number::times(first.1),
            number::times(last.1),
            last.0
        )),
    }
    words.join(", ")
}
