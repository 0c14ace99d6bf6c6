//! Reads measurements from a table in text.

use std::borrow::Cow;

use super::cell::{self, Notation, Unusable};
use super::error::{ReadError, shown};
use super::number::{Evidence, Mark, figure};
use super::place::{InputPlace, LeftOut};
use super::records::{Record, Records, Separator, records};
use super::rows::Rows;
use super::separator::separator;
use super::shape::{Figures, Shape};
use super::{go_bench, markdown};

/// Reads a table, such as
///
/// ```text
/// # from last night
/// threads;mutex;mcs
/// 1;1.234.567,5;1.200.000
/// 2;987.654,25;1.900.000
/// ```
pub(super) fn read(text: &str) -> Result<Rows, ReadError> {
    if go_bench::is_likely(text) {
        return go_bench::read(text);
    }
    let (records, separator) = split(text, usize::MAX)?;
    let shape = Shape::of(&records)?;
    Table { shape: &shape, rows: &records.rows[shape.first_row..], separator }.rows()
}

/// Whether a text begins like a table of measurements.
pub(super) fn is_likely(text: &str) -> bool {
    /// So many rows tell.
    const FIRST: usize = 50;
    // What was cut off in the middle of a line does not count.
    let text = text.rfind('\n').map_or(text, |end| &text[..=end]);
    let text = text.trim_start_matches('\u{feff}');
    if text.contains('\0') {
        return false;
    }
    if go_bench::is_likely(text) {
        return true;
    }
    match split(text, FIRST) {
        Ok((records, _)) => Shape::is_likely(&records),
        Err(ReadError::SeveralTables { .. }) => true,
        // The names may tell, and the rows then deserve to be told what is wrong with them.
        Err(_) => split(text, 1).is_ok_and(|(records, _)| Shape::is_likely(&records)),
    }
}

/// Splits a text into rows, of which no more than `most` are wanted, and says at what.
fn split(text: &str, most: usize) -> Result<(Records<'_>, Separator), ReadError> {
    let page = markdown::table(text)?;
    let (before, text) = page.unwrap_or((0, text));
    let separator = match page {
        Some(_) => Separator::Char('|'),
        None => separator(text).ok_or_else(|| ReadError::NoSeparator(first_line(text)))?,
    };
    let mut records = records(text, separator, most)?;
    for row in &mut records.rows {
        row.line += before;
        if page.is_some() {
            row.fields.iter_mut().for_each(without_emphasis);
        }
    }
    Ok((records, separator))
}

fn first_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    shown(line.unwrap_or_default())
}

/// Removes the marks of bold text and of code around what stands in a field.
fn without_emphasis(field: &mut Cow<'_, str>) {
    let plain = field.trim_matches(['*', '`']).trim();
    if plain.len() < field.len() {
        *field = Cow::Owned(plain.to_owned());
    }
}

/// The rows of figures, and which column holds what.
struct Table<'a> {
    shape: &'a Shape,
    rows: &'a [Record<'a>],
    separator: Separator,
}

impl Table<'_> {
    fn rows(&self) -> Result<Rows, ReadError> {
        let shape = self.shape;
        let mut rows = Rows::default();
        rows.assumed.clone_from(&shape.assumed);
        rows.ignore_columns(shape.ignored.clone());
        self.check_subjects()?;
        if let Some(column) = shape.provenance {
            for row in self.rows {
                let place = InputPlace::Field { line: row.line, column: column as u64 + 1 };
                row.field(column).map_or(Ok(()), |word| rows.come_from(word, place))?;
            }
        }
        let notations = self.notations();
        for row in self.rows {
            let mut leave_out = |column: Option<usize>, why: String| {
                let place = match column {
                    Some(column) => {
                        let column = column as u64 + 1;
                        InputPlace::Field { line: row.line, column }
                    }
                    None => InputPlace::Line(row.line),
                };
                rows.left_out.push(LeftOut { place, why });
            };
            let surplus = row.fields.iter().skip(shape.names.len()).any(|field| !field.is_empty());
            if surplus {
                let (fields, columns) = (row.fields.len(), shape.names.len());
                leave_out(
                    None,
                    format!(
                        "{fields} fields under {columns} columns (is a comma or a blank in a figure? \
                         put quotes around it)"
                    ),
                );
                continue;
            }
            let cores = match self.cores(row) {
                Ok(cores) => cores,
                Err((column, why)) => {
                    leave_out(Some(column), why);
                    continue;
                }
            };
            let named = shape.variant.map(|column| (column, row.field(column)));
            if let Some((column, None)) = named {
                leave_out(Some(column), format!("{} is absent", shown(&shape.names[column])));
                continue;
            }
            for (figures, &notation) in shape.figures.iter().zip(&notations) {
                let name = &shape.names[figures.column];
                let read = cell::throughput(row, figures, name, cores, notation);
                let is_only = shape.figures.len() == 1;
                let why = match read {
                    Ok(throughput) => {
                        let of_row = named.and_then(|(_, name)| name);
                        let variant = figures.variant.as_deref().or(of_row).unwrap_or_default();
                        rows.add(variant, cores, throughput)?;
                        continue;
                    }
                    // In a wide table, not everything need have been measured.
                    Err(Unusable::Absent) if !is_only => continue,
                    Err(Unusable::Absent) => format!("{} is absent", shown(name)),
                    Err(Unusable::LeftOut(why)) => why,
                    Err(Unusable::Refused(error)) => return Err(error),
                };
                let column = figures.column as u64 + 1;
                let place = InputPlace::Field { line: row.line, column };
                rows.left_out.push(LeftOut { place, why });
            }
        }
        Ok(rows)
    }

    /// How many cores a row is of, or the column that does not tell, and why.
    fn cores(&self, row: &Record<'_>) -> Result<u32, (usize, String)> {
        let shape = self.shape;
        let count = |column: usize| {
            let name = shown(&shape.names[column]);
            let field = row.field(column).ok_or_else(|| (column, format!("{name} is absent")))?;
            cell::count(field, &name).map_err(|why| (column, why))
        };
        let cores = count(shape.count)?;
        if let Some(column) = shape.threads
            && let Some(threads) = row.field(column)
            && cell::count(threads, "threads") != Ok(cores)
        {
            let threads = shown(threads);
            let why =
                format!("{threads} threads on {cores} cores: a fit is of one thread for each core");
            return Err((column, why));
        }
        Ok(cores)
    }

    /// How the figures of each column of figures are written.
    fn notations(&self) -> Vec<Notation> {
        let told = |column: usize| {
            let figures = self.rows.iter().filter_map(|row| figure(row.field(column)?));
            figures.fold(Evidence::default(), |told, figure| told.and(figure.tells))
        };
        let all: Vec<Evidence> = (0..self.shape.names.len()).map(told).collect();
        let table = all.iter().fold(Evidence::default(), |told, column| told.and(*column));
        // Programs write a point before decimals. Spreadsheets of those who write a comma there separate
        // by semicolons.
        let usual_point = (self.separator != Separator::Char(';')).then_some(Mark::Decimal);
        let of = |figures: &Figures| Notation { column: all[figures.column], table, usual_point };
        self.shape.figures.iter().map(of).collect()
    }

    /// Refuses rows of several programs or machines: a fit of their mixture would look sound but
    /// mean nothing.
    fn check_subjects(&self) -> Result<(), ReadError> {
        for &column in &self.shape.subjects {
            let mut names = self.rows.iter().filter_map(|row| row.field(column));
            let Some(first) = names.next() else { continue };
            if let Some(second) = names.find(|name| *name != first) {
                return Err(ReadError::Several {
                    column: shown(&self.shape.names[column]),
                    first: shown(first),
                    second: shown(second),
                });
            }
        }
        Ok(())
    }
}
