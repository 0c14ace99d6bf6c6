//! The points of a study: columns with units, and a cell in each for every point.

use std::borrow::Cow;

use kilocore_figures::{Provenance, Unit};
use serde::{Serialize, Serializer};

use crate::ReportError;

/// What stands in a column of one point.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// A name or another text.
    Text(String),
    /// A figure that is a whole number.
    Whole(u64),
    /// A figure that need not be a whole number.
    Number(f64),
    /// Whether something is so.
    Flag(bool),
    /// The point has no such figure.
    None,
}

/// Each as its figure; nothing for none.
impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Cell::Text(text) => text.serialize(serializer),
            Cell::Whole(number) => number.serialize(serializer),
            Cell::Number(number) => number.serialize(serializer),
            Cell::Flag(flag) => flag.serialize(serializer),
            Cell::None => serializer.serialize_none(),
        }
    }
}

macro_rules! cells {
    ($($from:ty => $value:ident $cell:expr;)*) => {
        $(impl From<$from> for Cell {
            fn from($value: $from) -> Self {
                $cell
            }
        })*
    };
}

cells! {
    &str => text Cell::Text(text.to_owned());
    String => text Cell::Text(text);
    Provenance => provenance Cell::from(provenance.name());
    u32 => number Cell::Whole(number.into());
    u64 => number Cell::Whole(number);
    usize => number Cell::Whole(number as u64);
    f64 => number Cell::Number(number);
    bool => flag Cell::Flag(flag);
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(figure: Option<T>) -> Self {
        figure.map_or(Cell::None, Into::into)
    }
}

/// What a column is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name in a file.
    pub name: Cow<'static, str>,
    /// What its figures are counted in.
    pub unit: Unit,
}

/// The points of a study.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Points {
    columns: Vec<Column>,
    /// By points, then by columns.
    rows: Vec<Vec<Cell>>,
}

/// Points to which columns are added. The first column says where all figures come from.
#[derive(Debug)]
pub struct PointsBuilder<P> {
    of: Vec<P>,
    points: Points,
}

impl Points {
    /// Begins with what there is a row of each, and where the figures come from.
    #[must_use]
    pub fn of<P>(provenance: Provenance, of: impl IntoIterator<Item = P>) -> PointsBuilder<P> {
        Self::of_several(of, |_| provenance)
    }

    /// Begins with what there is a row of each, and where the figures of each come from.
    #[must_use]
    pub fn of_several<P>(
        of: impl IntoIterator<Item = P>,
        provenance: impl Fn(&P) -> Provenance,
    ) -> PointsBuilder<P> {
        let of: Vec<P> = of.into_iter().collect();
        let rows = of.iter().map(|_| Vec::new()).collect();
        let points = Points { columns: Vec::new(), rows };
        PointsBuilder { of, points }.each("provenance", Unit::Name, provenance)
    }

    /// Returns what the columns are of.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Returns a row of CSV for each point, below the names of the columns; nothing without a point.
    ///
    /// # Errors
    /// [`ReportError::Csv`] if a figure cannot be encoded.
    pub fn csv(&self) -> Result<String, ReportError> {
        if self.rows.is_empty() {
            return Ok(String::new());
        }
        let names: Vec<&str> = self.columns.iter().map(|column| &*column.name).collect();
        let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
        writer.write_record(names)?;
        self.rows.iter().try_for_each(|row| writer.serialize(row))?;
        let bytes = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
        // Every field came from a string or a number.
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl<P> PointsBuilder<P> {
    /// Adds a column that is the same for all points.
    #[must_use]
    pub fn same(
        self,
        name: impl Into<Cow<'static, str>>,
        unit: Unit,
        value: impl Into<Cell>,
    ) -> Self {
        let value = value.into();
        self.each(name, unit, |_| value.clone())
    }

    /// Adds a column with a figure of each point.
    #[must_use]
    pub fn each<C: Into<Cell>>(
        mut self,
        name: impl Into<Cow<'static, str>>,
        unit: Unit,
        figure: impl Fn(&P) -> C,
    ) -> Self {
        self.points.columns.push(Column { name: name.into(), unit });
        for (row, of) in self.points.rows.iter_mut().zip(&self.of) {
            row.push(figure(of).into());
        }
        self
    }

    /// Returns the points with all columns.
    #[must_use]
    pub fn build(self) -> Points {
        self.points
    }
}

#[cfg(test)]
mod tests {
    use super::{Points, Provenance, Unit};

    #[test]
    fn figures_stand_below_their_names_and_keep_all_digits() {
        let points = Points::of(Provenance::Simulated, [(1_u32, 0.1), (20, 3.0)])
            .same("machine", Unit::Name, "a, b")
            .each("cores", Unit::Count, |point| point.0)
            .each("share", Unit::Share, |point| point.1)
            .each("more", Unit::Count, |point| (point.0 > 1).then_some(7_u64))
            .build();
        let rows = "provenance,machine,cores,share,more\n\
                    simulated,\"a, b\",1,0.1,\n\
                    simulated,\"a, b\",20,3.0,7\n";
        assert_eq!(points.csv().unwrap(), rows);
        assert_eq!(points.columns()[3].unit, Unit::Share);
    }
}
