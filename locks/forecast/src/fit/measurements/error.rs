//! Why measurements could not be read.

use std::fmt::Write;

use kilocore_figures::Provenance;
use thiserror::Error;

use super::place::{InputPlace, LeftOut};

/// Why measurements could not be read. The messages do not name the file, because the caller knows
/// it.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The file cannot be opened or read.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The file is larger than measurements can be.
    #[error("larger than {0} MiB; measurements are a table or JSON of some lines, so keep those")]
    TooLarge(u64),
    /// The file is empty.
    #[error(
        "empty; give a table with the columns threads,throughput or lock,cores,throughput, or JSON"
    )]
    Empty,
    /// The file is compressed, or of another binary kind that can be recognised.
    #[error("this is {what}, not text; {mend}")]
    Binary {
        /// The kind of file, for example `a gzip file`.
        what: &'static str,
        /// The advice on what to do.
        mend: &'static str,
    },
    /// The file is not UTF-8.
    #[error("byte {0} is not UTF-8 text; save the measurements as CSV in UTF-8, or as JSON")]
    Encoding(usize),
    /// A column that counts threads or cores and one of throughputs are needed, and one of them is not in
    /// the input.
    #[error("{}", what_is_missing(.found, .missing))]
    MissingColumns {
        /// The columns that are present or, in JSON, the keys of the first point.
        found: Vec<String>,
        /// The required columns that are not present.
        missing: Vec<&'static str>,
    },
    /// Two columns have the same meaning.
    #[error("there are two columns for {what}, '{first}' and '{second}'; keep one")]
    ColumnTwice {
        /// What both hold.
        what: &'static str,
        /// The name of the first.
        first: String,
        /// The name of the second.
        second: String,
    },
    /// Nothing separates the fields of a table.
    #[error(
        "nothing separates columns in the line '{0}'; put a comma, a semicolon, a tab, a bar or a blank \
         between them"
    )]
    NoSeparator(String),
    /// A page holds more than one table.
    #[error("there is a table from line {first} on and another from line {second} on; keep one")]
    SeveralTables {
        /// The line in which the first begins.
        first: u64,
        /// The line in which the second begins.
        second: u64,
    },
    /// There are more rows or fields than a table of measurements has.
    #[error("more than {rows} rows or {cells} fields; keep those of the measurements")]
    TooManyRows {
        /// So many rows are read.
        rows: usize,
        /// So many fields are read.
        cells: usize,
    },
    /// A row has more fields than a table of measurements.
    #[error("line {line}: more than {most} fields; keep the columns of threads and throughputs")]
    TooManyFields {
        /// Its line.
        line: u64,
        /// So many fields are read.
        most: usize,
    },
    /// A field is longer than a figure or a name.
    #[error(
        "line {line}, column {column}: longer than {most} bytes; shorten it or leave the column out"
    )]
    LongField {
        /// Its line.
        line: u64,
        /// Its column.
        column: usize,
        /// The most bytes of a field.
        most: usize,
    },
    /// A quote is not closed.
    #[error(
        "line {line}, column {column}: a quote is opened and not closed; close it, or leave it out"
    )]
    OpenQuote {
        /// The line in which it is opened.
        line: u64,
        /// The column that it opens.
        column: usize,
    },
    /// Something stands behind a closing quote.
    #[error(
        "line {line}, column {column}: '{what}' stands behind the closing quote; write a quote within \
         quotes twice"
    )]
    BehindQuote {
        /// The line of the field.
        line: u64,
        /// The column of the field.
        column: usize,
        /// What stands there.
        what: String,
    },
    /// The column of units names two.
    #[error(
        "line {line}, column {column}: the unit is '{second}' here and '{first}' before; keep the rows of \
         one unit"
    )]
    TwoUnits {
        /// The first line with another unit.
        line: u64,
        /// The column of units.
        column: usize,
        /// The unit of the rows before.
        first: String,
        /// The unit of this row.
        second: String,
    },
    /// The input says in a word that nobody knows where its figures come from.
    #[error(
        "{place}: the provenance is '{word}'; write one of {}, or leave it out where figures are measured",
        provenances()
    )]
    UnknownProvenance {
        /// Where it stands.
        place: InputPlace,
        /// What stands there.
        word: String,
    },
    /// Some figures were measured, and others were not.
    #[error(
        "{place}: the provenance is '{}' here and '{}' before; keep the figures of one",
        .second.name(), .first.name()
    )]
    TwoProvenances {
        /// The first place with another one.
        place: InputPlace,
        /// That of the figures before.
        first: Provenance,
        /// The one of this place.
        second: Provenance,
    },
    /// A figure can be read in two ways.
    #[error(
        "line {line}, column {column} ({name}): '{figure}' can be {thousands} or {decimal}, and {gap}; \
         write it without marks between thousands, or with four decimals"
    )]
    Ambiguous {
        /// Its line.
        line: u64,
        /// Its column.
        column: usize,
        /// The name of the column.
        name: String,
        /// The figure as it is written.
        figure: String,
        /// What it is if its mark parts thousands.
        thousands: f64,
        /// What it is if its mark stands before decimals.
        decimal: f64,
        /// Why other figures do not tell.
        gap: &'static str,
    },
    /// There are more variants than can be compared.
    #[error("more than {0} variants; keep the rows of those that are to be compared")]
    TooManyVariants(usize),
    /// No variant has this name.
    #[error("no variant is called '{name}'; there are {known}")]
    NoVariant {
        /// The name that was asked for.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// Two variants are said to be of one lock.
    #[error(
        "both '{first}' and '{second}' would be measured under {lock}, and one workload is fitted at a \
         time; name one of them"
    )]
    LockTwice {
        /// The lock.
        lock: &'static str,
        /// The variant that is under it.
        first: String,
        /// The variant that was said to be under it.
        second: String,
    },
    /// The rows are of several programs or of several machines.
    #[error(
        "the column {column} names both '{first}' and '{second}', and one workload is fitted at a \
         time; keep the rows of one"
    )]
    Several {
        /// The name of the column in the input.
        column: String,
        /// The first name in it.
        first: String,
        /// The first name in it that differs from `first`.
        second: String,
    },
    /// The JSON is malformed.
    #[error("not JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The JSON has the wrong structure.
    #[error(
        "{0}; give an array of objects with the keys cores, throughput and perhaps lock, or an object with \
         such an array under the key points"
    )]
    Structure(String),
    /// All rows that could be read are for more cores than the machine has.
    #[error(
        "no measurement can be used: {} on more cores than the {hardware_threads} hardware threads \
         of {machine}; name the machine on which they were measured{unread}",
        if .unread.is_empty() { "all are" } else { "those that could be read are" }
    )]
    Beyond {
        /// The name of the machine for which the measurements are read.
        machine: String,
        /// How many hardware threads it has.
        hardware_threads: u32,
        /// What is reported of the rows that could not be read.
        unread: String,
    },
    /// No row can be used.
    #[error("no measurement can be used{0}")]
    NothingUsable(String),
}

/// Says which columns are missing and which are present instead.
fn what_is_missing(found: &[String], missing: &[&str]) -> String {
    let quoted: Vec<String> = found.iter().map(|name| format!("'{}'", shown(name))).collect();
    format!(
        "no column {}: the columns are {}, and what is needed are one of threads or cores and one of \
         throughputs or times (a table names them in its first line, as in threads,throughput, and JSON \
         in each point)",
        missing.join(" and no column "),
        if quoted.is_empty() { "none".to_owned() } else { quoted.join(", ") },
    )
}

/// The words that say where figures come from.
fn provenances() -> String {
    Provenance::ALL.map(Provenance::name).join(", ")
}

/// How many rows are named if none can be used.
const NAMED: usize = 3;

impl ReadError {
    /// The error if no point is left on a machine with this many hardware threads. `left_out` is
    /// what was left out before.
    pub(super) fn beyond(machine: String, hardware_threads: u32, left_out: &[LeftOut]) -> Self {
        let row = |left_out: &&LeftOut| !matches!(left_out.place, InputPlace::Columns(_));
        let rows: Vec<&LeftOut> = left_out.iter().filter(row).collect();
        let unread = match rows.first() {
            None => String::new(),
            Some(first) if rows.len() == 1 => format!("; one could not be read ({first})"),
            Some(first) => format!("; {} could not be read (the first: {first})", rows.len()),
        };
        Self::Beyond { machine, hardware_threads, unread }
    }

    /// The error if no row can be used, for the reasons in `left_out`.
    pub(super) fn nothing_usable(left_out: &[LeftOut]) -> Self {
        let mut reasons = String::new();
        for left_out in left_out.iter().take(NAMED) {
            let _ = write!(reasons, "; {left_out}");
        }
        match left_out.len() {
            0 => reasons.push_str(": there is no row after the names of the columns"),
            more if more > NAMED => {
                let _ = write!(reasons, "; and {} more", more - NAMED);
            }
            _ => {}
        }
        Self::NothingUsable(reasons)
    }
}

/// Text from the input as it is shown in a message: short and without control characters.
pub(super) fn shown(text: &str) -> String {
    const MOST: usize = 60;
    let mut shown: String =
        text.chars().take(MOST).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().count() > MOST {
        shown.push('…');
    }
    shown
}

/// Returns the text of a file, without its byte order mark.
pub(super) fn text_of(bytes: &[u8]) -> Result<&str, ReadError> {
    const UNPACK: &str = "unpack it first";
    const EXPORT: &str = "export the sheet as CSV";
    const SAVE: &str = "save it in UTF-8";
    let kinds: [(&[u8], &str, &str); 7] = [
        (b"\x1f\x8b", "a gzip file", UNPACK),
        (b"BZh", "a bzip2 file", UNPACK),
        (b"\xfd7zXZ\0", "an xz file", UNPACK),
        (b"\x28\xb5\x2f\xfd", "a zstd file", UNPACK),
        (b"PK\x03\x04", "a zip archive or a spreadsheet", EXPORT),
        (b"\xff\xfe", "UTF-16", SAVE),
        (b"\xfe\xff", "UTF-16", SAVE),
    ];
    for (magic, what, mend) in kinds {
        if bytes.starts_with(magic) {
            return Err(ReadError::Binary { what, mend });
        }
    }
    let text = std::str::from_utf8(bytes).map_err(|e| ReadError::Encoding(e.valid_up_to()))?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}
