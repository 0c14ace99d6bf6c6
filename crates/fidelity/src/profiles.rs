//! Setting C: forecasts from profiles measured elsewhere.

use std::path::Path;

/// The section of the page on setting C, from its first paragraph on; none if there are no
/// profiles under `data` to forecast from.
///
/// # Errors
/// What is wrong with a profile, with its file.
pub fn section(_data: &Path, _seed: u64) -> Result<Option<String>, String> {
    Ok(None)
}
