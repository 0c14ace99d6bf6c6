//! Where a curve falls below its peak.

use crate::CurvePoint;

/// The share of the peak below which a curve has fallen.
const FALLEN: f64 = 0.9;

/// The first number of cores beyond the peak at which a tenth of the peak is lost, and surely so:
/// the intervals of that point and of the peak do not meet.
pub(crate) fn first_fallen<P: CurvePoint>(points: &[P], peak: &P) -> Option<u32> {
    let fallen = |point: &&P| {
        point.cores() > peak.cores()
            && point.throughput() < FALLEN * peak.throughput()
            && point.interval().1 < peak.interval().0
    };
    points.iter().find(fallen).map(CurvePoint::cores)
}

/// The cores at which a curve of cores and throughputs loses a tenth of its peak for good, on
/// straight lines between its points; none if it does not.
///
/// Two curves that are measured on the same few numbers of cores often fall between the same two.
/// This tells them apart, and it does not take a dip for a collapse.
///
/// ```
/// use kilocore_figures::lasting_collapse;
///
/// // Of the peak of 10, a tenth is lost at 9, a quarter of the way from 10 down to 6.
/// assert_eq!(lasting_collapse(&[(1.0, 5.0), (2.0, 10.0), (4.0, 6.0)]), Some(2.5));
/// assert_eq!(lasting_collapse(&[(1.0, 10.0), (2.0, 5.0), (4.0, 9.5)]), None);
/// ```
#[must_use]
pub fn lasting_collapse(curve: &[(f64, f64)]) -> Option<f64> {
    let bound = FALLEN * curve.iter().map(|p| p.1).fold(0.0, f64::max);
    let last_above = curve.iter().rposition(|p| p.1 >= bound)?;
    let (&above, &below) = (curve.get(last_above)?, curve.get(last_above + 1)?);
    Some(above.0 + (below.0 - above.0) * (above.1 - bound) / (above.1 - below.1))
}

#[cfg(test)]
mod tests {
    use super::lasting_collapse;

    #[test]
    fn a_collapse_is_where_the_curve_falls_for_good() {
        // Below 9 between 2 and 4, where the straight line falls by 2 for each core.
        let falls = [(1.0, 5.0), (2.0, 10.0), (4.0, 6.0), (8.0, 8.0)];
        assert_eq!(lasting_collapse(&falls), Some(2.5));
        let recovers = [(1.0, 10.0), (2.0, 5.0), (4.0, 9.5)];
        assert_eq!(lasting_collapse(&recovers), None);
        assert_eq!(lasting_collapse(&[(1.0, 1.0), (2.0, 2.0)]), None);
        assert_eq!(lasting_collapse(&[]), None);
    }
}
