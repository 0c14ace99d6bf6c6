//! Documents with marks.

use std::path::{Path, PathBuf};

use super::{END, mark};

/// A document with marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marked {
    path: PathBuf,
    text: String,
}

/// Why a document is not read or written.
#[derive(Debug, thiserror::Error)]
pub enum MarkedError {
    /// It cannot be read or written.
    #[error("{}: {cause}; it must be a file that may be read and written", path.display())]
    System {
        /// The path of the document.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// A mark is missing.
    #[error(
        "{}: `<!-- {name} -->` is missing; a line with it, and `{END}` in a line after it, say where the text goes", path.display()
    )]
    Mark {
        /// The path of the document.
        path: PathBuf,
        /// The name in the mark.
        name: String,
    },
}

impl Marked {
    /// Reads a document.
    ///
    /// # Errors
    /// [`MarkedError::System`] if it cannot be read.
    pub fn open(path: &Path) -> Result<Self, MarkedError> {
        let system = |cause| MarkedError::System { path: path.to_owned(), cause };
        Ok(Self { path: path.to_owned(), text: std::fs::read_to_string(path).map_err(system)? })
    }

    /// Returns the names of its marks, in the order of the document.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let name = |line: &str| {
            let name = line.strip_prefix("<!-- ")?.strip_suffix(" -->")?;
            (line != END).then(|| name.to_owned())
        };
        self.text.lines().filter_map(name).collect()
    }

    /// Returns what stands between the marks of a name.
    ///
    /// # Errors
    /// [`MarkedError::Mark`] if it has no such marks.
    pub fn between(&self, name: &str) -> Result<&str, MarkedError> {
        self.parts(name).map(|(_, between, _)| between)
    }

    /// Puts a text between the marks of a name.
    ///
    /// # Errors
    /// [`MarkedError::Mark`] if it has no such marks.
    pub fn put(&mut self, name: &str, text: &str) -> Result<(), MarkedError> {
        let (before, _, after) = self.parts(name)?;
        self.text = format!("{before}{}\n{after}", text.trim_end());
        Ok(())
    }

    /// Writes the document, whole or not at all.
    ///
    /// # Errors
    /// [`MarkedError::System`] if it cannot be written.
    pub fn save(&self) -> Result<(), MarkedError> {
        let system = |cause| MarkedError::System { path: self.path.clone(), cause };
        crate::write_whole(&self.path, &self.text).map_err(system)
    }

    /// What stands before, between and after the marks of a name. The marks are with what is around.
    fn parts(&self, name: &str) -> Result<(&str, &str, &str), MarkedError> {
        let missing = || MarkedError::Mark { path: self.path.clone(), name: name.to_owned() };
        let mark = mark(name);
        let from = self.text.find(&mark).ok_or_else(missing)? + mark.len();
        let to = from + self.text[from..].find(END).ok_or_else(missing)?;
        Ok((&self.text[..from], &self.text[from..to], &self.text[to..]))
    }
}

#[cfg(test)]
mod tests {
    use super::{Marked, MarkedError};
    use crate::markdown::marked;

    #[test]
    fn only_what_stands_between_the_marks_is_written_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("page.md");
        let text = format!("a\n{}b\n{}c\n", marked("one", "old\n"), marked("two", "kept"));
        std::fs::write(&path, &text).unwrap();
        let mut page = Marked::open(&path).unwrap();
        assert_eq!(page.names(), ["one", "two"]);
        assert_eq!(page.between("one").unwrap(), "old\n");
        page.put("one", "new\n\n").unwrap();
        page.save().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text.replace("old", "new"));
        assert!(
            matches!(page.put("three", ""), Err(MarkedError::Mark { name, .. }) if name == "three")
        );
    }
}
