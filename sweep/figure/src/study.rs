//! A figure as it is shown.

use kilocore_show::{About, Across, Cell, Host, Line, Lines, Points, Study, Table, Unit};
use serde::Serialize;

use crate::document::Document;
use crate::figure::{Figure, FigureChart, FigureLine, FigurePoint};
use crate::names::{and, label, number_of};

/// Below this, each whole number is one that a figure can be.
const MOST_WHOLE: f64 = 9_007_199_254_740_992.0;

impl Study for Figure {
    fn about(&self) -> About {
        let on = match &self.machines[..] {
            [] => "the machines of its runs".to_owned(),
            machines => and(machines),
        };
        About {
            generated: self.generated.clone(),
            kind: "A figure of a sweep",
            title: self.title(),
            host: Host::named(&on, format!("{} of {}", self.runs_in_words(), self.plan)),
            parameters: Vec::new(),
        }
    }

    fn answer(&self) -> Vec<String> {
        let mut said = vec![match (self.answered == self.of, self.of) {
            (true, 1) => "The one run of the plan is in it".to_owned(),
            (true, of) => format!("All {} are in it", number_of(of, "run")),
            (false, _) => format!("{} are in it", self.runs_in_words()),
        }];
        if self.answered < self.of {
            said.push(
                "The others have not been answered. Run the sweep again for them.".to_owned(),
            );
        }
        if self.points_in_order().any(|(.., point)| point.is_spread()) {
            said.push(
                "Where several rows meet in a point, it is their median, within a band from the lowest to the highest."
                    .to_owned(),
            );
        }
        if !self.differing.is_empty() {
            let names: Vec<String> = self.differing.iter().map(|name| label(name)).collect();
            said.push(format!("Rows of one point differ in {}.", and(&names)));
        }
        if self.charts.iter().any(|chart| chart.provenances().len() > 1) {
            said.push(
                "Figures of several kinds stand beside each other; no line has two.".to_owned(),
            );
        }
        if self.tables_left_out > 0 {
            let tables = number_of(self.tables_left_out, "table");
            said.push(format!("Left out: {tables} without one of its columns."));
        }
        if self.rows_without > 0 {
            let (x, y) = (label(&self.planned.x), label(&self.planned.y));
            let rows = number_of(self.rows_without, "row");
            said.push(format!("Left out: {rows} without a number under {x} or {y}."));
        }
        said
    }

    fn document(&self) -> impl Serialize {
        Document::new(self)
    }

    fn points(&self) -> Points {
        let points = Points::of_several(self.points_in_order(), |(_, line, _)| line.provenance);
        let columns = |names: &[String]| -> Vec<(usize, String)> {
            // It is the first column of all.
            let names = names.iter().cloned().enumerate();
            names.filter(|(_, name)| name != "provenance").collect()
        };
        let text =
            |values: &[String], at: usize| values.get(at).map(String::as_str).map(Cell::from);
        let points =
            columns(&self.planned.charts).into_iter().fold(points, |points, (at, name)| {
                points.each(name, Unit::Name, move |(chart, ..)| text(&chart.values, at))
            });
        let points = columns(&self.planned.lines).into_iter().fold(points, |points, (at, name)| {
            points.each(name, Unit::Name, move |(_, line, _)| text(&line.values, at))
        });
        let [low, high, rows] = self.planned.own_columns();
        points
            .each(self.planned.x.clone(), Unit::AsNamed, |(.., point)| across(point.x))
            .each(self.planned.y.clone(), Unit::AsNamed, |(.., point)| point.median)
            .each(low, Unit::AsNamed, |(.., point)| point.lowest)
            .each(high, Unit::AsNamed, |(.., point)| point.highest)
            .each(rows, Unit::Count, |(.., point)| point.rows)
            .build()
    }

    fn charts(&self) -> Vec<Lines> {
        let small = self.charts.len() > 1;
        self.charts.iter().map(|chart| Lines { small, ..self.chart(chart) }).collect()
    }

    fn charts_of_image(&self) -> Vec<Lines> {
        self.charts.iter().map(|chart| self.chart(chart)).collect()
    }

    fn tables(&self) -> Vec<Table> {
        self.all_tables()
    }
}

impl Figure {
    fn chart(&self, chart: &FigureChart) -> Lines {
        let line = |line: &FigureLine| {
            let points: Vec<(f64, f64)> = line.points.iter().map(|it| (it.x, it.median)).collect();
            let band = match line.points.iter().any(FigurePoint::is_spread) {
                true => line.points.iter().map(|point| (point.lowest, point.highest)).collect(),
                false => Vec::new(),
            };
            Line { band, ..Line::new(self.name_of(chart, line), points) }
        };
        Lines {
            title: self.title_of(chart),
            mark: self.mark_of(chart),
            across: match self.planned.x.as_str() {
                "cores" => Across::Cores,
                "threads" => Across::Threads,
                name => Across::Numbers(label(name)),
            },
            up: label(&self.planned.y),
            by: "line",
            linear: None,
            small: false,
            lines: chart.lines.iter().map(line).collect(),
        }
    }
}

/// A number across, which is whole as a rule.
fn across(x: f64) -> Cell {
    match x.fract() == 0.0 && (0.0..MOST_WHOLE).contains(&x) {
        true => Cell::Whole(x as u64),
        false => Cell::Number(x),
    }
}
