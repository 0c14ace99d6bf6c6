//! Miss-ratio curves: which share of a task's references to a cache misses, by how much of the cache
//! the task has.

use thiserror::Error;

use crate::occupancy::units::Bytes;

/// A miss-ratio curve: straight between its points, flat before the first and after the last. It
/// never rises.
#[derive(Debug, Clone, PartialEq)]
pub struct MissCurve {
    /// Bytes and ratio, by rising bytes.
    points: Vec<(f64, f64)>,
}

/// Why points make no miss-ratio curve.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum CurveError {
    /// There are no points.
    #[error("a miss-ratio curve needs at least one point")]
    Empty,
    /// A point is out of bounds.
    #[error(
        "point {at} of a miss-ratio curve is ({bytes}, {ratio}); bytes are finite and not negative, ratios from 0 to 1"
    )]
    Bounds {
        /// Which point, counted from 0.
        at: usize,
        /// The size of the cache, in bytes.
        bytes: f64,
        /// Its ratio of misses, which should be from 0 to 1.
        ratio: f64,
    },
    /// A point has no more bytes than the one before, or a higher ratio.
    #[error(
        "point {at} of a miss-ratio curve must have more bytes than the point before, and no higher ratio"
    )]
    Order {
        /// Which point, counted from 0.
        at: usize,
    },
}

impl MissCurve {
    /// The curve through these points: bytes that the task has of the cache, and the share of its
    /// references that miss then.
    ///
    /// # Errors
    /// If there are no points, one is out of bounds, or they are out of order.
    pub fn new(points: &[(f64, f64)]) -> Result<Self, CurveError> {
        if points.is_empty() {
            return Err(CurveError::Empty);
        }
        for (at, &(bytes, ratio)) in points.iter().enumerate() {
            if !bytes.is_finite() || bytes < 0.0 || !(0.0..=1.0).contains(&ratio) {
                return Err(CurveError::Bounds { at, bytes, ratio });
            }
            if at > 0 && (bytes <= points[at - 1].0 || ratio > points[at - 1].1) {
                return Err(CurveError::Order { at });
            }
        }
        Ok(Self { points: points.to_vec() })
    }

    /// The share of references that miss with so many bytes.
    #[must_use]
    pub fn at(&self, bytes: Bytes) -> f64 {
        let bytes = bytes.0;
        let mut before = self.points[0];
        if bytes <= before.0 {
            return before.1;
        }
        for &after in &self.points[1..] {
            if bytes < after.0 {
                let share = (bytes - before.0) / (after.0 - before.0);
                return before.1 + share * (after.1 - before.1);
            }
            before = after;
        }
        before.1
    }
}

impl MissCurve {
    /// The mean of curves with these shares, which add up to 1: with each curve's own corners.
    pub(crate) fn mean(curves: &[(f64, &Self)]) -> Self {
        let mut corners: Vec<f64> =
            curves.iter().flat_map(|(_, curve)| curve.points.iter().map(|point| point.0)).collect();
        corners.sort_by(f64::total_cmp);
        corners.dedup();
        let at = |bytes: f64| {
            let sum: f64 = curves.iter().map(|(share, curve)| share * curve.at(Bytes(bytes))).sum();
            (bytes, sum.min(1.0))
        };
        Self { points: corners.into_iter().map(at).collect() }
    }
}
