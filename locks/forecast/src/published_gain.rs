//! How locks did against glibc's mutex in published measurements of other programs.
//!
//! A forecast of one program errs. That a lock has hardly ever done better than glibc's mutex, or nearly always
//! has, in measurements of real programs whose throughput does the same, is evidence beside it. The figures lie
//! in `data/published-gains.csv`, which `kilocore-fidelity` computes from the measurements in `data/litl`: all
//! cores of machines with 48 cores on several nodes, against glibc's mutex there, of programs to which the choice
//! of a lock matters.

use kilocore_figures::Shape;
use serde::Serialize;

use crate::gain_error::DECIDED;

/// The figures by lock, and by what throughput does under glibc's mutex.
const FOUND: &str = include_str!("../data/published-gains.csv");
/// The line above the figures.
const HEADER: &str = "lock,today,cases,middle,spread,gained,lost";
/// Fewer cases say nothing.
const LEAST_CASES: usize = 5;
/// What throughput became under a lock, as multiples of that under glibc's mutex, in published measurements of
/// programs whose throughput does the same under glibc's, and is more than a tenth higher under the best lock than
/// under the worst.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PublishedGain {
    /// The number of cases. A case is a program on a machine, under a variant of the lock.
    pub cases: u32,
    /// The geometric mean of the multiples.
    pub middle: f64,
    /// Their geometric standard deviation, a factor of at least 1.1.
    pub spread: f64,
    /// The number of cases with a gain of more than a tenth.
    pub gained: u32,
    /// The number of cases with a loss of more than a tenth.
    pub lost: u32,
}

impl PublishedGain {
    /// Sums up the multiples of all cases; `None` if there are fewer than five.
    #[must_use]
    pub fn of(gains: &[f64]) -> Option<Self> {
        if gains.len() < LEAST_CASES {
            return None;
        }
        let logs: Vec<f64> = gains.iter().map(|gain| libm::log(*gain)).collect();
        let middle = logs.iter().sum::<f64>() / logs.len() as f64;
        let squares = logs.iter().map(|log| (log - middle) * (log - middle)).sum::<f64>();
        let spread = libm::sqrt(squares / (logs.len() - 1) as f64);
        let count = |is: fn(f64) -> bool| gains.iter().filter(|gain| is(**gain)).count() as u32;
        Some(Self {
            cases: gains.len() as u32,
            middle: libm::exp(middle),
            // Measured gains differ by as much without a cause.
            spread: libm::exp(spread).max(DECIDED),
            gained: count(|gain| gain > DECIDED),
            lost: count(|gain| gain < 1.0 / DECIDED),
        })
    }

    /// Returns how a lock did with programs whose throughput does this under glibc's mutex, or `None` if
    /// fewer than five cases are published.
    #[must_use]
    pub fn found(lock: &str, today: Shape) -> Option<Self> {
        let mut rows = FOUND.lines().filter_map(row);
        rows.find(|(of, shape, _)| *of == lock && *shape == today.name()).map(|(_, _, gain)| gain)
    }

    /// Returns the text of the file that holds these figures.
    #[must_use]
    pub fn file(rows: &[(&str, Shape, Self)]) -> String {
        let mut text = String::from(
            "# Throughput under locks as multiples of that under glibc's mutex, on all cores, in the published\n\
             # measurements of data/litl, of programs to which locks matter. Written by `make fidelity`; do not edit.\n\
             # today: what throughput does under glibc's mutex. middle, spread: geometric mean and standard\n\
             # deviation. gained, lost: cases with a gain or loss of more than a tenth.\n",
        );
        text.push_str(HEADER);
        for (lock, today, gain) in rows {
            let Self { cases, middle, spread, gained, lost } = gain;
            let today = today.name();
            text.push_str(&format!(
                "\n{lock},{today},{cases},{middle:.3},{spread:.3},{gained},{lost}"
            ));
        }
        text + "\n"
    }
}

/// Reads a line of the file, such as
///
/// ```text
/// mcs,collapses,38,1.290,1.840,21,9
/// ```
///
/// Returns `None` if the line holds no figures.
fn row(line: &str) -> Option<(&str, &str, PublishedGain)> {
    let fields: Vec<&str> = line.split(',').collect();
    let &[lock, today, cases, middle, spread, gained, lost] = fields.as_slice() else {
        return None;
    };
    let count = |field: &str| field.parse::<u32>().ok();
    let factor = |field: &str| field.parse::<f64>().ok();
    let gain = PublishedGain {
        cases: count(cases)?,
        middle: factor(middle)?,
        spread: factor(spread)?,
        gained: count(gained)?,
        lost: count(lost)?,
    };
    Some((lock, today, gain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_and_losses_of_the_same_factor_cancel_out() {
        let gain = PublishedGain::of(&[2.0, 0.5, 2.0, 0.5, 1.0, 1.05]).unwrap();
        assert!((gain.middle - libm::pow(1.05, 1.0 / 6.0)).abs() < 1e-9, "{gain:?}");
        assert_eq!((gain.cases, gain.gained, gain.lost), (6, 2, 2));
        let logs: f64 = 2.0 * 2.0 * libm::pow(libm::log(2.0), 2.0) / 5.0;
        assert!((libm::log(gain.spread) - libm::sqrt(logs)).abs() < 0.01, "{gain:?}");
        assert_eq!(PublishedGain::of(&[1.0; 6]).unwrap().spread, DECIDED);
        assert_eq!(PublishedGain::of(&[2.0; 4]), None);
    }

    #[test]
    fn the_file_says_what_was_put_into_it() {
        let one = PublishedGain::of(&[2.0, 3.0, 4.0, 0.5, 1.0]).unwrap();
        let text = PublishedGain::file(&[("mcs", Shape::Collapses, one)]);
        let rows: Vec<_> = text.lines().filter_map(row).collect();
        let [(lock, today, read)] = rows[..] else { panic!("{text}") };
        assert_eq!(
            (lock, today, read.cases, read.gained, read.lost),
            ("mcs", "collapses", 5, 3, 1)
        );
        assert!((read.middle - one.middle).abs() < 1e-3 && (read.spread - one.spread).abs() < 1e-3);
    }

    #[test]
    fn the_kept_file_is_whole() {
        assert!(FOUND.contains(HEADER));
        let figures = FOUND.lines().filter(|line| !line.starts_with('#') && *line != HEADER);
        for line in figures {
            let (lock, _, gain) = row(line).unwrap_or_else(|| panic!("{line}"));
            assert!(lock.parse::<kilocore_locks::LockId>().is_ok(), "{lock} is a lock");
            assert!(gain.gained + gain.lost <= gain.cases && gain.spread >= DECIDED, "{line}");
            assert!(gain.cases as usize >= LEAST_CASES && gain.middle > 0.0, "{line}");
        }
        let mcs = |today| PublishedGain::found("mcs", today).map(|gain| gain.middle > 1.0);
        assert_eq!(mcs(Shape::Collapses), Some(true));
        assert_eq!(mcs(Shape::Scales), Some(false));
        assert_eq!(PublishedGain::found("no-such-lock", Shape::Scales), None);
    }
}
