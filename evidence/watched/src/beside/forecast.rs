//! What `kilocore forecast --json` says, as far as two forecasts are compared.
//!
//! A forecast counts sections of all locks in a profile, and a watched profile has fewer locks. So
//! curves are compared as speedups: throughput as a multiple of what the same lock gives on the
//! fewest cores, under every lock that both have. Two forecasts do not contradict each other if their
//! bands overlap at every number of cores. A wide band contradicts little, so a second rule is
//! stricter: the curve of the one has to be in the band of the other.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::score::Count;

/// A point of a curve: a throughput and its band.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Point {
    /// On how many cores.
    pub cores: u32,
    /// Critical sections a second, of all threads together.
    pub throughput_per_s: f64,
    /// The lower end of the band.
    pub low: f64,
    /// The upper end of the band.
    pub high: f64,
}

/// Throughput as a multiple of that on the fewest cores, and its band.
struct Speedup {
    middle: f64,
    low: f64,
    high: f64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Curve {
    lock: String,
    points: Vec<Point>,
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
struct Recommendation {
    verdict: String,
    #[serde(default)]
    lock: Option<String>,
    #[serde(default)]
    rwlock: Option<String>,
}

/// The parts of the document that are compared.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
struct Document {
    #[serde(default)]
    curves: Vec<Curve>,
    recommendation: Recommendation,
}

/// The JSON document that `kilocore forecast` prints, as far as two of them are compared.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Forecast(Document);

/// What `forecast` printed is no forecast.
#[derive(Debug, thiserror::Error)]
#[error("the forecast cannot be read: {0}")]
pub struct UnreadableForecast(#[from] serde_json::Error);

impl Forecast {
    /// Reads what `kilocore forecast --json` prints.
    ///
    /// # Errors
    /// If it is something else.
    pub fn read(text: &str) -> Result<Self, UnreadableForecast> {
        Ok(Self(serde_json::from_str(text)?))
    }

    /// That of a profile without locks, which has no curves.
    #[must_use]
    pub fn without_locks() -> Self {
        let verdict = "no lock seen".to_owned();
        let recommendation = Recommendation { verdict, ..Recommendation::default() };
        Self(Document { recommendation, ..Document::default() })
    }

    /// The verdict, and the locks that are recommended.
    #[must_use]
    pub fn advice(&self) -> String {
        let Recommendation { verdict, lock, rwlock } = &self.0.recommendation;
        let locks: Vec<&str> = [lock, rwlock].into_iter().flatten().map(String::as_str).collect();
        if locks.is_empty() { verdict.clone() } else { format!("{verdict}: {}", locks.join(", ")) }
    }

    /// Whether the bands of two forecasts overlap everywhere. None if one of them has no curves.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> Option<bool> {
        self.everywhere(other, |one, other| one.low <= other.high && other.low <= one.high)
    }

    /// Whether the curves of another forecast are within the bands of this one everywhere. None if
    /// one of them has no curves.
    #[must_use]
    pub fn holds(&self, other: &Self) -> Option<bool> {
        self.everywhere(other, |one, other| (one.low..=one.high).contains(&other.middle))
    }

    fn everywhere(&self, other: &Self, so: impl Fn(&Speedup, &Speedup) -> bool) -> Option<bool> {
        let (mine, others) = (self.speedups(), other.speedups());
        let mut both = mine.iter().filter_map(|(at, one)| Some((one, others.get(at)?))).peekable();
        both.peek()?;
        Some(both.all(|(one, other)| so(one, other)))
    }

    /// Speedups by lock and cores.
    fn speedups(&self) -> BTreeMap<(&str, u32), Speedup> {
        let mut speedups = BTreeMap::new();
        for curve in &self.0.curves {
            let Some(first) = curve.points.iter().min_by_key(|point| point.cores) else { continue };
            let one = first.throughput_per_s;
            let others = curve.points.iter().filter(|point| point.cores != first.cores);
            for point in others.filter(|_| one > 0.0) {
                let [middle, low, high] =
                    [point.throughput_per_s, point.low, point.high].map(|rate| rate / one);
                speedups.insert((curve.lock.as_str(), point.cores), Speedup { middle, low, high });
            }
        }
        speedups
    }
}

/// How far the forecasts from two recorders' profiles agree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Agreement {
    /// Whether the bands of a watched profile's forecast overlap with those of the preload
    /// recorder's in the run next to it. Runs without a curve do not count.
    pub overlap: Count,
    /// The same of two runs under the preload recorder.
    pub noise: Count,
    /// Whether a watched profile's curves are within the bands of the preload recorder's; the same
    /// of two preload runs.
    pub inside: Count,
    /// As `inside`, of two runs under the preload recorder: noise.
    pub inside_noise: Count,
    /// Whether verdict and recommended locks are the same; the same of two preload runs.
    pub same_advice: Count,
    /// As `same_advice`, of two runs under the preload recorder: noise.
    pub same_noise: Count,
    /// What was advised, and how often, by either.
    pub preload: BTreeMap<String, u64>,
    /// As `preload`, of the watched profiles.
    pub watch: BTreeMap<String, u64>,
}

impl Agreement {
    /// Compares forecasts from the preload recorder's profiles with those of watched ones.
    #[must_use]
    pub fn of(pairs: &[(&Forecast, &Forecast)]) -> Self {
        let mut agreement = Self::default();
        for (preload, watch) in pairs {
            if let Some(overlap) = preload.overlaps(watch) {
                agreement.overlap.add(overlap);
            }
            if let Some(inside) = preload.holds(watch) {
                agreement.inside.add(inside);
            }
            let [one, other] = [preload.advice(), watch.advice()];
            agreement.same_advice.add(one == other);
            *agreement.preload.entry(one).or_default() += 1;
            *agreement.watch.entry(other).or_default() += 1;
        }
        for two in pairs.windows(2) {
            let [(before, _), (after, _)] = two else { continue };
            if let Some(overlap) = before.overlaps(after) {
                agreement.noise.add(overlap);
            }
            if let Some(inside) = before.holds(after) {
                agreement.inside_noise.add(inside);
            }
            agreement.same_noise.add(before.advice() == after.advice());
        }
        agreement
    }
}
