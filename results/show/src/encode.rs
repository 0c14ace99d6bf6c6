//! Documents as JSON.

use serde::Serialize;

use crate::ReportError;

/// A document as JSON for people to read, ending in a line end.
///
/// # Errors
/// [`ReportError::Json`] if a figure cannot be encoded.
pub fn in_json(document: &impl Serialize) -> Result<String, ReportError> {
    Ok(serde_json::to_string_pretty(document)? + "\n")
}
