//! The rows of a table that a run has written.

use std::path::Path;

use csv::{Position, Reader, StringRecord};
use kilocore_sweep_plan::{PlannedRun, Value};

use crate::FigureError;

/// A table and the run that has written it, row by row.
pub(crate) struct Rows<'a> {
    pub(crate) file: &'a Path,
    run: &'a PlannedRun,
    reader: Reader<&'a [u8]>,
    header: StringRecord,
}

/// Where a row has the value of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In this column of its table.
    Column(usize),
    /// Its run has it, under this number.
    Run(usize),
}

/// A row.
pub(crate) struct Row<'a> {
    record: &'a StringRecord,
    run: &'a PlannedRun,
    pub(crate) line: u64,
}

impl<'a> Rows<'a> {
    /// The table that a file's bytes are. `file` is what messages call it.
    pub(crate) fn new(
        file: &'a Path,
        run: &'a PlannedRun,
        bytes: &'a [u8],
    ) -> Result<Self, FigureError> {
        let mut reader = Reader::from_reader(bytes);
        let header = reader.headers().cloned();
        let header =
            header.map_err(|source| FigureError::Table { file: file.to_owned(), source })?;
        Ok(Self { file, run, reader, header })
    }

    /// Whether it has no columns. So is the table of a command that has no points.
    pub(crate) fn is_empty(&self) -> bool {
        self.header.is_empty()
    }

    /// The names of what its rows have.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.header.iter().chain(self.run.values.iter().map(|(name, _)| name.as_str()))
    }

    /// Where its rows have what has this name. Its own columns come first.
    pub(crate) fn place(&self, name: &str) -> Option<Place> {
        let column = self.header.iter().position(|own| own == name).map(Place::Column);
        let of_run = || self.run.values.iter().position(|(own, _)| own == name).map(Place::Run);
        column.or_else(of_run)
    }

    /// The next row, which is read into `record`.
    pub(crate) fn next<'r>(
        &mut self,
        record: &'r mut StringRecord,
    ) -> Result<Option<Row<'r>>, FigureError>
    where
        'a: 'r,
    {
        let read = self.reader.read_record(record);
        match read {
            Ok(true) => {
                let line = record.position().map_or(0, Position::line);
                Ok(Some(Row { record, run: self.run, line }))
            }
            Ok(false) => Ok(None),
            Err(source) => Err(FigureError::Table { file: self.file.to_owned(), source }),
        }
    }
}

impl Row<'_> {
    /// What it has there. All rows of a table have its columns.
    pub(crate) fn at(&self, place: Place) -> &str {
        match place {
            Place::Column(column) => self.record.get(column).unwrap_or_default(),
            Place::Run(number) => self.run.values.get(number).map_or("", |(_, it)| it.as_str()),
        }
    }

    /// The same as a value, which conditions are tried on.
    pub(crate) fn value(&self, place: Place) -> Value {
        Value::from(self.at(place))
    }
}
