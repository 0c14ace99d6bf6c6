//! The folders of arrays, which all nodes see.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::task::{self, TaskDocument, TaskReport};
use crate::places::{Purpose, folder};

/// What the names of arrays begin with.
const PREFIX: &str = "kilocore-";

/// So much of what a task printed last is shown if it was lost, in bytes.
const MOST_PRINTED: usize = 500;

/// The folder of an array. Its name is the array's.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ArrayFolder(PathBuf);

impl ArrayFolder {
    /// A new one.
    pub(crate) fn create(own: &Path, tasks: &[TaskDocument]) -> io::Result<Self> {
        let all = folder(own, Purpose::Arrays)?;
        let folder = tempfile::Builder::new().prefix(PREFIX).rand_bytes(10).tempdir_in(all)?;
        for (index, document) in (0u32..).zip(tasks) {
            task::write(&folder.path().join(format!("{index}.json")), document)?;
        }
        Ok(Self(folder.keep()))
    }

    /// All that are there, by their names.
    pub(crate) fn all(own: &Path) -> io::Result<Vec<Self>> {
        let mut folders = Vec::new();
        for entry in fs::read_dir(folder(own, Purpose::Arrays)?)? {
            folders.push(Self(entry?.path()));
        }
        folders.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(folders)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn name(&self) -> String {
        self.0.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// What its tasks are given, in their order, up to the first that cannot be read: one that was being written when its
    /// writer was lost was never submitted.
    pub(crate) fn tasks(&self) -> Vec<TaskDocument> {
        let read = |index: u32| task::read(&self.0.join(format!("{index}.json"))).ok();
        (0..).map_while(read).collect()
    }

    /// What a task has reported so far.
    pub(crate) fn report(&self, index: u32) -> TaskReport {
        task::read(&self.0.join(format!("{index}.report"))).unwrap_or_default()
    }

    /// The last that a task has printed.
    pub(crate) fn printed(&self, index: u32) -> String {
        let bytes = fs::read(self.0.join(format!("{index}.log"))).unwrap_or_default();
        let last = &bytes[bytes.len().saturating_sub(MOST_PRINTED)..];
        String::from_utf8_lossy(last).trim().to_owned()
    }

    /// Removes it. What cannot be removed is so later.
    pub(crate) fn remove(&self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
