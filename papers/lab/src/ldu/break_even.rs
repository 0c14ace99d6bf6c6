//! The place from which one curve lies above another.

use serde::Serialize;

/// The place from which a ratio is at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "outcome", content = "at")]
pub enum BreakEven {
    /// The ratio is at least 1 at all places.
    Ahead,
    /// The ratio is at least 1 from here on, if it changes linearly between places.
    At(f64),
    /// The ratio is below 1 at the last place, or there are no places.
    Behind,
}

/// Returns the place from which a ratio is at least 1. An item of `ratios` is a place and the ratio
/// at this place; the places are ascending.
///
/// ```
/// use kilocore_lab::ldu::{BreakEven, break_even};
///
/// assert_eq!(break_even(&[(50.0, 0.5), (70.0, 1.5), (90.0, 2.0)]), BreakEven::At(60.0));
/// assert_eq!(break_even(&[(50.0, 1.1), (70.0, 1.5)]), BreakEven::Ahead);
/// ```
#[must_use]
pub fn break_even(ratios: &[(f64, f64)]) -> BreakEven {
    let last_below = ratios.iter().rposition(|&(_, ratio)| ratio < 1.0);
    match (last_below.map(|last| &ratios[last..]), ratios) {
        (None, []) | (Some([_]), _) => BreakEven::Behind,
        (Some([(from, below), (to, above), ..]), _) => {
            BreakEven::At(from + (to - from) * (1.0 - below) / (above - below))
        }
        _ => BreakEven::Ahead,
    }
}

#[cfg(test)]
mod tests {
    use super::{BreakEven, break_even};

    #[test]
    fn the_last_crossing_counts() {
        let ratios = [(50.0, 1.2), (60.0, 0.5), (80.0, 1.5), (99.0, 1.1)];
        assert_eq!(break_even(&ratios), BreakEven::At(70.0));
        assert_eq!(break_even(&[(50.0, 0.5), (60.0, 1.0)]), BreakEven::At(60.0));
        assert_eq!(break_even(&[(50.0, 1.5), (60.0, 0.9)]), BreakEven::Behind);
        assert_eq!(break_even(&[]), BreakEven::Behind);
    }
}
