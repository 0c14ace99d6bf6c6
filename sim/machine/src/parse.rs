//! From text to a checked description, and back.

use crate::check::check;
use crate::schema::{FIELDS, Kind, SECTIONS};
use crate::{Description, MachineError};
use std::collections::HashMap;
use std::fmt::Write as _;
use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

impl Description {
    /// Reads a machine file. `origin` is what messages call the file: a path or a name. A file
    /// begins like this:
    ///
    /// ```toml
    /// schema = 1
    /// name = "core-i7-6700"
    /// clock_ghz.value = 3.4
    /// clock_ghz.source = "vendor's data sheet"
    ///
    /// [topology]
    /// sockets = 1
    /// ```
    ///
    /// # Errors
    /// [`MachineError::Syntax`] if the text is not TOML, and [`MachineError::Field`] if a field
    /// is missing, unknown, of the wrong kind or absurd.
    pub fn parse(text: &str, origin: &str) -> Result<Self, MachineError> {
        let syntax = |error: &toml::de::Error| MachineError::Syntax {
            origin: origin.to_owned(),
            line: error.span().map(|span| line_of(text, span.start)),
            message: error.message().to_owned(),
        };
        let spanned = DeTable::parse(text).map_err(|error| syntax(&error))?;
        let table: Table = toml::from_str(text).map_err(|error| syntax(&error))?;
        check(&table).map_err(|problem| {
            let mut lines = HashMap::new();
            record_lines(spanned.get_ref(), "", text, &mut lines);
            MachineError::Field {
                origin: origin.to_owned(),
                line: nearest_line(&problem.key, &lines),
                key: problem.key,
                problem: problem.problem,
                mend: problem.mend,
            }
        })?;
        table.try_into().map_err(|error: toml::de::Error| syntax(&error))
    }

    /// Checks a description that was not read from text, in the same way as [`Description::parse`].
    ///
    /// # Errors
    /// [`MachineError::Field`], with the name of the machine as the origin.
    pub fn validate(&self) -> Result<(), MachineError> {
        check(&self.to_table()).map_err(|problem| MachineError::Field {
            origin: self.name.clone(),
            line: None,
            key: problem.key,
            problem: problem.problem,
            mend: problem.mend,
        })
    }

    /// Returns the text of the machine file, in a fixed order and with a comment for each field,
    /// for a person to read and edit. Parsing it returns an equal description.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let table = self.to_table();
        let mut text = format!("# {}\n", self.title.replace(['\n', '\r'], " "));
        write_section(&mut text, &table, "");
        for section in SECTIONS {
            if let Some(Value::Table(inner)) = table.get(section) {
                let _ = write!(text, "\n[{section}]\n");
                write_section(&mut text, inner, section);
            }
        }
        text
    }

    fn to_table(&self) -> Table {
        // TOML can hold numbers, strings and structures of them, and a description contains nothing
        // else.
        Table::try_from(self).expect("a description is a table")
    }
}

fn write_section(text: &mut String, table: &Table, section: &str) {
    for field in FIELDS {
        let (of, name) = field.section_and_name();
        let Some(value) = table.get(name).filter(|_| of == section) else { continue };
        // Writing into a String cannot fail.
        let _ = writeln!(text, "# {}", field.meaning);
        let _ = match (field.kind, value) {
            (Kind::Figure { .. } | Kind::Optional { .. }, Value::Table(figure)) => {
                ["value", "source", "estimated"]
                    .iter()
                    .filter_map(|part| Some((part, figure.get(*part)?)))
                    .try_for_each(|(part, value)| writeln!(text, "{name}.{part} = {value}"))
            }
            (Kind::Hops, Value::Array(rows)) => {
                let rows: String = rows.iter().map(|row| format!("    {row},\n")).collect();
                writeln!(text, "{name} = [\n{rows}]")
            }
            _ => writeln!(text, "{name} = {value}"),
        };
    }
}

/// Records the line of every key under its path.
fn record_lines(table: &DeTable<'_>, above: &str, text: &str, lines: &mut HashMap<String, usize>) {
    for (key, value) in table {
        let path = match above {
            "" => key.get_ref().to_string(),
            _ => format!("{above}.{}", key.get_ref()),
        };
        if let DeValue::Table(inner) = value.get_ref() {
            record_lines(inner, &path, text, lines);
        }
        lines.insert(path, line_of(text, key.span().start));
    }
}

/// Returns the line of a key or, if the text lacks it, of the nearest section around it.
fn nearest_line(key: &str, lines: &HashMap<String, usize>) -> Option<usize> {
    let mut key = key.split_once('[').map_or(key, |(name, _)| name);
    loop {
        if let Some(&line) = lines.get(key) {
            return Some(line);
        }
        key = key.rsplit_once('.')?.0;
    }
}

/// Returns the line, counted from 1, of a byte of the text.
fn line_of(text: &str, byte: usize) -> usize {
    1 + text.as_bytes().iter().take(byte).filter(|&&b| b == b'\n').count()
}
