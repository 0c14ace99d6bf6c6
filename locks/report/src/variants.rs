//! Measured variants beside each other, as they are shown: a page, a chart, rows, tables.

use kilocore_forecast::fit::{ComparedPoint, ComparedVariant, Comparison, FittedLaw};
use kilocore_show::{
    About, Across, Generated, Host, Line, Lines, Mark, Points, Study, Table, Unit, number,
};
use serde::Serialize;

use crate::fit_words::both_names;

/// A comparison of measured variants, and by whom it was made.
#[derive(Debug, Clone)]
pub struct VariantsReport<'a> {
    /// By whom, how and when.
    pub generated: Generated,
    /// What is shown.
    pub comparison: &'a Comparison,
}

/// So many points a law is drawn with.
const STEPS: u32 = 128;
/// The most variants whose laws are drawn beside what was measured.
const MOST_LAWS: usize = 4;

impl Study for VariantsReport<'_> {
    fn about(&self) -> About {
        About {
            generated: self.generated.clone(),
            kind: "Measured throughputs",
            title: format!("How the {} variants scale with cores", from(self.comparison)),
            host: Host::named("the machine of the measurements", "not simulated".to_owned()),
            parameters: Vec::new(),
        }
    }

    fn document(&self) -> impl Serialize {
        self.comparison
    }

    fn points(&self) -> Points {
        let comparison = self.comparison;
        Points::of(comparison.provenance, &comparison.points)
            .each("variant", Unit::Name, |p: &&ComparedPoint| p.variant.clone())
            .each("cores", Unit::Count, |p| p.cores)
            .each("throughput", Unit::Ratio, |p| p.throughput)
            .each("by_law", Unit::Ratio, |p| p.by_law)
            .build()
    }

    fn charts(&self) -> Vec<Lines> {
        let comparison = self.comparison;
        let measured = comparison.points.chunk_by(|a, b| a.variant == b.variant).map(|points| {
            let at = points.iter().map(|point| (f64::from(point.cores), point.throughput));
            Line::new(points[0].variant.clone(), at.collect())
        });
        let laws = comparison.variants.iter().filter_map(|variant| law_line(comparison, variant));
        let laws = laws.filter(|_| comparison.variants.len() <= MOST_LAWS);
        vec![Lines {
            title: "Throughput by cores".to_owned(),
            mark: Mark::new(comparison.provenance, "; laws fitted"),
            across: Across::Cores,
            up: "in the unit of the measurements".to_owned(),
            by: "variant",
            linear: None,
            small: false,
            lines: measured.chain(laws).collect(),
        }]
    }

    fn tables(&self) -> Vec<Table> {
        let mut tables = vec![laws(self.comparison)];
        if !self.comparison.best.is_empty() {
            tables.push(best(self.comparison));
        }
        tables
    }
}

/// The word for where the points come from.
fn from(comparison: &Comparison) -> &'static str {
    comparison.provenance.name()
}

/// The law of a variant, up to the most cores that it is asked for.
fn law_line(comparison: &Comparison, variant: &ComparedVariant) -> Option<Line> {
    let fitted = variant.law.as_ref()?;
    let asked = fitted.points.iter().map(|point| point.cores);
    let measured = comparison.points.iter().map(|point| point.cores);
    let most = f64::from(asked.chain(measured).max()?);
    let across = (0..=STEPS).map(|step| 1.0 + (most - 1.0) * f64::from(step) / f64::from(STEPS));
    let points = across.map(|cores| (cores, fitted.law.at(cores))).collect();
    Some(Line::smooth(format!("law of {}", variant.variant), points))
}

/// A row for each variant.
fn laws(comparison: &Comparison) -> Table {
    let most = comparison
        .variants
        .iter()
        .filter_map(|variant| variant.law.as_ref()?.points.last())
        .map(|point| point.cores)
        .max();
    let forecast = most.map_or_else(|| "law says".to_owned(), |most| format!("law on {most}"));
    let row = |variant: &ComparedVariant| {
        let law = |figure: &dyn Fn(&FittedLaw) -> String| {
            variant.law.as_ref().map_or_else(|| number::NONE.to_owned(), figure)
        };
        let name = variant.lock.filter(|lock| *lock != variant.variant);
        let name = match name {
            Some(lock) => both_names(lock, Some(&variant.variant)),
            None => variant.variant.clone(),
        };
        let end = |fitted: &FittedLaw| fitted.points.last().map_or(f64::NAN, |p| p.throughput);
        let figures = vec![
            variant.shape.name().to_owned(),
            number::figure(variant.peak),
            variant.peak_cores.to_string(),
            law(&|fitted| number::figure(fitted.law.lambda)),
            law(&|fitted| number::figure(fitted.law.sigma)),
            law(&|fitted| number::figure(fitted.law.kappa)),
            law(&|fitted| {
                fitted.peak_cores.map_or_else(|| "none".to_owned(), |peak| format!("{peak:.0}"))
            }),
            law(&|fitted| number::figure(end(fitted))),
            law(&|fitted| number::percent(fitted.misfit)),
        ];
        (name, figures)
    };
    let headings = ["shape", "peak", "at", "λ", "σ", "κ", "law peak", &forecast, "misses by"];
    let from = from(comparison);
    let mut below = vec![
        format!(
            "shape, peak and at: as {from}; λ, σ, κ and the rest: of the universal scalability law,"
        ),
        format!(
            "which is Amdahl's where κ is 0; misses by: how far the law is from what was {from}"
        ),
    ];
    below.extend(comparison.assumed.iter().map(|how| format!("taken to be so: {how}")));
    below.extend(comparison.left_out.iter().map(|left_out| format!("left out: {left_out}")));
    Table {
        name: "laws".to_owned(),
        title: format!(
            "How each variant scales, in the unit of the measurements ({from}, laws fitted)"
        ),
        mark: None,
        front: "variant",
        headings: headings.into(),
        rows: comparison.variants.iter().map(row).collect(),
        below,
    }
}

/// A row for each number of cores on which several variants were measured.
fn best(comparison: &Comparison) -> Table {
    let rows = comparison.best.iter().map(|on| {
        let figures = vec![
            on.variant.clone(),
            number::figure(on.throughput),
            on.next.clone(),
            number::multiple(on.gain),
        ];
        (on.cores.to_string(), figures)
    });
    Table {
        name: "best".to_owned(),
        title: "The best variant by cores".to_owned(),
        mark: Some(Mark::new(comparison.provenance, "")),
        front: "cores",
        headings: ["best", "throughput", "next", "best to next"].into(),
        rows: rows.collect(),
        below: Vec::new(),
    }
}
