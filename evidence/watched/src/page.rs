//! A page of which a part is written anew: what stands between two marks.

use std::fs;
use std::path::{Path, PathBuf};

/// Why a page is not written.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// The page cannot be read or written.
    #[error("{0}: {1}")]
    System(PathBuf, std::io::Error),
    /// A mark is missing.
    #[error(
        "{page}: `{mark}` is missing; a line with it, and `<!-- end -->` after it, say where the table goes"
    )]
    Mark {
        /// The page.
        page: PathBuf,
        /// The mark.
        mark: String,
    },
}

/// Puts `text` into a page, between `<!-- NAME -->` and the next `<!-- end -->`.
///
/// # Errors
/// If the page cannot be read or written, or has no such marks.
pub fn write_between(page: &Path, name: &str, text: &str) -> Result<(), PageError> {
    let system = |error| PageError::System(page.to_owned(), error);
    let before = fs::read_to_string(page).map_err(system)?;
    let mark = format!("<!-- {name} -->\n");
    let Some(after) = between(&before, &mark, text) else {
        return Err(PageError::Mark { page: page.to_owned(), mark: mark.trim_end().to_owned() });
    };
    fs::write(page, after).map_err(system)
}

fn between(page: &str, mark: &str, text: &str) -> Option<String> {
    let (before, rest) = page.split_once(mark)?;
    let (_, after) = rest.split_once("<!-- end -->")?;
    Some(format!("{before}{mark}{}\n<!-- end -->{after}", text.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_between_the_marks_is_written_anew() {
        let page = "a\n<!-- one -->\nold\n<!-- end -->\nb\n<!-- two -->\nkept\n<!-- end -->\nc\n";
        let written = between(page, "<!-- one -->\n", "new\n").unwrap();
        assert_eq!(written, page.replace("old", "new"));
        assert_eq!(between(&written, "<!-- one -->\n", "new"), Some(written.clone()));
        assert_eq!(between(page, "<!-- three -->\n", "new"), None);
    }
}
