//! How far forecast gains have been from measured ones.
//!
//! A recommendation rests on how one lock compares with another. The curves of `docs/fidelity.md`,
//! setting C, say how well that is forecast: real programs, profiled on a small machine and
//! forecast for two large ones on which others measured them under many locks. What came of it lies
//! in `data/gain-errors.csv`, which `kilocore-fidelity` writes with that page.

use kilocore_curve::median;
use serde::Serialize;

/// By lock; `all` stands for all of them together.
const FOUND: &str = include_str!("../data/gain-errors.csv");
/// The line above the figures.
const HEADER: &str = "lock,cases,median,wide,decided,right";
/// The name of the row of all locks together.
const ALL: &str = "all";
/// A gain or loss below this says nothing of its direction.
const DECIDED: f64 = 1.1;
/// The share of the cases that [`GainError::wide`] holds.
const WIDE: f64 = 0.9;

/// A lock against the one that the program has: throughput under it as a multiple of today's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gain {
    /// As others measured it.
    pub measured: f64,
    /// As it was forecast from a profile.
    pub forecast: f64,
}

/// How far forecast gains were from measured ones.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct GainError {
    /// Cases: programs on machines and, if several locks are taken together, locks.
    pub cases: u32,
    /// The median of the factors by which the gain was off, to either side; 1 is no error.
    pub median: f64,
    /// The factor within which nine cases in ten were.
    pub wide: f64,
    /// Cases in which the measured gain or loss was at least a tenth.
    pub decided: u32,
    /// Those of them in which the forecast was on the same side.
    pub right: u32,
}

impl GainError {
    /// What these cases come to; none of none.
    #[must_use]
    pub fn of(cases: &[Gain]) -> Option<Self> {
        let mut factors: Vec<f64> = cases
            .iter()
            .map(|gain| libm::exp(libm::log(gain.forecast / gain.measured).abs()))
            .filter(|factor| factor.is_finite())
            .collect();
        factors.sort_by(f64::total_cmp);
        let last = factors.len().checked_sub(1)?;
        let median = median(factors.iter().copied())?;
        let decides = |gain: &&Gain| gain.measured > DECIDED || gain.measured < 1.0 / DECIDED;
        let decided: Vec<&Gain> = cases.iter().filter(decides).collect();
        // No gain at all is on no side.
        let right = decided.iter().filter(|g| (g.measured - 1.0) * (g.forecast - 1.0) > 0.0);
        Some(Self {
            cases: factors.len() as u32,
            median,
            wide: factors[(last as f64 * WIDE).round() as usize],
            decided: decided.len() as u32,
            right: right.count() as u32,
        })
    }

    /// What was found of a lock; none of one that nobody published measurements of.
    #[must_use]
    pub fn published(lock: &str) -> Option<Self> {
        FOUND.lines().filter_map(row).find(|(name, _)| *name == lock).map(|(_, error)| error)
    }

    /// What was found of all locks together.
    ///
    /// # Panics
    /// Never: the file has that row.
    #[must_use]
    pub fn published_of_all() -> Self {
        Self::published(ALL).expect("the file has a row of all locks")
    }

    /// The file that holds these figures: of all locks together, and of each.
    #[must_use]
    pub fn file(all: &Self, by_lock: &[(&str, Self)]) -> String {
        let mut text = String::from(
            "# Gains over glibc's mutex on all nodes, forecast from profiles against published: see\n\
             # setting C of docs/fidelity.md. Written by `make fidelity`; do not edit.\n\
             # median, wide: factors that half and nine tenths of the cases are off by at most.\n\
             # decided: cases with a measured gain or loss of a tenth; right: forecast on its side.\n",
        );
        text.push_str(HEADER);
        for (name, error) in std::iter::once(&(ALL, *all)).chain(by_lock) {
            let Self { cases, median, wide, decided, right } = error;
            text.push_str(&format!("\n{name},{cases},{median:.3},{wide:.3},{decided},{right}"));
        }
        text + "\n"
    }
}

/// A line of the file; none if it is not one of figures.
fn row(line: &str) -> Option<(&str, GainError)> {
    let mut fields = line.split(',');
    let name = fields.next()?;
    let mut number = || fields.next()?.parse::<f64>().ok();
    let [cases, median, wide, decided, right] =
        [number()?, number()?, number()?, number()?, number()?];
    let count = |value: f64| value as u32;
    let (cases, decided, right) = (count(cases), count(decided), count(right));
    Some((name, GainError { cases, median, wide, decided, right }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gains(pairs: &[(f64, f64)]) -> Vec<Gain> {
        pairs.iter().map(|&(measured, forecast)| Gain { measured, forecast }).collect()
    }

    #[test]
    fn errors_are_factors_to_either_side() {
        let error = GainError::of(&gains(&[(1.0, 2.0), (2.0, 1.0), (3.0, 3.0)])).unwrap();
        assert_eq!((error.cases, error.median, error.wide), (3, 2.0, 2.0));
        assert_eq!(GainError::of(&[]), None);
    }

    #[test]
    fn directions_count_where_there_is_one() {
        let cases = gains(&[(1.05, 0.5), (1.5, 1.2), (1.5, 1.0), (0.5, 0.9), (0.95, 1.5)]);
        let error = GainError::of(&cases).unwrap();
        assert_eq!((error.decided, error.right), (3, 2));
    }

    #[test]
    fn the_file_says_what_was_put_into_it() {
        let one = GainError::of(&gains(&[(1.0, 2.0), (2.0, 3.0)])).unwrap();
        let text = GainError::file(&one, &[("mcs", one)]);
        let rows: Vec<(&str, GainError)> = text.lines().filter_map(row).collect();
        assert_eq!(rows.iter().map(|(name, _)| *name).collect::<Vec<_>>(), [ALL, "mcs"]);
        assert!((rows[1].1.median - one.median).abs() < 1e-3 && rows[1].1.cases == 2, "{text}");
    }

    #[test]
    fn the_published_file_is_whole() {
        let figures = FOUND.lines().filter(|line| !line.starts_with('#') && *line != HEADER);
        assert!(FOUND.contains(HEADER));
        let mut cases = 0;
        for line in figures {
            let (name, error) = row(line).unwrap_or_else(|| panic!("{line}"));
            assert!(error.median >= 1.0 && error.wide >= error.median, "{line}");
            assert!(error.right <= error.decided && error.decided <= error.cases, "{line}");
            if name != ALL {
                assert!(name.parse::<kilocore_locks::LockId>().is_ok(), "{name} is a lock");
                cases += error.cases;
            }
        }
        assert_eq!(GainError::published_of_all().cases, cases);
        assert_eq!(GainError::published("no-such-lock"), None);
    }
}
