//! What a person says of the figures: why a program is forecast badly, why a bar is missed.
//!
//! The file holds one-line texts without figures, as the generator knows those better:
//! ```toml
//! [missed]            # by bar
//! A-collapse = "…"
//! [A48]               # by machine and program
//! dedup = "…"
//! ```

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::bars;
use crate::data::DataSet;
use crate::run::Answer;

/// The table of notes on bars.
const MISSED: &str = "missed";

/// Notes by table and key.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Notes(BTreeMap<String, BTreeMap<String, String>>);

/// Why notes could not be read.
#[derive(Debug, Error)]
#[error("{file}: {why}")]
pub struct NotesError {
    /// The path of the notes.
    file: PathBuf,
    /// What is wrong, where, and how to mend it.
    why: String,
}

impl Notes {
    /// Reads notes; those of a file that does not exist are none.
    ///
    /// # Errors
    /// [`NotesError`] if it cannot be read, or is something else than tables of texts of one line.
    pub fn read(file: &Path) -> Result<Self, NotesError> {
        let wrong = |why: String| NotesError { file: file.to_owned(), why };
        let text = match std::fs::read_to_string(file) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            read => read.map_err(|e| wrong(e.to_string()))?,
        };
        let notes = Self(toml::from_str(&text).map_err(|e| wrong(e.to_string()))?);
        for (table, texts) in &notes.0 {
            if let Some((key, _)) = texts.iter().find(|(_, text)| text.trim().contains('\n')) {
                return Err(wrong(format!("[{table}] {key} has several lines; make it one")));
            }
        }
        Ok(notes)
    }

    /// Refuses notes on bars and programs that do not exist.
    ///
    /// # Errors
    /// Names the first such note.
    pub fn check(&self, sets: &[DataSet]) -> Result<(), String> {
        let program = |machine: &str, name: &str| {
            let here = sets.iter().filter(|s| s.machine.name == machine);
            here.flat_map(|s| &s.programs).any(|p| p.name == name)
        };
        for (table, texts) in &self.0 {
            for key in texts.keys() {
                let on_bar = table == MISSED && bars::KEYS.contains(&key.as_str());
                if !on_bar && !program(table, key) {
                    return Err(format!(
                        "[{table}] {key}: there is no such bar or program; take the note out or \
                         correct its name"
                    ));
                }
            }
        }
        Ok(())
    }

    /// The note on a bar.
    #[must_use]
    pub fn on_bar(&self, key: &str) -> Option<&str> {
        self.find(MISSED, key)
    }

    /// The note on a program.
    #[must_use]
    pub fn on(&self, answer: &Answer) -> Option<&str> {
        self.find(answer.machine.name, &answer.program)
    }

    /// Notes that consist of this one.
    #[cfg(test)]
    pub(crate) fn sample(table: &str, key: &str, text: &str) -> Self {
        let texts = BTreeMap::from([(key.to_owned(), text.to_owned())]);
        Self(BTreeMap::from([(table.to_owned(), texts)]))
    }

    fn find(&self, table: &str, key: &str) -> Option<&str> {
        self.0.get(table)?.get(key).map(|text| text.trim())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::answer;
    use crate::sample::{self, MACHINE, Oracle};
    use crate::split::Setting;

    fn read(text: &str) -> Result<Notes, NotesError> {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let file = folder.path().join("notes.toml");
        std::fs::write(&file, text).expect("the folder is writable");
        Notes::read(&file)
    }

    #[test]
    fn notes_are_found_by_bar_and_program() {
        let notes = read("[missed]\nA-level = \"x\"\n[A48]\np = \"y\"\n").expect("it is good");
        let program = sample::collapsing("p");
        let answer = answer(Setting::A, MACHINE, &program, &Oracle(1.0), &|_, _| {});
        assert_eq!(notes.on_bar("A-level"), Some("x"));
        assert_eq!(notes.on_bar("A-shape"), None);
        assert_eq!(notes.on(&answer), Some("y"));
        let sets = [DataSet { machine: MACHINE, programs: vec![program] }];
        assert!(notes.check(&sets).is_ok());
        assert!(notes.check(&[]).expect_err("nobody").contains("[A48] p"));
    }

    #[test]
    fn the_notes_of_this_project_are_about_bars_and_programs_that_there_are() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let notes = Notes::read(&root.join("docs/evidence/fidelity-notes.toml")).unwrap();
        assert!(notes.on_bar("C-verdict").is_some());
        let read = |machine| DataSet::read(&root.join("data/litl"), machine).unwrap();
        assert_eq!(notes.check(&crate::data::MACHINES.map(read)), Ok(()));
    }

    #[test]
    fn bad_notes_are_refused_and_absent_ones_are_none() {
        assert!(read("[A48]\np = 1\n").expect_err("no text").to_string().contains("line 2"));
        let several = read("[A48]\np = \"\"\"a\nb\"\"\"\n").expect_err("two lines").to_string();
        assert!(several.contains("[A48] p"), "{several}");
        let absent = Notes::read(Path::new("/no/such/file")).expect("absent notes are none");
        assert_eq!(absent, Notes::default());
    }
}
