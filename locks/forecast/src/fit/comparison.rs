//! Measured variants of a program beside each other: the law of each, its peak, and which is best on how
//! many cores. For this, no variant need be a lock that is known, and nothing is simulated.

use kilocore_figures::usl::{self, Law};
use kilocore_figures::{Curve, Judged, Provenance, Shape, misfit};
use serde::Serialize;
use thiserror::Error;

use crate::fit::{LeftOut, MeasuredTable, Variant};

/// What was measured of variants, and what follows without knowing what they are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The format of the document.
    pub schema: &'static str,
    /// Where the points come from.
    pub provenance: Provenance,
    /// What was measured.
    pub points: Vec<ComparedPoint>,
    /// Each variant, in the order of the input.
    pub variants: Vec<ComparedVariant>,
    /// The best variant on each number of cores on which several were measured.
    pub best: Vec<Best>,
    /// What was taken to be so though the input does not say it.
    pub assumed: Vec<String>,
    /// What of the input was left out.
    pub left_out: Vec<LeftOut>,
}

/// What was measured of a variant on a number of cores.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedPoint {
    /// The name of the variant.
    pub variant: String,
    /// Cores, each with one thread.
    pub cores: u32,
    /// The throughput, in the unit of the measurements.
    pub throughput: f64,
    /// What the variant's law says there, if it has one.
    pub by_law: Option<f64>,
}

/// A variant as a whole.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedVariant {
    /// The name in the input.
    pub variant: String,
    /// The lock that it is, if it is one that is known.
    pub lock: Option<&'static str>,
    /// What its curve does.
    pub shape: Shape,
    /// The highest measured throughput.
    pub peak: f64,
    /// Cores at that throughput.
    pub peak_cores: u32,
    /// The universal scalability law; none if it was measured on one number of cores. If κ is 0, it is
    /// Amdahl's law, and σ the serial share.
    pub law: Option<FittedLaw>,
}

/// A law, and what it says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FittedLaw {
    /// Its parameters.
    #[serde(flatten)]
    pub law: Law,
    /// The number of cores with the highest throughput; none if there is no end to the rise.
    pub peak_cores: Option<f64>,
    /// The root mean square of how far it is from what was measured, as a share of that.
    pub misfit: f64,
    /// The throughput by it on each number of cores that is asked for.
    pub points: Vec<LawPoint>,
}

/// A point of a law.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LawPoint {
    /// The number of cores.
    pub cores: u32,
    /// Throughput in the unit of the measurements.
    pub throughput: f64,
}

/// The best of several variants on a number of cores.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Best {
    /// The number of cores.
    pub cores: u32,
    /// The variant with the highest throughput.
    pub variant: String,
    /// That throughput.
    pub throughput: f64,
    /// The variant with the next highest.
    pub next: String,
    /// The best throughput as a multiple of the next.
    pub gain: f64,
}

/// Measurements of which nothing follows: one variant, on one number of cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "all points were measured on {cores} core{s}, which does not tell what more or fewer would do \
     (give at least two numbers of cores, or several variants)", s = if *.cores == 1 { "" } else { "s" }
)]
pub struct NothingToCompare {
    /// That number of cores.
    pub cores: u32,
}

impl Comparison {
    /// Compares the variants of a table, and says what the law of each forecasts on `cores`.
    ///
    /// # Errors
    /// [`NothingToCompare`] if there is one variant on one number of cores.
    pub fn new(table: &MeasuredTable, cores: &[u32]) -> Result<Self, NothingToCompare> {
        if let [only] = table.variants.as_slice()
            && let [point] = only.points.as_slice()
        {
            return Err(NothingToCompare { cores: point.cores });
        }
        let variants: Vec<ComparedVariant> =
            table.variants.iter().map(|variant| compared(variant, cores)).collect();
        let mut points = Vec::new();
        for (variant, compared) in table.variants.iter().zip(&variants) {
            let law = compared.law.as_ref().map(|fitted| fitted.law);
            points.extend(variant.points.iter().map(|point| ComparedPoint {
                variant: variant.name.clone(),
                cores: point.cores,
                throughput: point.throughput,
                by_law: law.map(|law| law.at(f64::from(point.cores))),
            }));
        }
        Ok(Self {
            schema: "kilocore-comparison/1",
            provenance: table.provenance,
            best: best(&points),
            points,
            variants,
            assumed: table.assumed.clone(),
            left_out: table.left_out.clone(),
        })
    }
}

fn compared(variant: &Variant, cores: &[u32]) -> ComparedVariant {
    let curve = Curve::new(variant.points.clone(), Judged::BY_LAST_CORES);
    let points: Vec<(f64, f64)> =
        variant.points.iter().map(|point| (f64::from(point.cores), point.throughput)).collect();
    let fitted = |law: Law| FittedLaw {
        law,
        peak_cores: law.peak(),
        misfit: misfit(&points, |cores| law.at(cores)),
        points: cores
            .iter()
            .map(|&cores| LawPoint { cores, throughput: law.at(f64::from(cores)) })
            .collect(),
    };
    ComparedVariant {
        variant: variant.name.clone(),
        lock: variant.lock.map(|lock| lock.name()),
        shape: curve.shape,
        peak: curve.peak,
        peak_cores: curve.peak_cores,
        law: usl::fit(&points).map(fitted),
    }
}

/// The best variant on each number of cores on which several were measured.
fn best(points: &[ComparedPoint]) -> Vec<Best> {
    let mut sorted: Vec<&ComparedPoint> = points.iter().collect();
    sorted.sort_by(|a, b| a.cores.cmp(&b.cores).then(b.throughput.total_cmp(&a.throughput)));
    let of = |on: &[&ComparedPoint]| match on {
        [first, second, ..] => Some(Best {
            cores: first.cores,
            variant: first.variant.clone(),
            throughput: first.throughput,
            next: second.variant.clone(),
            gain: first.throughput / second.throughput,
        }),
        _ => None,
    };
    sorted.chunk_by(|a, b| a.cores == b.cores).filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::Comparison;
    use crate::fit::MeasuredTable;

    fn compare(text: &str) -> Result<Comparison, String> {
        let table = MeasuredTable::parse(text.as_bytes()).expect("a table");
        Comparison::new(&table, &[1, 16]).map_err(|error| error.to_string())
    }

    #[test]
    fn the_best_changes_with_the_cores() {
        let text = "threads,a,b\n1,10,8\n2,15,14\n4,12,24\n8,6,\n";
        let compared = compare(text).expect("a comparison");
        let best: Vec<(u32, &str, &str)> =
            compared.best.iter().map(|on| (on.cores, &*on.variant, &*on.next)).collect();
        assert_eq!(best, [(1, "a", "b"), (2, "a", "b"), (4, "b", "a")]);
        assert_eq!(compared.best[2].gain, 2.0);
        assert_eq!((compared.variants[0].peak, compared.variants[0].peak_cores), (15.0, 2));
    }

    #[test]
    fn a_program_that_follows_a_law_gets_it_back() {
        let at = |n: f64| 100.0 * n / (1.0 + 0.1 * (n - 1.0) + 0.01 * n * (n - 1.0));
        let rows: String = [1, 2, 4, 8, 12].map(|n| format!("{n},{}\n", at(f64::from(n)))).concat();
        let compared = compare(&format!("threads,ops/s\n{rows}")).expect("a comparison");
        let fitted = compared.variants[0].law.as_ref().expect("a law");
        assert!((fitted.law.sigma - 0.1).abs() < 1e-6, "{fitted:?}");
        assert!((fitted.law.kappa - 0.01).abs() < 1e-6 && fitted.misfit < 1e-6, "{fitted:?}");
        assert!((fitted.points[1].throughput / at(16.0) - 1.0).abs() < 1e-6, "{fitted:?}");
        assert_eq!(compared.best, []);
    }

    #[test]
    fn of_one_point_nothing_follows() {
        let error = compare("threads,ops/s\n4,5\n4,6\n").expect_err("one point");
        assert!(error.contains("on 4 cores,") && error.contains("two numbers of cores"), "{error}");
        assert_eq!(compare("threads,a,b\n4,5,6\n").expect("two variants").best[0].variant, "b");
    }
}
