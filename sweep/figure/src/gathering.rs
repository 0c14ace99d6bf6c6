//! From rows of many tables to the points of a figure.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use csv::StringRecord;
use kilocore_figures::{Provenance, ascending, median};
use kilocore_show::Generated;
use kilocore_sweep_plan::{PlannedFigure, PlannedRun, Value};

use crate::figure::{Figure, FigureChart, FigureLine, FigurePoint};
use crate::rows::{Place, Row, Rows};
use crate::{FigureError, MOST_CHARTS, MOST_LINES, MOST_NAME, MOST_POINTS, MOST_ROWS};

/// The machines of a figure are named if they are no more than these.
const MOST_MACHINES: usize = 4;
/// So many columns are named if one is not there.
const MOST_COLUMNS_TOLD: usize = 40;

/// Which chart it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct ChartIndex(usize);

/// Which line it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct LineIndex(usize);

/// The rows that meet in a point.
#[derive(Debug)]
struct Meeting {
    figures: Vec<f64>,
    /// What the first of them has under names of the plan that the figure does not take.
    first: Vec<(String, String)>,
}

/// Rows of many tables, while they are gathered.
#[derive(Debug)]
pub struct Gathering<'a> {
    planned: &'a PlannedFigure,
    charts: Numbered<Vec<String>>,
    lines: Numbered<(Vec<String>, Provenance)>,
    points: HashMap<(ChartIndex, LineIndex, u64), Meeting>,
    /// Names that no table has had.
    unseen: BTreeSet<String>,
    /// The first table, and what it has.
    first: Option<(PathBuf, Vec<String>)>,
    machines: Vec<String>,
    tables: usize,
    tables_left_out: usize,
    rows: usize,
    rows_taken: usize,
    rows_without: usize,
    differing: BTreeSet<String>,
}

/// Things by the number under which they came first.
#[derive(Debug)]
struct Numbered<T> {
    in_order: Vec<T>,
    numbers: HashMap<T, usize>,
}

impl<T: Clone + Eq + std::hash::Hash> Numbered<T> {
    fn new() -> Self {
        Self { in_order: Vec::new(), numbers: HashMap::new() }
    }

    fn number(&mut self, it: T) -> usize {
        if let Some(number) = self.numbers.get(&it) {
            return *number;
        }
        self.in_order.push(it.clone());
        self.numbers.insert(it, self.in_order.len() - 1);
        self.in_order.len() - 1
    }
}

/// Where a table has what the figure is of.
struct Places {
    charts: Vec<Place>,
    lines: Vec<Place>,
    x: Place,
    y: Place,
    provenance: Place,
    /// Of the conditions.
    conditions: Vec<(String, Place)>,
    /// Of what else the plan gives values.
    others: Vec<(String, Place)>,
    machine: Option<Place>,
}

impl<'a> Gathering<'a> {
    /// Begins without a row.
    #[must_use]
    pub fn new(planned: &'a PlannedFigure) -> Self {
        let names = planned.columns().chain(planned.columns_of_conditions());
        Self {
            planned,
            charts: Numbered::new(),
            lines: Numbered::new(),
            points: HashMap::new(),
            unseen: names.map(str::to_owned).collect(),
            first: None,
            machines: Vec::new(),
            tables: 0,
            tables_left_out: 0,
            rows: 0,
            rows_taken: 0,
            rows_without: 0,
            differing: BTreeSet::new(),
        }
    }

    /// Adds the rows of a run's table. `file` is what messages call it.
    ///
    /// # Errors
    /// [`FigureError`], if it is none, or has something else where the figure needs numbers.
    pub fn add(&mut self, file: &Path, run: &PlannedRun, bytes: &[u8]) -> Result<(), FigureError> {
        let mut rows = Rows::new(file, run, bytes)?;
        if rows.is_empty() {
            return Ok(());
        }
        self.tables += 1;
        self.unseen.retain(|name| rows.place(name).is_none());
        if self.first.is_none() {
            let names = rows.names().take(MOST_COLUMNS_TOLD).map(str::to_owned).collect();
            self.first = Some((file.to_owned(), names));
        }
        let Some(places) = self.places(&rows, run)? else {
            self.tables_left_out += 1;
            return Ok(());
        };
        let mut record = StringRecord::new();
        while let Some(row) = rows.next(&mut record)? {
            self.rows += 1;
            self.add_row(file, &row, &places)?;
        }
        Ok(())
    }

    /// Where a table has the columns of the figure, if it has all of them.
    fn places(&self, rows: &Rows<'_>, run: &PlannedRun) -> Result<Option<Places>, FigureError> {
        let all = |names: &[String]| names.iter().map(|name| rows.place(name)).collect();
        let (charts, lines): (Option<Vec<Place>>, Option<Vec<Place>>) =
            (all(&self.planned.charts), all(&self.planned.lines));
        let (x, y) = (rows.place(&self.planned.x), rows.place(&self.planned.y));
        let (Some(charts), Some(lines), Some(x), Some(y)) = (charts, lines, x, y) else {
            return Ok(None);
        };
        let provenance = rows
            .place("provenance")
            .ok_or_else(|| FigureError::Provenance { file: rows.file.to_owned(), place: None })?;
        let placed = |name: &str| Some((name.to_owned(), rows.place(name)?));
        let others = run.values.iter().map(|(name, _)| name.as_str());
        let others = others.filter(|name| !self.planned.columns().any(|own| own == *name));
        Ok(Some(Places {
            charts,
            lines,
            x,
            y,
            provenance,
            conditions: self
                .planned
                .columns_of_conditions()
                .into_iter()
                .filter_map(placed)
                .collect(),
            others: others.filter_map(placed).collect(),
            machine: rows.place("machine"),
        }))
    }

    fn add_row(&mut self, file: &Path, row: &Row<'_>, places: &Places) -> Result<(), FigureError> {
        let (planned, line) = (self.planned, row.line);
        let values: Vec<(&str, Value)> = places
            .conditions
            .iter()
            .map(|(name, place)| (name.as_str(), row.value(*place)))
            .collect();
        let value = |name: &str| values.iter().find(|(own, _)| *own == name).map(|(_, it)| it);
        let is_taken = planned.takes(&value).map_err(|source| FigureError::Condition {
            file: file.to_owned(),
            line,
            source,
        })?;
        if !is_taken {
            return Ok(());
        }
        let x = number(row, places.x, &planned.x, file)?;
        let y = number(row, places.y, &planned.y, file)?;
        let (Some(x), Some(y)) = (x, y) else {
            self.rows_without += 1;
            return Ok(());
        };
        let word = row.at(places.provenance);
        let provenance = Provenance::named(word).ok_or_else(|| FigureError::Provenance {
            file: file.to_owned(),
            place: Some((line, word.chars().take(MOST_NAME).collect())),
        })?;
        let names = |names: &[String], places: &[Place]| {
            let name = |(name, place): (&String, &Place)| match row.at(*place) {
                text if text.len() <= MOST_NAME => Ok(text.to_owned()),
                _ => Err(FigureError::Name { file: file.to_owned(), line, column: name.clone() }),
            };
            names.iter().zip(places).map(name).collect::<Result<Vec<_>, _>>()
        };
        let chart = self.charts.number(names(&planned.charts, &places.charts)?);
        let of_line = (names(&planned.lines, &places.lines)?, provenance);
        let line = self.lines.number(of_line);
        if let Some(machine) = places.machine.map(|place| row.at(place))
            && self.machines.len() <= MOST_MACHINES
            && !self.machines.iter().any(|known| known == machine)
        {
            self.machines.push(machine.chars().take(MOST_NAME).collect());
        }
        self.rows_taken += 1;
        self.meet((ChartIndex(chart), LineIndex(line), x.to_bits()), y, row, places);
        self.check_size()
    }

    /// Puts a figure to those that it stands among.
    fn meet(&mut self, at: (ChartIndex, LineIndex, u64), y: f64, row: &Row<'_>, places: &Places) {
        let others = || places.others.iter().map(|(name, place)| (name, row.at(*place)));
        let meeting = self.points.entry(at).or_insert_with(|| Meeting {
            figures: Vec::new(),
            first: others().map(|(name, text)| (name.clone(), text.to_owned())).collect(),
        });
        meeting.figures.push(y);
        for (name, text) in others() {
            let first = meeting.first.iter().find(|(own, _)| own == name);
            if first.is_some_and(|(_, first)| first != text) && !self.differing.contains(name) {
                self.differing.insert(name.clone());
            }
        }
    }

    fn check_size(&self) -> Result<(), FigureError> {
        let last = |names: &[String]| names.last().unwrap_or(&self.planned.x).clone();
        let sizes = [
            ("charts", MOST_CHARTS, self.charts.in_order.len(), last(&self.planned.charts)),
            ("lines", MOST_LINES, self.lines.in_order.len(), last(&self.planned.lines)),
            ("points", MOST_POINTS, self.points.len(), self.planned.x.clone()),
            ("rows", MOST_ROWS, self.rows_taken, self.planned.x.clone()),
        ];
        match sizes.into_iter().find(|(_, most, size, _)| size > most) {
            Some((what, most, _, column)) => Err(FigureError::Large { what, most, column }),
            None => Ok(()),
        }
    }

    /// What all rows show together: `answered` of `of` runs of a plan.
    ///
    /// # Errors
    /// [`FigureError`], if a column is in no table, or no row is left.
    pub fn figure(
        mut self,
        plan: &str,
        (answered, of): (usize, usize),
        generated: Generated,
    ) -> Result<Figure, FigureError> {
        if let (Some(name), Some((file, columns))) = (self.unseen.pop_first(), self.first) {
            return Err(FigureError::Column { name, file, columns });
        }
        if self.tables > 0 && self.tables == self.tables_left_out {
            let columns = self.planned.columns().map(str::to_owned).collect();
            return Err(FigureError::Together(columns));
        }
        if self.points.is_empty() {
            return Err(FigureError::Empty { rows: self.rows, tables: self.tables });
        }
        let empty = || -> Vec<FigureLine> {
            let lines = self.lines.in_order.iter();
            let line = |(values, provenance): &(Vec<String>, Provenance)| FigureLine {
                values: values.clone(),
                provenance: *provenance,
                points: Vec::new(),
            };
            lines.map(line).collect()
        };
        let chart = |values: &Vec<String>| FigureChart { values: values.clone(), lines: empty() };
        let mut charts: Vec<FigureChart> = self.charts.in_order.iter().map(chart).collect();
        for ((chart, line, x), meeting) in self.points {
            charts[chart.0].lines[line.0].points.push(point(f64::from_bits(x), meeting.figures));
        }
        for line in charts.iter_mut().flat_map(|chart| &mut chart.lines) {
            line.points.sort_by(|a, b| a.x.total_cmp(&b.x));
        }
        let machines = if self.machines.len() > MOST_MACHINES { Vec::new() } else { self.machines };
        Ok(Figure {
            planned: self.planned.clone(),
            plan: plan.to_owned(),
            answered,
            of,
            charts,
            machines,
            tables_left_out: self.tables_left_out,
            rows_without: self.rows_without,
            differing: self.differing.into_iter().collect(),
            generated,
        })
    }
}

/// The number that a row has there: none if nothing is, or something that is not finite.
fn number(
    row: &Row<'_>,
    place: Place,
    column: &str,
    file: &Path,
) -> Result<Option<f64>, FigureError> {
    let text = row.at(place).trim();
    if text.is_empty() {
        return Ok(None);
    }
    match text.parse::<f64>() {
        // Both zeros stand in one place.
        Ok(number) => Ok(number.is_finite().then_some(number + 0.0)),
        Err(_) => Err(FigureError::Number {
            file: file.to_owned(),
            line: row.line,
            column: column.to_owned(),
            text: text.chars().take(MOST_NAME).collect(),
        }),
    }
}

fn point(x: f64, figures: Vec<f64>) -> FigurePoint {
    let figures = ascending(figures);
    let ends = figures.first().zip(figures.last());
    let (&lowest, &highest) = ends.expect("a point is made when its first row comes");
    let rows = figures.len();
    let median = median(figures).expect("the same");
    FigurePoint { x, median, lowest, highest, rows }
}
