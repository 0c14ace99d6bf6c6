//! The fields of a table's rows, as they stand in its text.

use std::borrow::Cow;

use super::error::{ReadError, shown};

/// What stands between two fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    /// This character.
    Char(char),
    /// Two or more blanks, or a tab among blanks.
    WideBlanks,
    /// One or more blanks.
    Blanks,
}

/// A row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record<'a> {
    /// Its line, from 1.
    pub(super) line: u64,
    /// What is in it.
    pub(super) fields: Vec<Cow<'a, str>>,
}

/// What a table consists of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Records<'a> {
    /// The rows, without blank lines, comments and lines that only rule.
    pub(super) rows: Vec<Record<'a>>,
    /// The comment right before the first row, without its mark.
    pub(super) comment: Option<(u64, &'a str)>,
}

/// The longest field in bytes. A longer one is no figure and no name.
const LONGEST: usize = 4096;
/// The most fields of a row.
pub(super) const MOST_FIELDS: usize = 1000;
/// The most rows and the most fields of a table. They bound the memory that it takes.
const MOST_ROWS: usize = 200_000;
const MOST_CELLS: usize = 2_000_000;

impl Record<'_> {
    /// What stands in a field, if it is there and anything is in it.
    pub(super) fn field(&self, column: usize) -> Option<&str> {
        self.fields.get(column).map(AsRef::as_ref).filter(|field| !field.is_empty())
    }

    fn is_blank(&self) -> bool {
        self.fields.iter().all(|field| field.is_empty())
    }
}

/// Splits a text into rows, of which no more than `most` are wanted.
pub(super) fn records(
    text: &str,
    separator: Separator,
    most: usize,
) -> Result<Records<'_>, ReadError> {
    let mut scanner = Scanner { text, line: 1, separator };
    let mut records = Records::default();
    let mut cells = 0;
    while !scanner.text.is_empty() && records.rows.len() < most {
        let line = scanner.rest_of_line();
        let trimmed = line.trim();
        if let Some(comment) = trimmed.strip_prefix('#') {
            if records.rows.is_empty() {
                records.comment = Some((scanner.line, comment));
            }
            scanner.skip_line();
        } else if trimmed.is_empty() || is_rule(trimmed) {
            scanner.skip_line();
        } else {
            let record = scanner.record()?;
            cells += record.fields.len();
            if records.rows.len() >= MOST_ROWS || cells > MOST_CELLS {
                return Err(ReadError::TooManyRows { rows: MOST_ROWS, cells: MOST_CELLS });
            }
            if !record.is_blank() {
                records.rows.push(record);
            }
        }
    }
    Ok(records)
}

/// Whether a line only rules, as below the names of a Markdown table: `|---|:-:|`.
fn is_rule(line: &str) -> bool {
    line.contains("--")
        && line.chars().all(|c| matches!(c, '-' | '|' | '+' | ':' | ' ' | '\t' | '='))
        || line.contains("==") && line.chars().all(|c| matches!(c, '=' | ' ' | '\t'))
}

/// The text that is still to be split.
struct Scanner<'a> {
    text: &'a str,
    /// The line at which it begins.
    line: u64,
    separator: Separator,
}

/// What ends a field.
enum End {
    /// A separator of so many bytes.
    Separator(usize),
    /// The end of the line or of the text.
    Line,
}

impl<'a> Scanner<'a> {
    fn rest_of_line(&self) -> &'a str {
        let end = self.text.find(['\n', '\r']).unwrap_or(self.text.len());
        &self.text[..end]
    }

    fn skip_line(&mut self) {
        let length = self.rest_of_line().len();
        self.advance(length);
        self.end_line();
    }

    fn advance(&mut self, bytes: usize) {
        self.text = &self.text[bytes..];
    }

    /// Goes past a line end, if one is here.
    fn end_line(&mut self) {
        let bytes = line_end(self.text);
        self.advance(bytes);
        self.line += u64::from(bytes > 0);
    }

    /// Reads a row, which begins here.
    fn record(&mut self) -> Result<Record<'a>, ReadError> {
        let line = self.line;
        let mut fields: Vec<Cow<'a, str>> = Vec::new();
        if self.separator != Separator::Char('\t') {
            self.skip_blanks();
        }
        let is_framed = self.separator == Separator::Char('|') && self.text.starts_with('|');
        self.advance(usize::from(is_framed));
        loop {
            if fields.len() >= MOST_FIELDS {
                return Err(ReadError::TooManyFields { line, most: MOST_FIELDS });
            }
            let (field, end) = self.field(fields.len() + 1)?;
            let is_last = matches!(end, End::Line);
            // The last bar of a framed row has no field behind it.
            if !(is_last && is_framed && field.is_empty() && !fields.is_empty()) {
                fields.push(field);
            }
            match end {
                End::Separator(bytes) => self.advance(bytes),
                End::Line => {
                    self.end_line();
                    break;
                }
            }
        }
        Ok(Record { line, fields })
    }

    /// Reads a field up to what ends it.
    fn field(&mut self, column: usize) -> Result<(Cow<'a, str>, End), ReadError> {
        if !matches!(self.separator, Separator::Char('\t')) {
            self.skip_blanks();
        }
        let (line, start) = (self.line, self.text);
        if let Some(quoted) = start.strip_prefix('"') {
            let too_long = || ReadError::OpenQuote { line, column };
            let mut length = 0;
            let mut is_doubled = false;
            // The position of the closing quote.
            let closed = loop {
                let found = quoted[length..].find('"').ok_or_else(too_long)?;
                length += found;
                if length > LONGEST {
                    return Err(too_long());
                }
                if !quoted[length + 1..].starts_with('"') {
                    break length;
                }
                is_doubled = true;
                length += 2;
            };
            let inside = &quoted[..closed];
            let lines = inside.replace("\r\n", "\n").matches(['\n', '\r']).count();
            self.line += lines as u64;
            self.advance(closed + 2);
            let (behind, end) = self.until_end();
            // What stands between the closing quote and the separator is no field's.
            if !behind.trim().is_empty() {
                return Err(ReadError::BehindQuote { line, column, what: shown(behind.trim()) });
            }
            let inside = inside.trim();
            let inside = if is_doubled {
                Cow::Owned(inside.replace("\"\"", "\""))
            } else {
                Cow::Borrowed(inside)
            };
            return Ok((inside, end));
        }
        let (field, end) = self.until_end();
        if field.len() > LONGEST {
            return Err(ReadError::LongField { line, column, most: LONGEST });
        }
        Ok((Cow::Borrowed(field.trim()), end))
    }

    fn skip_blanks(&mut self) {
        self.text = self.text.trim_start_matches([' ', '\t']);
    }

    /// Takes the text up to a separator or the end of the line, at which it stops.
    fn until_end(&mut self) -> (&'a str, End) {
        let line = self.rest_of_line();
        let found = match self.separator {
            Separator::Char(separator) => line.find(separator).map(|at| (at, separator.len_utf8())),
            Separator::Blanks => blanks(line, |_| true),
            Separator::WideBlanks => blanks(line, |run| run.len() > 1 || run == "\t"),
        };
        let (field, end) = match found {
            Some((at, length)) => (&line[..at], End::Separator(length)),
            None => (line, End::Line),
        };
        self.advance(field.len());
        (field, end)
    }
}

/// Where a run of blanks is that separates, and its length. Blanks at the end of a line do not.
fn blanks(line: &str, separates: impl Fn(&str) -> bool) -> Option<(usize, usize)> {
    let line = line.trim_end_matches([' ', '\t']);
    let mut from = 0;
    while let Some(at) = line[from..].find([' ', '\t']) {
        let run = &line[from + at..];
        let length = run.len() - run.trim_start_matches([' ', '\t']).len();
        if separates(&run[..length]) {
            return Some((from + at, length));
        }
        from += at + length;
    }
    None
}

/// Bytes of the line end that a text begins with.
fn line_end(text: &str) -> usize {
    match text.as_bytes() {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{LONGEST, Separator, records};

    fn split(text: &str, separator: Separator) -> Vec<(u64, Vec<String>)> {
        let read = records(text, separator, 100).unwrap_or_else(|error| panic!("{text}: {error}"));
        let owned = |fields: Vec<std::borrow::Cow<'_, str>>| {
            fields.into_iter().map(|field| field.into_owned()).collect()
        };
        read.rows.into_iter().map(|record| (record.line, owned(record.fields))).collect()
    }

    fn row(line: u64, fields: &[&str]) -> (u64, Vec<String>) {
        (line, fields.iter().map(|&field| field.to_owned()).collect())
    }

    #[test]
    fn fields_are_trimmed_and_lines_are_counted() {
        let text = "# of last night\n\na , b\r\n 1,\"x, \"\"y\"\"\"\r,\n\"two\nlines\",3\n4,5";
        let expected = [
            row(3, &["a", "b"]),
            row(4, &["1", "x, \"y\""]),
            row(6, &["two\nlines", "3"]),
            row(8, &["4", "5"]),
        ];
        assert_eq!(split(text, Separator::Char(',')), expected);
        let comment = records(text, Separator::Char(','), 9).unwrap().comment;
        assert_eq!(comment, Some((1, " of last night")));
    }

    #[test]
    fn bars_frame_rows_and_rules_are_no_rows() {
        let text = "| a | b |\n|---|:--|\n| 1 |   |\n a | b \n---+---\n1|2\n";
        let expected =
            [row(1, &["a", "b"]), row(3, &["1", ""]), row(4, &["a", "b"]), row(6, &["1", "2"])];
        assert_eq!(split(text, Separator::Char('|')), expected);
    }

    #[test]
    fn runs_of_blanks_separate() {
        let text = "  threads \t ops per s  \n 1   2 5\n";
        let blanks = [row(1, &["threads", "ops", "per", "s"]), row(2, &["1", "2", "5"])];
        assert_eq!(split(text, Separator::Blanks), blanks);
        let wide = [row(1, &["threads", "ops per s"]), row(2, &["1", "2 5"])];
        assert_eq!(split(text, Separator::WideBlanks), wide);
        assert_eq!(split("a\t\tb\n", Separator::Char('\t')), [row(1, &["a", "", "b"])]);
    }

    #[test]
    fn what_cannot_be_split_is_refused_with_its_place() {
        let refused =
            |text: &str| records(text, Separator::Char(','), 100).expect_err("refused").to_string();
        for (text, parts) in [
            ("a,b\n1,\"2\n3,4\n", ["line 2, column 2", "quote"]),
            ("a,b\n1,\"2\"x\n", ["line 2, column 2", "'x'"]),
            (&format!("a,b\n1,{}\n", "2".repeat(LONGEST + 1)), ["line 2, column 2", "longer"]),
            (&format!("a{}\n", ",b".repeat(2000)), ["line 1", "1000"]),
        ] {
            let error = refused(text);
            assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        }
    }

    proptest! {
        #[test]
        fn fields_come_back_as_they_were_written(
            rows in prop::collection::vec(prop::collection::vec("[a-z0-9,;\"|\n]{0,6}", 3), 1..6),
            separator in prop::sample::select(vec![',', ';', '\t']),
        ) {
            let quoted = |field: &String| format!("\"{}\"", field.replace('"', "\"\""));
            let line = |row: &Vec<String>| {
                row.iter().map(quoted).collect::<Vec<_>>().join(&separator.to_string())
            };
            let text: Vec<String> = rows.iter().map(line).collect();
            let read = split(&text.join("\r\n"), Separator::Char(separator));
            let trimmed = |row: &Vec<String>| {
                row.iter().map(|field| field.trim().to_owned()).collect::<Vec<_>>()
            };
            let written: Vec<Vec<String>> = rows.iter().map(trimmed).collect();
            let filled = written.into_iter().filter(|row| row.iter().any(|field| !field.is_empty()));
            let read: Vec<Vec<String>> = read.into_iter().map(|(_, fields)| fields).collect();
            prop_assert_eq!(read, filled.collect::<Vec<_>>());
        }

        #[test]
        fn no_text_makes_it_panic(text in "[ -~\r\n\té|]{0,200}") {
            for separator in [Separator::Char('|'), Separator::WideBlanks, Separator::Blanks] {
                let _ = records(&text, separator, 50);
            }
        }
    }
}
