//! A curve and what is to be said of it as a whole.

use serde::Serialize;

use crate::collapse::first_fallen;
use crate::{CurvePoint, Judged, Shape};

/// Throughput against cores, and what it does as a whole.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve<P> {
    /// What the curve does.
    pub shape: Shape,
    /// Cores at the highest throughput.
    pub peak_cores: u32,
    /// The highest throughput, in the unit of the points. It has the name of the forecasts' unit in
    /// files: other curves are not written there.
    #[serde(rename = "peak_per_s")]
    pub peak: f64,
    /// The first number of cores beyond the peak at which a tenth of it is lost, beyond noise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collapse_cores: Option<u32>,
    /// Throughput at the largest number of cores, as a share of the peak.
    pub end_share: f64,
    /// The points, by ascending number of cores.
    pub points: Vec<P>,
}

impl<P: CurvePoint> Curve<P> {
    /// The curve through the given points, which are sorted by cores.
    ///
    /// # Panics
    /// If there are no points.
    #[must_use]
    pub fn new(points: Vec<P>, judged: Judged<'_>) -> Self {
        let Outline { shape, peak_cores, peak, collapse_cores, end_share } =
            Outline::of(&points, judged);
        Self { shape, peak_cores, peak, collapse_cores, end_share, points }
    }
}

impl<P> Curve<P> {
    /// The point at the largest number of cores.
    ///
    /// # Panics
    /// Never: a curve has points.
    #[must_use]
    pub fn end(&self) -> &P {
        self.points.last().expect("a curve has points")
    }
}

/// A curve without its points.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outline {
    pub(crate) shape: Shape,
    peak_cores: u32,
    peak: f64,
    collapse_cores: Option<u32>,
    end_share: f64,
}

impl Outline {
    pub(crate) fn of<P: CurvePoint>(points: &[P], judged: Judged<'_>) -> Self {
        let peak = points
            .iter()
            .max_by(|a, b| a.throughput().total_cmp(&b.throughput()))
            .expect("a curve has points");
        let last = points.last().expect("a curve has points");
        let end_share = last.throughput() / peak.throughput();
        let collapse_cores = first_fallen(points, peak);
        let fallen = judged.fallen(last.throughput(), peak.throughput(), collapse_cores.is_some());
        Self {
            shape: Shape::by_rule(fallen, judged.rises(points)),
            peak_cores: peak.cores(),
            peak: peak.throughput(),
            collapse_cores,
            end_share,
        }
    }
}

impl Shape {
    /// The shape of a curve through these points, by ascending number of cores.
    ///
    /// # Panics
    /// If there are no points.
    #[must_use]
    pub fn of<P: CurvePoint>(points: &[P], judged: Judged<'_>) -> Self {
        Outline::of(points, judged).shape
    }
}

#[cfg(test)]
mod tests {
    use super::Curve;
    use crate::{CurvePoint, Judged, Shape};

    #[test]
    fn a_fall_is_a_collapse_and_has_a_beginning() {
        let points = vec![(1, 1.0), (8, 6.0), (16, 5.8), (32, 4.0), (64, 2.0)];
        let fall = Curve::new(points, Judged::BY_LAST_CORES);
        assert_eq!(fall.shape, Shape::Collapses);
        assert_eq!((fall.peak_cores, fall.peak, fall.collapse_cores), (8, 6.0, Some(32)));
        assert!((fall.end_share - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(*fall.end(), (64, 2.0));
    }

    /// A point that may be a tenth higher or lower.
    struct Noisy(u32, f64);

    impl CurvePoint for Noisy {
        fn cores(&self) -> u32 {
            self.0
        }

        fn throughput(&self) -> f64 {
            self.1
        }

        fn interval(&self) -> (f64, f64) {
            (self.1 * 0.9, self.1 * 1.1)
        }
    }

    #[test]
    fn a_fall_within_the_noise_is_none() {
        let falls_to = |end| {
            let points = vec![Noisy(1, 1.0), Noisy(8, 8.0), Noisy(16, end)];
            let curve = Curve::new(points, Judged::ByOneCore);
            (curve.shape, curve.collapse_cores)
        };
        assert_eq!(falls_to(7.0), (Shape::Flattens, None));
        assert_eq!(falls_to(6.0), (Shape::Collapses, Some(16)));
    }

    #[test]
    fn a_file_has_all_that_is_said_of_a_curve_before_its_points() {
        let curve = Curve::new(vec![(1, 1.0), (2, 2.0)], Judged::BY_LAST_CORES);
        let text = serde_json::to_string(&curve).unwrap();
        let expected = "{\"shape\":\"scales\",\"peak_cores\":2,\"peak_per_s\":2.0,\
                        \"end_share\":1.0,\"points\":[[1,1.0],[2,2.0]]}";
        assert_eq!(text, expected);
    }
}
