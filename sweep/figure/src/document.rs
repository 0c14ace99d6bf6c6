//! A figure as JSON.

use kilocore_figures::Provenance;
use serde::Serialize;

use crate::figure::{Figure, FigureChart, FigureLine, FigurePoint};

/// The format, and its version.
const SCHEMA: &str = "kilocore-sweep-figure/1";

#[derive(Debug, Serialize)]
pub(crate) struct Document<'a> {
    schema: &'static str,
    title: String,
    plan: &'a str,
    /// How many runs are in it.
    answered: usize,
    /// Of so many.
    runs: usize,
    x: &'a str,
    y: &'a str,
    line: &'a [String],
    chart: &'a [String],
    charts: Vec<ChartDocument<'a>>,
    tables_left_out: usize,
    rows_without: usize,
    differing: &'a [String],
}

#[derive(Debug, Serialize)]
struct ChartDocument<'a> {
    values: Pairs<'a>,
    lines: Vec<LineDocument<'a>>,
}

#[derive(Debug, Serialize)]
struct LineDocument<'a> {
    values: Pairs<'a>,
    provenance: Provenance,
    points: Vec<PointDocument>,
}

#[derive(Debug, Serialize)]
struct PointDocument {
    x: f64,
    y: f64,
    y_low: f64,
    y_high: f64,
    rows: usize,
}

/// Names and values.
type Pairs<'a> = Vec<(&'a str, &'a str)>;

impl<'a> Document<'a> {
    pub(crate) fn new(figure: &'a Figure) -> Self {
        let planned = &figure.planned;
        let point = |point: &FigurePoint| PointDocument {
            x: point.x,
            y: point.median,
            y_low: point.lowest,
            y_high: point.highest,
            rows: point.rows,
        };
        let line = |line: &'a FigureLine| LineDocument {
            values: pairs(&planned.lines, &line.values),
            provenance: line.provenance,
            points: line.points.iter().map(point).collect(),
        };
        let chart = |chart: &'a FigureChart| ChartDocument {
            values: pairs(&planned.charts, &chart.values),
            lines: chart.lines.iter().filter(|line| !line.points.is_empty()).map(line).collect(),
        };
        Self {
            schema: SCHEMA,
            title: figure.title(),
            plan: &figure.plan,
            answered: figure.answered,
            runs: figure.of,
            x: &planned.x,
            y: &planned.y,
            line: &planned.lines,
            chart: &planned.charts,
            charts: figure.charts.iter().map(chart).collect(),
            tables_left_out: figure.tables_left_out,
            rows_without: figure.rows_without,
            differing: &figure.differing,
        }
    }
}

fn pairs<'a>(names: &'a [String], values: &'a [String]) -> Pairs<'a> {
    names.iter().map(String::as_str).zip(values.iter().map(String::as_str)).collect()
}
