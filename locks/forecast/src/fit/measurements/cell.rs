//! From the text of a field to a number of threads or to a throughput.

use super::clock;
use super::error::{ReadError, shown};
use super::number::{Evidence, Mark, Value, figure, is_absent};
use super::records::Record;
use super::shape::Figures;
use super::unit::{Quantity, small_prefix, unit};

/// What tells how the figures of a column are written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Notation {
    /// What the figures of the column tell.
    pub(super) column: Evidence,
    /// What the figures of all columns tell.
    pub(super) table: Evidence,
    /// What a point does that nothing tells about.
    pub(super) usual_point: Option<Mark>,
}

/// Why a field gives no throughput.
#[derive(Debug)]
pub(super) enum Unusable {
    /// Nothing was measured there.
    Absent,
    /// It is left out, for this reason.
    LeftOut(String),
    /// The table cannot be read.
    Refused(ReadError),
}

impl Notation {
    /// What a mark does, if it can be told.
    fn does(self, mark: char) -> Option<Mark> {
        let told = self.column.does(mark).ok()?;
        if told.is_some() {
            return told;
        }
        let usual = self.usual_point.filter(|_| mark == '.');
        self.table.does(mark).ok()?.or(usual)
    }

    /// Why it cannot be told.
    fn gap(self) -> &'static str {
        let both = self.column.does(',').is_err() || self.table.does(',').is_err();
        if both {
            "the other figures are written in both ways"
        } else {
            "no other figure tells which"
        }
    }
}

/// The number of cores or threads in a field of this name.
pub(super) fn count(field: &str, name: &str) -> Result<u32, String> {
    let wrong = || format!("{name} is '{}', not a whole number from 1", shown(field));
    let figure = figure(field).ok_or_else(wrong)?;
    // A count has no decimals, so that its mark parts thousands.
    let (Value::Plain(value) | Value::Either { thousands: value, .. }) = figure.value;
    let scale = match figure.rest.to_lowercase().as_str() {
        "threads" | "thread" | "cores" | "core" | "cpus" | "cpu" => 1.0,
        _ => unit(figure.rest).filter(|unit| unit.quantity.is_none()).ok_or_else(wrong)?.scale,
    };
    let count = value * scale;
    if count.fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(&count) {
        // It is in range, as was just checked.
        Ok(count as u32)
    } else {
        Err(wrong())
    }
}

/// The throughput that a row holds in a column.
pub(super) fn throughput(
    row: &Record<'_>,
    figures: &Figures,
    name: &str,
    threads: u32,
    notation: Notation,
) -> Result<f64, Unusable> {
    let field = row.field(figures.column).ok_or(Unusable::Absent)?;
    if is_absent(field) {
        return Err(Unusable::Absent);
    }
    let wrong =
        |what: &str| Unusable::LeftOut(format!("{} is '{}', {what}", shown(name), shown(field)));
    let is_time = figures.quantity.is_some_and(Quantity::is_time);
    if let Some(seconds) = clock::seconds(field).filter(|_| is_time) {
        let quantity = figures.quantity.unwrap_or(Quantity::Elapsed);
        return sound(seconds, quantity.throughput(seconds, threads)).map_err(wrong);
    }
    let read = figure(field).ok_or_else(|| wrong("not a number"))?;
    let value = match read.value {
        Value::Plain(value) => value,
        Value::Either { mark, decimal, thousands } => match notation.does(mark) {
            Some(Mark::Decimal) => decimal,
            Some(Mark::Thousands) => thousands,
            None => {
                return Err(Unusable::Refused(ReadError::Ambiguous {
                    line: row.line,
                    column: figures.column + 1,
                    name: shown(name),
                    figure: shown(field),
                    thousands,
                    decimal,
                    gap: notation.gap(),
                }));
            }
        },
    };
    let behind = read.rest.split(['±', '+']).next().unwrap_or_default().trim();
    let unit = match unit(behind) {
        Some(unit) => unit,
        None => {
            let scale = small_prefix(behind).filter(|_| is_time);
            let scale = scale.ok_or_else(|| wrong("not a number in a unit that is known"))?;
            super::unit::Unit { quantity: None, scale }
        }
    };
    let (quantity, scale) = match (figures.quantity, unit.quantity) {
        (column, None) => (column.unwrap_or(Quantity::Rate), figures.scale * unit.scale),
        (None, Some(own)) => (own, unit.scale),
        (Some(column), Some(own)) if column.is_time() == own.is_time() => (column, unit.scale),
        (Some(_), Some(_)) => return Err(wrong("not in a unit of its column")),
    };
    sound(value, quantity.throughput(value * scale, threads)).map_err(wrong)
}

/// The throughput that follows from a figure, if both are what they have to be.
pub(super) fn sound(figure: f64, throughput: f64) -> Result<f64, &'static str> {
    match figure {
        figure if figure.is_nan() => Err("not a number"),
        figure if figure.is_infinite() => Err("infinite"),
        figure if figure < 0.0 => Err("negative"),
        0.0 => Err("zero"),
        _ if throughput.is_finite() && throughput > 0.0 => Ok(throughput),
        _ => Err("too large or too small for a throughput"),
    }
}
