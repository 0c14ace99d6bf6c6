//! A figure: what it shows.

use kilocore_figures::Provenance;
use kilocore_show::Generated;
use kilocore_sweep_plan::PlannedFigure;

use crate::names::against;

/// A figure of the tables of a sweep's runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Which it is.
    pub planned: PlannedFigure,
    /// The plan's name.
    pub plan: String,
    /// How many runs are in it, of those that write tables: they are answered.
    pub answered: usize,
    /// How many write tables.
    pub of: usize,
    /// Its charts; at least one.
    pub charts: Vec<FigureChart>,
    /// The machines that its rows name, at most as many as can be told.
    pub machines: Vec<String>,
    /// Tables that lack one of its columns.
    pub tables_left_out: usize,
    /// Rows without a number of what it shows.
    pub rows_without: usize,
    /// Names of values in which rows of one point differ.
    pub differing: Vec<String>,
    /// By whom and how it was made.
    pub generated: Generated,
}

/// A chart of it.
#[derive(Debug, Clone, PartialEq)]
pub struct FigureChart {
    /// The values of the columns of which it has a chart each.
    pub values: Vec<String>,
    /// The lines, the same in all charts. Some may have no points in this one.
    pub lines: Vec<FigureLine>,
}

/// A line of a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct FigureLine {
    /// The values of the columns of which it has a line each.
    pub values: Vec<String>,
    /// Where its figures come from.
    pub provenance: Provenance,
    /// The points, from left to right.
    pub points: Vec<FigurePoint>,
}

/// A point of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FigurePoint {
    /// Where it stands.
    pub x: f64,
    /// The median of its rows.
    pub median: f64,
    /// The lowest of them.
    pub lowest: f64,
    /// The highest of them.
    pub highest: f64,
    /// How many rows it is of.
    pub rows: usize,
}

impl Figure {
    /// What it is called.
    #[must_use]
    pub fn title(&self) -> String {
        self.planned.title.clone().unwrap_or_else(|| against(&self.planned.y, &self.planned.x))
    }

    /// Its points with their charts and lines, in order.
    pub(crate) fn points_in_order(
        &self,
    ) -> impl Iterator<Item = (&FigureChart, &FigureLine, FigurePoint)> {
        let lines =
            self.charts.iter().flat_map(|chart| chart.lines.iter().map(move |it| (chart, it)));
        lines.flat_map(|(chart, line)| line.points.iter().map(move |point| (chart, line, *point)))
    }
}

impl FigureChart {
    /// The kinds of its figures, each once, in the order of their lines.
    #[must_use]
    pub fn provenances(&self) -> Vec<Provenance> {
        let mut kinds = Vec::new();
        for line in self.lines.iter().filter(|line| !line.points.is_empty()) {
            if !kinds.contains(&line.provenance) {
                kinds.push(line.provenance);
            }
        }
        kinds
    }
}

impl FigurePoint {
    /// Whether its rows have different figures.
    #[must_use]
    pub fn is_spread(&self) -> bool {
        self.lowest < self.highest
    }
}
