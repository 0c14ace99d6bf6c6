//! The pages in which tables stand.

use std::fs;

/// Replaces what stands between lines of a page by tables, each pair of lines with its own.
///
/// # Errors
/// A message that names the page, if it cannot be read or written or lacks a line.
pub fn put_tables(path: &str, tables: &[([&str; 2], &str)]) -> Result<(), String> {
    let at = |error: String| format!("{path}: {error}");
    let mut page = fs::read_to_string(path).map_err(|error| at(error.to_string()))?;
    for (between, table) in tables {
        page = with_tables(&page, *between, table).map_err(at)?;
    }
    fs::write(path, page).map_err(|error| at(error.to_string()))
}

/// Returns a page with what stands between two of its lines replaced by tables.
///
/// # Errors
/// If the page does not have the two lines.
pub fn with_tables(page: &str, [begin, end]: [&str; 2], tables: &str) -> Result<String, String> {
    let missing = |line: &str| format!("the page has no line `{line}`");
    let (before, rest) = page.split_once(begin).ok_or_else(|| missing(begin))?;
    let (_, after) = rest.split_once(end).ok_or_else(|| missing(end))?;
    Ok(format!("{before}{begin}\n\n{tables}{end}{after}"))
}
