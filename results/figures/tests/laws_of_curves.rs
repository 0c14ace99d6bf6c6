//! What holds of every curve.

use kilocore_figures::{Contenders, Curve, Judged, Shape, gustafson, lower_median, median, usl};
use proptest::prelude::*;

/// Points by ascending cores.
fn points() -> impl Strategy<Value = Vec<(u32, f64)>> {
    prop::collection::btree_map(1_u32..256, 1e-3_f64..1e6, 1..12)
        .prop_map(|points| points.into_iter().collect())
}

fn judged() -> impl Strategy<Value = Judged<'static>> {
    prop_oneof![
        Just(Judged::BY_LAST_CORES),
        Just(Judged::ByLastStretch { worth: &|threads| f64::from(threads).sqrt() }),
        Just(Judged::ByOneCore),
    ]
}

proptest! {
    #[test]
    fn the_peak_is_a_point_and_none_is_above(points in points(), judged in judged()) {
        let curve = Curve::new(points.clone(), judged);
        prop_assert!(points.contains(&(curve.peak_cores, curve.peak)));
        prop_assert!(points.iter().all(|point| point.1 <= curve.peak));
        prop_assert!((0.0..=1.0).contains(&curve.end_share));
    }

    #[test]
    fn a_curve_falls_beyond_its_peak_or_not_at_all(points in points(), judged in judged()) {
        let curve = Curve::new(points.clone(), judged);
        let beyond = points.iter().filter(|point| point.0 > curve.peak_cores);
        let fallen: Vec<u32> =
            beyond.filter(|p| p.1 < 0.9 * curve.peak).map(|point| point.0).collect();
        prop_assert_eq!(curve.collapse_cores, fallen.first().copied());
        if curve.shape == Shape::Collapses {
            prop_assert!(curve.collapse_cores.is_some());
        }
    }

    /// Powers of two change no digit of a throughput.
    #[test]
    fn the_unit_changes_nothing(points in points(), judged in judged(), power in -20_i32..20) {
        let unit = 2.0_f64.powi(power);
        let scaled = points.iter().map(|&(cores, rate)| (cores, rate * unit)).collect();
        let (one, other) = (Curve::new(points, judged), Curve::new(scaled, judged));
        prop_assert_eq!(one.shape, other.shape);
        prop_assert_eq!(one.peak_cores, other.peak_cores);
        prop_assert_eq!(one.collapse_cores, other.collapse_cores);
        prop_assert_eq!(one.end_share, other.end_share);
        prop_assert_eq!(one.peak * unit, other.peak);
    }

    #[test]
    fn what_never_falls_does_not_collapse(points in points(), judged in judged()) {
        let mut rates: Vec<f64> = points.iter().map(|point| point.1).collect();
        rates.sort_by(f64::total_cmp);
        let rising: Vec<(u32, f64)> = points.iter().map(|point| point.0).zip(rates).collect();
        prop_assert!(Shape::of(&rising, judged) != Shape::Collapses);
    }

    #[test]
    fn linear_scaling_scales_by_either_judgement(cores in prop::collection::btree_set(1_u32..256, 1..12)) {
        let points: Vec<(u32, f64)> = cores.iter().map(|&n| (n, 3.0 * f64::from(n))).collect();
        for judged in [Judged::BY_LAST_CORES, Judged::ByOneCore] {
            prop_assert_eq!(Shape::of(&points, judged), Shape::Scales);
        }
    }

    #[test]
    fn whatever_is_preferred_is_as_good(
        ends in prop::collection::vec(1e-3_f64..1e6, 1..20),
        within in 1.0_f64..2.0,
    ) {
        let contenders = Contenders::among(&ends, |end| *end, within).unwrap();
        let highest = *contenders.highest();
        prop_assert!(ends.iter().all(|end| *end <= highest));
        let lowest = *contenders.preferred(f64::total_cmp).unwrap();
        prop_assert!(lowest * within >= highest);
        let left_out = ends.iter().filter(|end| **end < lowest);
        prop_assert!(left_out.into_iter().all(|end| end * within < highest));
    }

    #[test]
    fn medians_do_not_depend_on_order_and_halve_the_values(
        mut values in prop::collection::vec(-1e6_f64..1e6, 1..20),
    ) {
        let (middle, lower) = (median(values.clone()), lower_median(values.clone()));
        values.reverse();
        prop_assert_eq!((median(values.clone()), lower_median(values.clone())), (middle, lower));
        let (middle, lower) = (middle.unwrap(), lower.unwrap());
        prop_assert!(lower <= middle && values.contains(&lower));
        let below = values.iter().filter(|value| **value < middle).count();
        let above = values.iter().filter(|value| **value > middle).count();
        prop_assert!(2 * below <= values.len() && 2 * above <= values.len());
    }

    #[test]
    fn laws_stay_within_their_bounds(points in points()) {
        let points: Vec<(f64, f64)> =
            points.into_iter().map(|(cores, rate)| (f64::from(cores), rate)).collect();
        match usl::fit(&points) {
            None => prop_assert!(points.len() < 2),
            Some(law) => {
                prop_assert!(law.lambda > 0.0 && law.sigma >= 0.0 && law.kappa >= 0.0);
                prop_assert!(law.peak().is_none_or(|peak| peak >= 1.0));
            }
        }
        if points.iter().any(|point| point.0 > 1.0) {
            prop_assert!((0.0..=1.0).contains(&gustafson::fit(&points).serial));
        }
    }
}
