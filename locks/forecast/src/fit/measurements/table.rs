//! Reads measurements from CSV.

use csv::{ReaderBuilder, StringRecord, Trim};

use super::error::ReadError;
use super::row::Row;
use super::{InputPlace, Rows};

/// The indices of the columns.
struct Columns {
    lock: usize,
    cores: usize,
    throughput: usize,
    threads: Option<usize>,
    /// The columns that name the program or the machine. Each must hold the same name in all rows.
    subjects: Vec<usize>,
}

/// Reads a table, such as
///
/// ```text
/// # from last night
/// lock;cores;threads;throughput
/// mcs;6;6;20
/// ticket;6;;1e1
/// ```
pub(super) fn read(text: &str) -> Result<Rows, ReadError> {
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter(text))
        .trim(Trim::All)
        .flexible(true)
        .comment(Some(b'#'))
        .from_reader(text.as_bytes());
    let names = reader.headers()?.clone();
    let columns = Columns::find(&names)?;
    let mut rows = Rows::default();
    rows.ignore_columns(columns.others(&names));
    let mut subjects: Vec<Option<String>> = vec![None; columns.subjects.len()];
    for record in reader.records() {
        let record = record?;
        if record.iter().all(str::is_empty) {
            continue;
        }
        columns.check_subjects(&names, &record, &mut subjects)?;
        let line = record.position().map_or(0, csv::Position::line);
        let surplus = record.iter().skip(names.len()).any(|field| !field.is_empty());
        let row = if surplus {
            let (fields, columns) = (record.len(), names.len());
            Err(format!("{fields} fields under {columns} columns (is a decimal comma in it?)"))
        } else {
            columns.row(&record).measurement()
        };
        rows.take(InputPlace::Line(line), row);
    }
    Ok(rows)
}

/// Whether the line of names has at least two of the columns that are required.
pub(super) fn has_columns(text: &str) -> bool {
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter(text))
        .trim(Trim::All)
        .comment(Some(b'#'))
        .from_reader(text.as_bytes());
    let Ok(names) = reader.headers() else { return false };
    let required = [&["lock"][..], &["cores"], &[THROUGHPUT[0], THROUGHPUT[1], "given"]];
    let has = |column: &&&[&str]| {
        names.iter().any(|name| column.iter().any(|wanted| name.eq_ignore_ascii_case(wanted)))
    };
    required.iter().filter(has).count() >= 2
}

/// Returns the separator that is most frequent in the line of names, which is the first line that
/// is neither blank nor a comment.
fn delimiter(text: &str) -> u8 {
    let is_names = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
    let names = text.split(['\n', '\r']).find(is_names).unwrap_or_default();
    let count = |separator: u8| names.bytes().filter(|&byte| byte == separator).count();
    // The comma is last, so that it wins a tie.
    *b"\t;,".iter().max_by_key(|&&separator| count(separator)).expect("there are three")
}

/// Names that the column of throughputs may have. In the output of `kilocore forecast`, where it stands
/// beside the forecast, it is called `given`.
const THROUGHPUT: [&str; 2] = ["throughput", "throughput_per_s"];

impl Columns {
    fn find(names: &StringRecord) -> Result<Self, ReadError> {
        let among = |wanted: &[&str], column: &'static str| {
            let mut found = names
                .iter()
                .enumerate()
                .filter(|(_, name)| wanted.iter().any(|wanted| name.eq_ignore_ascii_case(wanted)));
            match (found.next(), found.next()) {
                (Some(_), Some(_)) => Err(ReadError::ColumnTwice(column)),
                (first, _) => Ok(first.map(|(index, _)| index)),
            }
        };
        let lock = among(&["lock"], "lock")?;
        let cores = among(&["cores"], "cores")?;
        let throughput = match among(&["given"], "given")? {
            Some(given) => Some(given),
            None => among(&THROUGHPUT, "throughput")?,
        };
        let threads = among(&["threads"], "threads")?;
        let (Some(lock), Some(cores), Some(throughput)) = (lock, cores, throughput) else {
            let needed = [("lock", lock), ("cores", cores), ("throughput", throughput)];
            let missing = needed.iter().filter(|(_, column)| column.is_none());
            return Err(ReadError::MissingColumns {
                found: names.iter().map(ToOwned::to_owned).collect(),
                missing: missing.map(|(name, _)| *name).collect(),
            });
        };
        let subjects = ["program", "machine"].map(|subject| among(&[subject], subject));
        let subjects = subjects.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            lock,
            cores,
            throughput,
            threads,
            subjects: subjects.into_iter().flatten().collect(),
        })
    }

    /// Returns the names of the columns that are not needed.
    fn others(&self, names: &StringRecord) -> Vec<String> {
        let used = [Some(self.lock), Some(self.cores), Some(self.throughput), self.threads];
        let other =
            |&(index, name): &(usize, &str)| !used.contains(&Some(index)) && !name.is_empty();
        names.iter().enumerate().filter(other).map(|(_, name)| super::error::shown(name)).collect()
    }

    fn row(&self, record: &StringRecord) -> Row {
        let field = |column: usize| record.get(column).map(ToOwned::to_owned);
        Row {
            lock: field(self.lock),
            cores: field(self.cores),
            threads: self.threads.and_then(field),
            throughput: field(self.throughput),
        }
    }

    /// Refuses rows of several programs or machines: a fit of their mixture would look sound but
    /// mean nothing.
    fn check_subjects(
        &self,
        names: &StringRecord,
        record: &StringRecord,
        seen: &mut [Option<String>],
    ) -> Result<(), ReadError> {
        for (&column, seen) in self.subjects.iter().zip(seen) {
            let Some(name) = record.get(column).filter(|name| !name.is_empty()) else { continue };
            if let Some(first) = seen.as_deref().filter(|first| *first != name) {
                return Err(ReadError::Several {
                    column: names[column].to_owned(),
                    first: super::error::shown(first),
                    second: super::error::shown(name),
                });
            }
            *seen = Some(name.to_owned());
        }
        Ok(())
    }
}
