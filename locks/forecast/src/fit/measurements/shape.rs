//! The shape of a table: which column holds what, and in which row the figures begin.
//!
//! A table is *long* if it has one column of throughputs, or of times from which they follow. What was
//! measured is then named by a column of variants, or there is one variant. It is *wide* if each column
//! beside that of threads holds a variant's figures. Without a line of names it is wide, too.

use std::collections::BTreeSet;

use super::clock;
use super::column::Role;
use super::error::{ReadError, shown};
use super::number::{Figure, figure, is_absent};
use super::records::{Record, Records};
use super::unit::{Quantity, small_prefix, unit};

/// A column of figures.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Figures {
    /// Its index.
    pub(super) column: usize,
    /// The variant that all of it is of; none if another column names the variants.
    pub(super) variant: Option<String>,
    /// What its figures are of; none if only the units behind the figures can tell.
    pub(super) quantity: Option<Quantity>,
    /// By what the figures are multiplied.
    pub(super) scale: f64,
}

/// Which column holds what.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shape {
    /// The names of the columns.
    pub(super) names: Vec<String>,
    /// The index of the row with which the figures begin.
    pub(super) first_row: usize,
    /// The column that counts cores or threads.
    pub(super) count: usize,
    /// A column of threads beside one of cores.
    pub(super) threads: Option<usize>,
    /// The column that names variants.
    pub(super) variant: Option<usize>,
    /// The columns of figures.
    pub(super) figures: Vec<Figures>,
    /// The column that says whether the figures were measured.
    pub(super) provenance: Option<usize>,
    /// Columns that must say the same in all rows.
    pub(super) subjects: Vec<usize>,
    /// Names of columns that are not needed.
    pub(super) ignored: Vec<String>,
    /// What was taken to be so though the table does not say it, in sentences without a full stop.
    pub(super) assumed: Vec<String>,
}

/// What the only variant is called if nothing names it.
pub(super) const ONLY_VARIANT: &str = "throughput";

impl Shape {
    /// Finds the shape of a table.
    pub(super) fn of(records: &Records<'_>) -> Result<Self, ReadError> {
        let Some(first) = records.rows.first() else { return Err(ReadError::Empty) };
        let mut assumed = Vec::new();
        let (names, first_row) = if is_of_figures(first) {
            match names_in_comment(records, first.fields.len()) {
                Some((line, names)) => {
                    assumed.push(format!("the comment of line {line} names the columns"));
                    (names, 0)
                }
                None => return Ok(Self::without_names(first.fields.len())),
            }
        } else {
            (first.fields.iter().map(|name| name.clone().into_owned()).collect(), 1)
        };
        Columns { names, rows: &records.rows[first_row..] }.shape(first_row, assumed)
    }

    /// The shape of a table of figures alone.
    fn without_names(columns: usize) -> Self {
        let figures = |column: usize| Figures {
            column,
            variant: Some(match columns {
                2 => ONLY_VARIANT.to_owned(),
                _ => format!("column {}", column + 1),
            }),
            quantity: None,
            scale: 1.0,
        };
        let others = if columns == 2 {
            "column 2 holds throughputs".to_owned()
        } else {
            format!("columns 2 to {columns} hold throughputs, each of a variant")
        };
        Self {
            names: (1..=columns).map(|column| format!("column {column}")).collect(),
            first_row: 0,
            count: 0,
            threads: None,
            variant: None,
            figures: (1..columns).map(figures).collect(),
            provenance: None,
            subjects: Vec::new(),
            ignored: Vec::new(),
            assumed: vec![format!(
                "no line names the columns: column 1 counts threads, and {others}"
            )],
        }
    }

    /// Whether a beginning of a table is of throughputs: its names say so, and what stands below them is
    /// no contradiction.
    pub(super) fn is_likely(records: &Records<'_>) -> bool {
        let Some(first) = records.rows.first() else { return false };
        if is_of_figures(first) {
            // Two rows and more of figures alone, the first of which are counts.
            let is_count = |row: &&Record<'_>| {
                is_of_figures(row) && row.field(0).is_some_and(|field| field.parse::<u32>().is_ok())
            };
            return first.fields.len() > 1
                && records.rows.len() > 1
                && records.rows.iter().take(3).filter(is_count).count()
                    == records.rows.len().min(3);
        }
        let roles: Vec<Role> = first.fields.iter().map(|name| Role::of(name)).collect();
        let below = records.rows.get(1);
        let is_there = |wanted: &dyn Fn(&Role) -> bool| {
            roles.iter().enumerate().any(|(column, role)| {
                let is_figure = |row: &Record<'_>| row.field(column).is_some_and(is_figure);
                wanted(role) && below.is_none_or(is_figure)
            })
        };
        let counts = is_there(&Role::counts);
        let has_figures = is_there(&|role| matches!(role, Role::Figures { .. } | Role::Given));
        let has_variants = roles.contains(&Role::Variant);
        let names_figures = roles.iter().any(|role| matches!(role, Role::Figures { .. }));
        let is_wide = is_there(&|role| *role == Role::Unknown) && below.is_some();
        match (counts, has_figures) {
            (true, true) => true,
            // A row that is wrong below such names deserves to be told so.
            (true, false) => has_variants || is_wide || names_figures,
            (false, true) => has_variants,
            // Names without a usable row, which deserve to be told so.
            (false, false) => has_variants && roles.iter().any(Role::counts) && names_figures,
        }
    }
}

/// Whether a field is a figure, in whatever notation and unit.
fn is_figure(field: &str) -> bool {
    let is_in_unit = |figure: Figure<'_>| {
        let rest = figure.rest.split('±').next().unwrap_or_default();
        unit(rest).is_some() || small_prefix(rest.trim()).is_some()
    };
    figure(field).is_some_and(is_in_unit) || clock::seconds(field).is_some()
}

/// Whether a row holds figures and nothing else.
fn is_of_figures(row: &Record<'_>) -> bool {
    row.fields.iter().all(|field| field.is_empty() || is_figure(field))
        && row.field(0).is_some_and(is_figure)
}

/// The names of columns in the comment right before the first row, if it has as many and one of them
/// counts: `# threads mutex spinlock`.
fn names_in_comment(records: &Records<'_>, columns: usize) -> Option<(u64, Vec<String>)> {
    let (line, comment) = records.comment?;
    let separator = super::separator::separator(comment)?;
    let names = super::records::records(comment, separator, 1).ok()?.rows.pop()?.fields;
    let counts = names.iter().any(|name| Role::of(name).counts());
    let names = names.into_iter().map(std::borrow::Cow::into_owned).collect::<Vec<_>>();
    (counts && names.len() == columns).then_some((line, names))
}

/// Named columns.
struct Columns<'a> {
    names: Vec<String>,
    rows: &'a [Record<'a>],
}

impl Columns<'_> {
    fn shape(&self, first_row: usize, mut assumed: Vec<String>) -> Result<Shape, ReadError> {
        let roles: Vec<Role> = self.names.iter().map(|name| Role::of(name)).collect();
        let cores = self.only(&roles, "cores", |role| *role == Role::Cores)?;
        let threads = self.only(&roles, "threads", |role| *role == Role::Threads)?;
        let count = match cores.or(threads) {
            Some(count) => Some(count),
            None => self.only(&roles, "threads", |role| *role == Role::Counts)?,
        };
        let named = self.only(&roles, "the lock or variant", |role| *role == Role::Variant)?;
        let long = self.long(&roles)?;
        let unknown: Vec<usize> = self.all(&roles, |role| *role == Role::Unknown);
        let (of_figures, of_words): (Vec<usize>, Vec<usize>) =
            unknown.into_iter().partition(|&column| self.is_of_figures(column));
        let (variant, figures) = match (long, named) {
            (Some(long), Some(named)) => (Some(named), vec![long]),
            (Some(long), None) => {
                let variant = self.telling(&of_words)?;
                if let Some(column) = variant {
                    let name = shown(&self.names[column]);
                    assumed.push(format!("column '{name}' names variants"));
                }
                let only = Figures { variant: Some(ONLY_VARIANT.to_owned()), ..long.clone() };
                (variant, vec![if variant.is_some() { long } else { only }])
            }
            (None, Some(named)) => match of_figures.as_slice() {
                &[column] if count.is_some() => {
                    let name = shown(&self.names[column]);
                    assumed.push(format!("column '{name}' holds throughputs"));
                    let figures = Figures { column, variant: None, quantity: None, scale: 1.0 };
                    (Some(named), vec![figures])
                }
                _ => (Some(named), Vec::new()),
            },
            (None, None) => (None, self.wide(&roles, &of_figures)),
        };
        let Some(count) = count.filter(|_| !figures.is_empty()) else {
            let needed = [("threads", count.is_none()), (ONLY_VARIANT, figures.is_empty())];
            return Err(ReadError::MissingColumns {
                found: self.names.clone(),
                missing: needed.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect(),
            });
        };
        for one in &figures {
            if let Some(how) = one.quantity.and_then(Quantity::assumption) {
                let name = shown(&self.names[one.column]);
                assumed.push(format!("column '{name}' is {how}"));
            }
        }
        let subjects = self.all(&roles, |role| *role == Role::Subject);
        // Beside what was given, it is about the forecast.
        let provenance = self.only(&roles, "the provenance", |role| *role == Role::Provenance)?;
        let provenance = provenance.filter(|_| !roles.contains(&Role::Given));
        let threads = threads.filter(|_| cores.is_some());
        let mut used: BTreeSet<usize> = [count].into_iter().chain(threads).chain(variant).collect();
        used.extend(provenance);
        used.extend(figures.iter().map(|figures| figures.column));
        let ignored = self.names.iter().enumerate();
        let ignored = ignored.filter(|(column, name)| !used.contains(column) && !name.is_empty());
        let ignored = ignored.map(|(_, name)| shown(name)).collect();
        let names = self.names.clone();
        Ok(Shape {
            names,
            first_row,
            count,
            threads,
            variant,
            figures,
            provenance,
            subjects,
            ignored,
            assumed,
        })
    }

    fn all(&self, roles: &[Role], wanted: impl Fn(&Role) -> bool) -> Vec<usize> {
        (0..self.names.len()).filter(|&column| wanted(&roles[column])).collect()
    }

    /// The column with a role, of which there may be one.
    fn only(
        &self,
        roles: &[Role],
        what: &'static str,
        wanted: impl Fn(&Role) -> bool,
    ) -> Result<Option<usize>, ReadError> {
        match self.all(roles, wanted).as_slice() {
            [] => Ok(None),
            &[column] => Ok(Some(column)),
            &[first, second, ..] => Err(self.twice(what, first, second)),
        }
    }

    fn twice(&self, what: &'static str, first: usize, second: usize) -> ReadError {
        let (first, second) = (shown(&self.names[first]), shown(&self.names[second]));
        ReadError::ColumnTwice { what, first, second }
    }

    /// The one column of figures of a long table: what was given, else a rate, else a time.
    fn long(&self, roles: &[Role]) -> Result<Option<Figures>, ReadError> {
        if let Some(column) = self.only(roles, "given", |role| *role == Role::Given)? {
            let quantity = Some(Quantity::Rate);
            return Ok(Some(Figures { column, variant: None, quantity, scale: 1.0 }));
        }
        let preferred =
            [Quantity::Rate, Quantity::PerOperation, Quantity::Elapsed, Quantity::Latency];
        for wanted in preferred {
            let is = |role: &Role| {
                matches!(role, Role::Figures { variant, quantity, .. }
                    if variant.is_empty() && *quantity == wanted)
            };
            let what = match wanted {
                Quantity::Rate => "throughput",
                Quantity::Latency => "latency",
                Quantity::PerOperation | Quantity::Elapsed => "times",
            };
            let Some(column) = self.only(roles, what, is)? else { continue };
            let Role::Figures { scale, .. } = &roles[column] else { continue };
            let (quantity, scale) = self.in_unit_column(roles, column, wanted, *scale)?;
            return Ok(Some(Figures { column, variant: None, quantity: Some(quantity), scale }));
        }
        Ok(None)
    }

    /// What a column of units says of figures whose own column has no unit.
    fn in_unit_column(
        &self,
        roles: &[Role],
        figures: usize,
        quantity: Quantity,
        scale: f64,
    ) -> Result<(Quantity, f64), ReadError> {
        let Some(column) = self.only(roles, "the unit", |role| *role == Role::Unit)? else {
            return Ok((quantity, scale));
        };
        let mut said = self.rows.iter().filter_map(|row| row.field(column).map(|unit| (row, unit)));
        let Some((_, first)) = said.next() else { return Ok((quantity, scale)) };
        if let Some((row, other)) = said.find(|(_, unit)| *unit != first) {
            return Err(ReadError::TwoUnits {
                line: row.line,
                column: column + 1,
                first: shown(first),
                second: shown(other),
            });
        }
        let unit = unit(first).filter(|unit| unit.quantity.is_some() && scale == 1.0);
        let Some(unit) = unit else { return Ok((quantity, scale)) };
        let named = Role::of(&self.names[figures]);
        let is_latency = matches!(named, Role::Figures { quantity: Quantity::Latency, .. });
        let of_unit = unit.quantity.unwrap_or(quantity);
        let quantity = if is_latency && of_unit.is_time() { Quantity::Latency } else { of_unit };
        Ok((quantity, unit.scale))
    }

    /// The columns of a wide table.
    fn wide(&self, roles: &[Role], of_figures: &[usize]) -> Vec<Figures> {
        let column = |column: usize| match &roles[column] {
            Role::Figures { variant, quantity, scale } => Some(Figures {
                column,
                variant: Some(variant.clone()),
                quantity: Some(*quantity),
                scale: *scale,
            }),
            Role::Unknown if of_figures.contains(&column) => {
                let variant = self.names[column].trim_matches(['*', '`', ' ']).to_owned();
                let variant = Some(variant).filter(|name| !name.is_empty())?;
                Some(Figures { column, variant: Some(variant), quantity: None, scale: 1.0 })
            }
            _ => None,
        };
        (0..self.names.len()).filter_map(column).collect()
    }

    /// Whether most of what stands in a column are figures.
    fn is_of_figures(&self, column: usize) -> bool {
        let filled = self.rows.iter().filter_map(|row| row.field(column));
        let filled = filled.filter(|field| !is_absent(field));
        let (figures, words): (Vec<&str>, Vec<&str>) = filled.partition(|field| is_figure(field));
        figures.len() > words.len()
    }

    /// Of columns of words the one that does not say the same in all rows.
    fn telling(&self, columns: &[usize]) -> Result<Option<usize>, ReadError> {
        let differs = |&&column: &&usize| {
            let mut words = self.rows.iter().filter_map(|row| row.field(column));
            let first = words.next();
            words.any(|word| Some(word) != first)
        };
        let telling: Vec<usize> = columns.iter().filter(differs).copied().collect();
        match telling.as_slice() {
            [] => Ok(None),
            &[column] => Ok(Some(column)),
            &[first, second, ..] => Err(self.twice("the lock or variant", first, second)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::records::records;
    use super::super::separator::separator;
    use super::Shape;

    fn shape(text: &str) -> Result<Shape, String> {
        let separator = separator(text).expect("a separator");
        let records = records(text, separator, 100).expect("records");
        Shape::of(&records).map_err(|error| error.to_string())
    }

    fn variants(text: &str) -> Vec<Option<String>> {
        shape(text).expect("a shape").figures.into_iter().map(|figures| figures.variant).collect()
    }

    fn some(names: &[&str]) -> Vec<Option<String>> {
        names.iter().map(|&name| Some(name.to_owned())).collect()
    }

    #[test]
    fn long_and_wide_tables_are_told_apart() {
        assert_eq!(variants("threads,throughput\n1,5\n"), some(&["throughput"]));
        assert_eq!(variants("threads,mutex,spin lock\n1,5,6\n"), some(&["mutex", "spin lock"]));
        assert_eq!(variants("threads,a (ms),b (ms)\n1,5,6\n"), some(&["a", "b"]));
        assert_eq!(variants("threads,`a `,**,b\n1,5,6,7\n"), some(&["a", "b"]));
        assert_eq!(variants("1 5\n2 6\n"), some(&["throughput"]));
        assert_eq!(variants("1 5 6\n2 6 7\n"), some(&["column 2", "column 3"]));
        assert_eq!(variants("# threads mutex mcs\n1 5 6\n2 6 7\n"), some(&["mutex", "mcs"]));
        for long in [
            "lock,cores,throughput\nmcs,1,5\n",
            "impl;threads;ns/op\na;1;5\n",
            "kind,threads,ops/s\na,1,5\nb,1,6\n",
            "lock,cores,figure\nmcs,1,5\n",
        ] {
            let shape = shape(long).expect("a shape");
            assert_eq!(shape.variant, Some(0), "{long}");
            assert_eq!(shape.figures[0].variant, None, "{long}");
        }
        // A column that says the same in all rows names no variants.
        assert_eq!(variants("host,threads,ops/s\na,1,5\na,2,6\n"), some(&["throughput"]));
    }

    #[test]
    fn what_is_not_needed_is_ignored() {
        let shape =
            shape("threads,ns/op,B/op,allocs/op,note\n1,60,0,0,x\n2,70,0,0,x\n").expect("a shape");
        assert_eq!(shape.ignored, ["B/op", "allocs/op", "note"]);
        assert!(shape.assumed[0].contains("'ns/op' is the time of one operation"), "{shape:?}");
    }

    #[test]
    fn tables_that_do_not_say_enough_are_refused() {
        for (text, parts) in [
            ("nodes,ops/s\n1,5\n", ["no column threads", "'nodes', 'ops/s'"]),
            ("lock,cores\nmcs,1\n", ["no column throughput", "'lock', 'cores'"]),
            ("threads,ops/s,MB/s\n1,5,6\n", ["two columns for throughput", "'ops/s' and 'MB/s'"]),
            ("threads,a,b,ops/s\n1,x,y,6\n1,u,v,3\n", ["two columns for", "'a' and 'b'"]),
            (
                "threads,score,unit\n1,5,s\n2,6,ms\n",
                ["line 3, column 3", "'ms' here and 's' before"],
            ),
        ] {
            let error = shape(text).expect_err("refused");
            assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        }
    }
}
