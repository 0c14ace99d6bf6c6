//! Rows as CSV, and documents as JSON.

use serde::Serialize;

use crate::ReportError;

/// Rows as CSV, below a line of the names of their fields.
///
/// # Errors
/// [`ReportError::Csv`] if a figure cannot be encoded.
pub fn in_csv(rows: impl IntoIterator<Item: Serialize>) -> Result<String, ReportError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row)?;
    }
    text_of(writer)
}

/// What a writer has written.
pub(crate) fn text_of(writer: csv::Writer<Vec<u8>>) -> Result<String, ReportError> {
    let bytes = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    // Every field came from a string or a number.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A document as JSON for people to read, ending in a line end.
///
/// # Errors
/// [`ReportError::Json`] if a figure cannot be encoded.
pub fn in_json(document: &impl Serialize) -> Result<String, ReportError> {
    Ok(serde_json::to_string_pretty(document)? + "\n")
}
