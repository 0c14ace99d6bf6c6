//! From text to a checked description, and back.

use crate::check::check;
use crate::schema::{FIELDS, Kind, SECTIONS};
use crate::{Description, MachineError};
use std::collections::HashMap;
use std::fmt::Write as _;
use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

impl Description {
    /// Reads a machine file. `origin` is what messages call it: a path, or a name.
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

    /// Checks a description that was not read from text, as [`Description::parse`] does.
    ///
    /// # Errors
    /// [`MachineError::Field`], with the machine's name for its origin.
    pub fn validate(&self) -> Result<(), MachineError> {
        check(&self.to_table()).map_err(|problem| MachineError::Field {
            origin: self.name.clone(),
            line: None,
            key: problem.key,
            problem: problem.problem,
            mend: problem.mend,
        })
    }

    /// The text of its machine file, in a fixed order and with a comment for each field, for a
    /// person to read and edit. Reading it back gives an equal description.
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
        // Numbers, strings and structures of them: there is nothing that TOML cannot hold.
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
            (Kind::Figure { .. }, Value::Table(figure)) => ["value", "source", "estimated"]
                .iter()
                .filter_map(|part| Some((part, figure.get(*part)?)))
                .try_for_each(|(part, value)| writeln!(text, "{name}.{part} = {value}")),
            (Kind::Hops, Value::Array(rows)) => {
                let rows: String = rows.iter().map(|row| format!("    {row},\n")).collect();
                writeln!(text, "{name} = [\n{rows}]")
            }
            _ => writeln!(text, "{name} = {value}"),
        };
    }
}

/// The line of every key, by its path.
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

/// The line of a key, or of the nearest thing around it that is in the text.
fn nearest_line(key: &str, lines: &HashMap<String, usize>) -> Option<usize> {
    let mut key = key.split_once('[').map_or(key, |(name, _)| name);
    loop {
        if let Some(&line) = lines.get(key) {
            return Some(line);
        }
        key = key.rsplit_once('.')?.0;
    }
}

/// The line, counted from 1, of a byte of the text.
fn line_of(text: &str, byte: usize) -> usize {
    1 + text.as_bytes().iter().take(byte).filter(|&&b| b == b'\n').count()
}
