//! Figures of what the runs of a plan say together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use kilocore_show::Format;
use thiserror::Error;
use toml::{Spanned, Value as Toml};

use crate::condition::Condition;
use crate::document::{FigureTable, line_of};
use crate::output::inside;
use crate::template::{Template, is_name};
use crate::{PlannedRun, Value};

/// A figure of the rows of all tables that the runs write. It names columns of these tables, or names that the plan gives
/// values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedFigure {
    /// The line of its output in the plan, counted from 1.
    pub line: usize,
    /// Where it goes, below the plan's folder, by the endings of reports. At least one.
    pub files: Vec<PathBuf>,
    /// What it is called.
    pub title: Option<String>,
    /// The column that runs across.
    pub x: String,
    /// The column that is shown.
    pub y: String,
    /// There is a line for each combination of the values of these.
    pub lines: Vec<String>,
    /// There is a chart for each combination of the values of these.
    pub charts: Vec<String>,
    only: Vec<Condition>,
    skip: Vec<Condition>,
}

/// A condition asks which of two values is greater, and one is no number.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct NotComparable(String);

impl PlannedFigure {
    /// The columns without which a table has no row for it, each once: of charts, of lines, x and y.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        let names = self.charts.iter().chain(&self.lines).chain([&self.x, &self.y]);
        names.map(String::as_str)
    }

    /// The columns that its own table has besides: the lowest and the highest of the rows that a point is of, and how many
    /// these are.
    #[must_use]
    pub fn own_columns(&self) -> [String; 3] {
        [format!("{}_low", self.y), format!("{}_high", self.y), "rows".to_owned()]
    }

    /// The columns of which its conditions are, each once.
    #[must_use]
    pub fn columns_of_conditions(&self) -> BTreeSet<&str> {
        self.only.iter().chain(&self.skip).flat_map(Condition::names).collect()
    }

    /// Whether a row is a part of it, by what its columns hold. No condition on a column that it does not have holds.
    ///
    /// # Errors
    /// [`NotComparable`], if a condition is on numbers and the row has none there.
    pub fn takes<'a>(
        &self,
        value: &impl Fn(&str) -> Option<&'a Value>,
    ) -> Result<bool, NotComparable> {
        let any = |conditions: &[Condition]| {
            for condition in conditions {
                if condition.holds(value).map_err(NotComparable)? {
                    return Ok(true);
                }
            }
            Ok(false)
        };
        Ok((self.only.is_empty() || any(&self.only)?) && !any(&self.skip)?)
    }
}

/// What is wrong, and where in the text.
pub(crate) struct Refused {
    pub(crate) at: usize,
    pub(crate) problem: String,
}

/// The figures of a plan, of which this is the text.
pub(crate) fn figures_of(
    tables: &[FigureTable],
    runs: &[PlannedRun],
    text: &str,
) -> Result<Vec<PlannedFigure>, Refused> {
    let mut figures: Vec<PlannedFigure> = Vec::new();
    for table in tables {
        let at = table.output.span().start;
        if !runs.iter().any(|run| run.answer.table().is_some()) {
            let problem = "a figure is made of the tables that runs write, and none writes one; write a name that ends in \
                           .csv into the 'output' of a [[run]]";
            return Err(Refused { at, problem: problem.to_owned() });
        }
        let files = files(&table.output)?;
        refuse_shared(&files, runs, &figures).map_err(|problem| Refused { at, problem })?;
        let (lines, charts) = (names("line", &table.line)?, names("chart", &table.chart)?);
        let (x, y) = (column("x", &table.x)?, column("y", &table.y)?);
        let (only, skip) = (conditions(&table.only)?, conditions(&table.skip)?);
        let title = table.title.clone();
        let line = line_of(text, at);
        let figure = PlannedFigure { line, files, title, x, y, lines, charts, only, skip };
        refuse_twice(&figure).map_err(|problem| Refused { at, problem })?;
        figures.push(figure);
    }
    Ok(figures)
}

/// The texts of a value that is one, or a list of them.
fn texts(what: &str, toml: &Spanned<Toml>) -> Result<Vec<String>, Refused> {
    let texts = match toml.get_ref() {
        Toml::String(one) => Some(vec![one.clone()]),
        Toml::Array(list) => list.iter().map(|one| one.as_str().map(str::to_owned)).collect(),
        _ => None,
    };
    texts.filter(|texts| !texts.is_empty()).ok_or_else(|| Refused {
        at: toml.span().start,
        problem: format!("'{what}' is no text; write \"…\", or a list of such"),
    })
}

/// The files into which it goes.
fn files(output: &Spanned<Toml>) -> Result<Vec<PathBuf>, Refused> {
    let file = |text: String| {
        if let Some(name) = Template::from(text.as_str()).names().next() {
            return Err(format!(
                "'{text}': a figure is of all runs, so '{{{name}}}' has no value in its output; leave it out, and write \
                 'chart = \"{name}\"' for a chart of each"
            ));
        }
        let path = inside(text)?;
        Format::of(&path).map_err(|error| error.to_string())?;
        Ok(path)
    };
    let files = texts("output", output)?.into_iter().map(file).collect::<Result<_, _>>();
    files.map_err(|problem| Refused { at: output.span().start, problem })
}

/// The names of columns.
fn names(what: &str, toml: &Option<Spanned<Toml>>) -> Result<Vec<String>, Refused> {
    let Some(toml) = toml else { return Ok(Vec::new()) };
    let at = toml.span().start;
    let check = |name: String| match is_name(&name) {
        true => Ok(name),
        false => Err(Refused { at, problem: no_column(what, &name) }),
    };
    texts(what, toml)?.into_iter().map(check).collect()
}

fn column(what: &str, name: &Spanned<String>) -> Result<String, Refused> {
    match is_name(name.get_ref()) {
        true => Ok(name.get_ref().clone()),
        false => {
            let problem = no_column(what, name.get_ref());
            Err(Refused { at: name.span().start, problem })
        }
    }
}

fn no_column(what: &str, name: &str) -> String {
    format!(
        "'{what}' is '{name}', which is no name of a column; write one that the runs' .csv files have, or a name that has \
         values, as in \"cores\""
    )
}

fn conditions(tables: &[Spanned<BTreeMap<String, Toml>>]) -> Result<Vec<Condition>, Refused> {
    let condition = |table: &Spanned<BTreeMap<String, Toml>>| {
        // Which columns there are is known later.
        let read = Condition::of(table.get_ref(), |_| true);
        read.map_err(|problem| Refused { at: table.span().start, problem })
    };
    tables.iter().map(condition).collect()
}

/// The columns of its own table all have different names.
fn refuse_twice(figure: &PlannedFigure) -> Result<(), String> {
    let own = figure.own_columns();
    let mut seen: BTreeSet<&str> = own.iter().map(String::as_str).collect();
    if let Some(twice) = figure.columns().find(|name| !seen.insert(*name)) {
        return Err(format!(
            "'{twice}' is named twice among 'x', 'y', 'line', 'chart' and what the figure adds ({}); leave one out",
            own.join(", ")
        ));
    }
    Ok(())
}

/// Nothing is written into the file of a run or of another figure, nor taken for a folder.
fn refuse_shared(
    files: &[PathBuf],
    runs: &[PlannedRun],
    figures: &[PlannedFigure],
) -> Result<(), String> {
    let of_runs = runs.iter().flat_map(|run| {
        let owner = format!("the run of line {}", run.line);
        run.answer.files().iter().map(move |file| (file, owner.clone()))
    });
    let of_figures = figures.iter().flat_map(|figure| &figure.files);
    let others = of_runs.chain(of_figures.map(|file| (file, "another figure".to_owned())));
    let meet = |one: &Path, other: &Path| one.starts_with(other) || other.starts_with(one);
    for (other, owner) in others {
        if let Some(file) = files.iter().find(|file| meet(file, other)) {
            return Err(shared(file, other, &owner));
        }
    }
    for (at, file) in files.iter().enumerate() {
        if let Some(other) = files[..at].iter().find(|other| meet(file, other)) {
            return Err(shared(file, other, "the same figure"));
        }
    }
    Ok(())
}

fn shared(file: &Path, other: &Path, owner: &str) -> String {
    format!(
        "the output '{}' of the figure meets '{}', the output of {owner}; write another name",
        file.display(),
        other.display(),
    )
}
