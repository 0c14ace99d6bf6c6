//! Figures in sentences.

use std::ops::RangeInclusive;
use std::time::Duration;

use kilocore_show::number;
use kilocore_show::terminal::NO_BREAK;

/// So many of something: `1 core`, `2 cores`.
pub(crate) fn number_of(count: u32, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// A duration as tables show it: `16.2 ms`.
pub(crate) fn duration(time: Duration) -> String {
    number::nanoseconds(time.as_secs_f64() * 1e9)
}

/// A ratio to two digits or so: `0.25`, `7.2`, `41`.
pub(crate) fn rounded(ratio: f64) -> String {
    match ratio {
        ratio if ratio < 0.995 => format!("{ratio:.2}"),
        ratio if ratio < 9.95 => format!("{ratio:.1}"),
        _ => format!("{ratio:.0}"),
    }
}

/// `7.2 times as fast`, or `as fast` where nobody would see a difference.
pub(crate) fn as_fast(ratio: f64) -> String {
    if (0.95..1.05).contains(&ratio) {
        return "as fast".to_owned();
    }
    format!("{} times as fast", rounded(ratio))
}

/// All ratios from one to another: `0.25 to 7.2`.
pub(crate) fn range(ratios: &RangeInclusive<f64>) -> String {
    format!("{} to {}", rounded(*ratios.start()), rounded(*ratios.end()))
}

/// Joins words by commas, with an `and` before the last.
pub(crate) fn all_of(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

/// A part of all with its unit held to it, so that no line begins with a sign: `61 %`.
pub(crate) fn part(share: f64) -> String {
    number::percent(share).replace(' ', &NO_BREAK.to_string())
}
