//! What pages share: their style and script, and the cells of their tables of curves.

use askama::Template;
use kilocore_figures::{Curve, CurvePoint, Shape};

use crate::Generated;
use crate::drawn::Drawn;
use crate::scale::{Growth, Scale};

/// Style rules of the charts.
pub(crate) const CHART_STYLE: &str = include_str!("../templates/chart.css");
/// Style rules of the page.
const PAGE_STYLE: &str = include_str!("../templates/report.css");
/// Sorting, copying and quicker hover values.
pub const SCRIPT: &str = include_str!("../templates/report.js");

/// What a page begins with, up to its body: its title and the styles of pages and charts.
#[derive(Debug, Template)]
#[template(path = "head.html")]
pub struct Head<'a> {
    title: &'a str,
    /// Places of the curves that the reader can hide.
    curves: Vec<usize>,
}

/// Its own template has escaped it.
impl askama::filters::HtmlSafe for Head<'_> {}

impl<'a> Head<'a> {
    /// Of a page on which nothing can be hidden.
    #[must_use]
    pub fn new(title: &'a str) -> Self {
        Self { title, curves: Vec::new() }
    }

    /// Of a page on which the reader chooses among these curves.
    #[must_use]
    pub fn of_curves<P>(title: &'a str, curves: &[Drawn<'_, P>]) -> Self {
        Self { title, curves: curves.iter().map(|drawn| drawn.style.index).collect() }
    }
}

/// What a page ends with: what the marks mean, who made the page, and the script.
#[derive(Debug, Template)]
#[template(path = "foot.html")]
pub struct Foot<'a> {
    /// By whom, how and when the page was made.
    pub generated: &'a Generated,
}

/// Its own template has escaped it.
impl askama::filters::HtmlSafe for Foot<'_> {}

/// The points of a curve's line in a table, on a scale that ends at `highest`.
pub fn sparkline<P: CurvePoint>(curve: &Curve<P>, most_cores: u32, highest: f64) -> String {
    let x = Scale::new(Growth::Linear, (0.0, f64::from(most_cores)), (1.0, 89.0));
    let y = Scale::new(Growth::Linear, (0.0, highest.max(f64::MIN_POSITIVE)), (21.0, 2.0));
    let places = curve
        .points
        .iter()
        .map(|p| format!("{:.1},{:.1}", x.place(f64::from(p.cores())), y.place(p.throughput())));
    places.collect::<Vec<_>>().join(" ")
}

/// What the shape of a curve is shown by, besides its name.
pub fn shape_sign(shape: Shape) -> &'static str {
    match shape {
        Shape::Scales => "↗",
        Shape::Flattens => "→",
        Shape::Collapses => "↘",
    }
}
