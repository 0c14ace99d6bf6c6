//! The shape of a curve in words, with its figures.

use kilocore_figures::Shape;

use super::{Curve, FALLEN, On, Verdict, last_stretch, rises};
use crate::Variant;
use crate::words::{as_fast, number_of, rounded};

/// Its word at the beginning of a sentence.
pub(super) fn capital(shape: Shape) -> &'static str {
    match shape {
        Shape::Scales => "Scales",
        Shape::Flattens => "Flattens",
        Shape::Collapses => "Collapses",
    }
}

/// Times and numbers of cores, behind the word.
pub(super) fn figures(variant: &Variant, shape: Shape) -> String {
    let Some(curve) = Curve::of(variant, |report| Some(report.end_ns)) else {
        return String::new();
    };
    let times = curve.shown();
    let (first, last) = (curve.0[0], curve.last());
    let speedup = |on: On| first.ns / on.ns;
    let beside_first = |on: On| {
        format!("{} on {} as on {}", as_fast(speedup(on)), number_of(on.cores, "core"), first.cores)
    };
    let from_the_start = || format!(" from the start: {}", beside_first(last));
    let and_last = |before: On| {
        format!(": {}, and {} on {}", beside_first(before), rounded(speedup(last)), last.cores)
    };
    match shape {
        Shape::Scales => {
            let cores = number_of(last.cores, "core");
            format!("{cores}: {} as on {}", as_fast(speedup(last)), first.cores)
        }
        Shape::Collapses => {
            let before = &curve.0[..curve.0.len() - 1];
            match before.iter().enumerate().min_by(|(_, a), (_, b)| a.ns.total_cmp(&b.ns)) {
                Some((0, _)) | None => from_the_start(),
                Some((_, peak)) => and_last(*peak),
            }
        }
        Shape::Flattens => {
            let least = curve.0.iter().map(|on| on.ns).fold(f64::INFINITY, f64::min);
            // Where it is about as fast as it will be.
            let knee = curve.0.iter().position(|on| least >= FALLEN * on.ns).unwrap_or(0);
            let still = if rises(&times) { ", where it still rises" } else { "" };
            match knee {
                0 => from_the_start(),
                knee if knee + 1 < curve.0.len() => and_last(curve.0[knee]),
                _ => match last_stretch(&times) {
                    0 => format!(": {}{still}", beside_first(last)),
                    before => and_last(curve.0[before]) + still,
                },
            }
        }
    }
}

/// The verdict on a program under other locks, as a clause.
pub(super) fn clause(variant: &Variant) -> Option<String> {
    let Verdict::Shape(shape) = Verdict::of(variant) else { return None };
    let figures = figures(variant, shape);
    Some(match shape {
        Shape::Scales => format!("scales to {figures}"),
        Shape::Flattens | Shape::Collapses => format!("{}{figures}", shape.name()),
    })
}
