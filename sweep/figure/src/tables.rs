//! The tables of a figure.

use kilocore_show::{Mark, Table, number};

use crate::figure::{Figure, FigureChart, FigureLine, FigurePoint};
use crate::names::{and, label, number_of, of_line, of_values};

/// So many numbers across have a column each; more have a row each.
const MOST_ACROSS: usize = 12;

impl Figure {
    /// How many runs are in it: `5 runs`, or `12 of 18 runs`.
    pub(crate) fn runs_in_words(&self) -> String {
        match self.answered == self.of {
            true => number_of(self.of, "run"),
            false => {
                format!("{} of {}", number::count(self.answered as u64), number_of(self.of, "run"))
            }
        }
    }

    /// What a chart is called.
    pub(crate) fn title_of(&self, chart: &FigureChart) -> String {
        match of_values(&self.planned.charts, &chart.values).as_str() {
            "" => self.title(),
            values => format!("{}: {values}", self.title()),
        }
    }

    /// Where the figures of a chart come from. If they are of several kinds, their lines say which.
    pub(crate) fn mark_of(&self, chart: &FigureChart) -> Mark {
        let kinds = chart.provenances();
        let of = format!("in {} of {}", self.runs_in_words(), self.plan);
        match &kinds[..] {
            [kind, others @ ..] if !others.is_empty() => {
                let others: Vec<&str> = others.iter().map(|kind| kind.name()).collect();
                Mark::new(*kind, &format!("and {}, as each line says, {of}", and(&others)))
            }
            [kind, ..] => Mark::new(*kind, &of),
            [] => unreachable!("a chart is made when its first row comes"),
        }
    }

    /// What a line of a chart is called.
    pub(crate) fn name_of(&self, chart: &FigureChart, line: &FigureLine) -> String {
        let name = of_values(&self.planned.lines, &line.values);
        let name = of_line(name, line.provenance, chart.provenances().len() > 1);
        if name.is_empty() { label(&self.planned.y) } else { name }
    }

    /// All tables: for each chart one to compare lines with, and one with all figures if that says more.
    pub(crate) fn all_tables(&self) -> Vec<Table> {
        self.charts.iter().flat_map(|chart| self.tables_of(chart)).collect()
    }

    fn tables_of(&self, chart: &FigureChart) -> Vec<Table> {
        let points = || chart.lines.iter().flat_map(|line| &line.points);
        let mut across: Vec<f64> = points().map(|point| point.x).collect();
        across.sort_by(f64::total_cmp);
        across.dedup();
        let compared = (across.len() <= MOST_ACROSS).then(|| self.compared(chart, &across));
        let says_more = compared.is_none() || points().any(FigurePoint::is_spread);
        compared.into_iter().chain(says_more.then(|| self.complete(chart))).collect()
    }

    /// A row for each line, a column for each number across.
    fn compared(&self, chart: &FigureChart, across: &[f64]) -> Table {
        let row = |line: &FigureLine| {
            let at = |x: &f64| {
                let point = line.points.iter().find(|point| point.x == *x);
                point.map_or_else(|| number::NONE.to_owned(), |point| number::figure(point.median))
            };
            (self.name_of(chart, line), across.iter().map(at).collect())
        };
        let x = label(&self.planned.x);
        Table {
            title: self.title_of(chart),
            mark: Some(self.mark_of(chart)),
            front: "line",
            headings: across.iter().map(|at| format!("{x} {}", number::plain(*at))).collect(),
            rows: drawn(chart).map(row).collect(),
            ..Table::default()
        }
    }

    /// A row for each point.
    fn complete(&self, chart: &FigureChart) -> Table {
        let row = |(line, point): (&FigureLine, &FigurePoint)| {
            let FigurePoint { x, median, lowest, highest, rows } = *point;
            let figures = [
                number::plain(x),
                number::figure(median),
                number::figure(lowest),
                number::figure(highest),
                number::count(rows as u64),
            ];
            (self.name_of(chart, line), figures.into())
        };
        let points = drawn(chart).flat_map(|line| line.points.iter().map(move |it| (line, it)));
        let (x, y) = (label(&self.planned.x), label(&self.planned.y));
        Table {
            title: format!("{}, from lowest to highest", self.title_of(chart)),
            mark: Some(self.mark_of(chart)),
            front: "line",
            headings: [x.as_str(), &format!("{y}, median"), "lowest", "highest", "rows"].into(),
            rows: points.map(row).collect(),
            ..Table::default()
        }
    }
}

/// The lines that have points in a chart.
fn drawn(chart: &FigureChart) -> impl Iterator<Item = &FigureLine> {
    chart.lines.iter().filter(|line| !line.points.is_empty())
}
