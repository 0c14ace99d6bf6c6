//! How far forecast gains have been from measured ones.
//!
//! A recommendation rests on how one lock compares with another. Setting C of `docs/evidence/fidelity.md`
//! says how well that comparison is forecast: real programs were profiled on a small machine and
//! forecast for two large ones, on which others measured the same programs under many locks. The
//! errors lie in `data/gain-errors.csv`, which `kilocore-fidelity` writes together with that page.

use kilocore_figures::median;
use serde::Serialize;

/// The errors by lock. The lock `all` stands for all locks together.
const FOUND: &str = include_str!("../data/gain-errors.csv");
/// The line above the figures.
const HEADER: &str = "lock,cases,median,wide,decided,right";
/// The name of the row of all locks together.
const ALL: &str = "all";
/// A measured gain or loss smaller than this factor does not say which of the two locks is faster.
pub(crate) const DECIDED: f64 = 1.1;
/// The share of the cases that lie within [`GainError::wide`].
const WIDE: f64 = 0.9;

/// The throughput under a lock as a multiple of the throughput under the program's own lock.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gain {
    /// The ratio that others measured.
    pub measured: f64,
    /// The ratio that was forecast from a profile.
    pub forecast: f64,
}

impl Gain {
    /// Whether the measurement says which of the two locks is faster: the gain or loss is at least a tenth.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        self.measured > DECIDED || self.measured < 1.0 / DECIDED
    }

    /// Whether the forecast is on the side of the measurement. One of no gain at all is on neither.
    #[must_use]
    pub fn is_right(&self) -> bool {
        (self.measured - 1.0) * (self.forecast - 1.0) > 0.0
    }
}

/// How far forecast gains were from measured ones.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct GainError {
    /// Number of cases. A case is a program on a machine and, if several locks are taken together,
    /// under one of them.
    pub cases: u32,
    /// The median of the factors by which the forecast gain was too high or too low; 1 is no error.
    pub median: f64,
    /// Nine cases in ten were off by at most this factor.
    pub wide: f64,
    /// Number of cases in which the measured gain or loss was at least a tenth.
    pub decided: u32,
    /// Number of those in which the forecast was on the same side: a gain for a gain, a loss for a
    /// loss.
    pub right: u32,
}

impl GainError {
    /// Returns the error of these cases, or `None` if there are no cases.
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
        let decided: Vec<&Gain> = cases.iter().filter(|gain| gain.is_decided()).collect();
        let right = decided.iter().filter(|gain| gain.is_right());
        Some(Self {
            cases: factors.len() as u32,
            median,
            wide: factors[(last as f64 * WIDE).round() as usize],
            decided: decided.len() as u32,
            right: right.count() as u32,
        })
    }

    /// Returns the error of a lock, or `None` if nobody has published measurements of it.
    #[must_use]
    pub fn published(lock: &str) -> Option<Self> {
        FOUND.lines().filter_map(row).find(|(name, _)| *name == lock).map(|(_, error)| error)
    }

    /// Returns the error of all locks together.
    ///
    /// # Panics
    /// Never: the file has that row.
    #[must_use]
    pub fn published_of_all() -> Self {
        Self::published(ALL).expect("the file has a row of all locks")
    }

    /// Returns the text of the file that holds these figures: of all locks together, then of each.
    #[must_use]
    pub fn file(all: &Self, by_lock: &[(&str, Self)]) -> String {
        let mut text = String::from(
            "# Gains over glibc's mutex on all nodes, forecast from profiles against published: see\n\
             # setting C of docs/evidence/fidelity.md. Written by `make fidelity`; do not edit.\n\
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

/// Reads a line of the file, such as
///
/// ```text
/// mcs,30,1.694,3.443,21,11
/// ```
///
/// Returns `None` if the line holds no figures.
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
