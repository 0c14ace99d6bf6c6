//! Why measurements could not be read.

use std::fmt::Write;

use thiserror::Error;

use super::{InputPlace, LeftOut};

/// Why measurements could not be read. The messages do not name the file, because the caller knows
/// it.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The file cannot be opened or read.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The file is larger than measurements can be.
    #[error("larger than {0} MiB; measurements are a CSV or JSON file of some lines")]
    TooLarge(u64),
    /// The file is empty.
    #[error("empty; give CSV with the columns lock,cores,throughput, or JSON")]
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
    /// The columns lock, cores and throughput are needed, and some of them are not in the input.
    #[error("{}", what_is_missing(.found, .missing))]
    MissingColumns {
        /// The columns that are present or, in JSON, the keys of the first point.
        found: Vec<String>,
        /// The required columns that are not present.
        missing: Vec<&'static str>,
    },
    /// Two columns have the same meaning.
    #[error("there are two columns for {0}; keep one")]
    ColumnTwice(&'static str),
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
    /// The CSV is malformed.
    #[error("{0}")]
    Csv(#[from] csv::Error),
    /// The JSON is malformed.
    #[error("not JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The JSON has the wrong structure.
    #[error(
        "{0}; give an array of objects with the keys lock, cores and throughput, or an object with \
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
        "no column {}: the columns are {}, and lock, cores and throughput are needed (CSV names \
         them in its first line, JSON in each point)",
        missing.join(" and no column "),
        if quoted.is_empty() { "none".to_owned() } else { quoted.join(", ") },
    )
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
