//! The folder in which a user's points are kept.

use std::io;
use std::path::Path;

use kilocore_kept_files::{KeptFiles, KeptName};

use crate::{Batch, Key, Subject};

/// The bytes that all files together may take.
pub const MOST_BYTES: u64 = 256 << 20;
/// The bytes that the files of one subject may take.
const MOST_BYTES_A_SUBJECT: u64 = MOST_BYTES / 2;
/// The bytes that a file may take.
const MOST_BYTES_A_FILE: usize = 8 << 20;
/// A file of fewer bytes is small. So two that are small fit into one.
const SMALL: u64 = MOST_BYTES_A_FILE as u64 / 2;
/// More small files of a subject than these become one.
const MOST_SMALL: usize = 16;
/// Letters of a file's name that say what it holds.
const CONTENT_LETTERS: usize = 24;

/// A folder of points.
///
/// A file holds points of one subject, and its name says which subject, and which points. So a file is never written
/// anew with something else in it, and processes that write at the same time lose nothing. A file that is damaged is
/// removed.
#[derive(Debug)]
pub struct Store {
    files: KeptFiles,
}

impl Store {
    /// That of this user: `kilocore/points` in the folder in which programs of this user keep such files.
    ///
    /// # Errors
    /// Those of [`KeptFiles::of_user`]: nothing can be kept.
    pub fn of_user() -> io::Result<Self> {
        KeptFiles::of_user("kilocore", "points", MOST_BYTES).map(Self::in_files)
    }

    /// The folder `kilocore/points` in one that is named.
    ///
    /// # Errors
    /// Those of [`KeptFiles::below`]: nothing can be kept.
    pub fn below(folder: &Path) -> io::Result<Self> {
        KeptFiles::below(folder, "kilocore", "points", MOST_BYTES).map(Self::in_files)
    }

    /// One in these files.
    #[must_use]
    pub fn in_files(files: KeptFiles) -> Self {
        Self { files }
    }

    /// All points of a subject that are kept. Files that are damaged, or beyond what a subject may take, are removed.
    /// Where the system refuses something, less is known.
    #[must_use]
    pub fn read(&self, subject: &Subject) -> Batch {
        let mut room = MOST_BYTES_A_SUBJECT.min(self.files.most_bytes());
        let fits = |file: &KeptName| {
            room = room.saturating_sub(file.bytes);
            room > 0
        };
        let (fitting, beyond): (Vec<_>, Vec<_>) = self.of(subject).into_iter().partition(fits);
        for file in beyond {
            let _ = self.files.remove(&file.name);
        }
        let mut all = Batch::default();
        // What is read counts as used. So the one that was used last is read last.
        for file in fitting.iter().rev() {
            all.append(self.read_file(subject, file).unwrap_or_default());
        }
        all
    }

    /// Keeps more points of a subject.
    ///
    /// # Errors
    /// Those of the system: a full disk, for example. What was there before is there still.
    pub fn write(&self, subject: &Subject, batch: Batch) -> io::Result<()> {
        self.write_files(subject, batch)?;
        let mut small = self.of(subject);
        small.retain(|file| file.bytes < SMALL);
        if small.len() <= MOST_SMALL {
            return Ok(());
        }
        let mut merged = Batch::default();
        for file in &small {
            merged.append(self.read_file(subject, file).unwrap_or_default());
        }
        let written = self.write_files(subject, merged)?;
        for file in small.iter().filter(|file| !written.contains(&file.name)) {
            let _ = self.files.remove(&file.name);
        }
        Ok(())
    }

    /// The files of a subject, the one that was used last first.
    fn of(&self, subject: &Subject) -> Vec<KeptName> {
        let mut files = self.files.names().unwrap_or_default();
        let name = subject.name();
        files
            .retain(|file| file.name.strip_prefix(&name).is_some_and(|rest| rest.starts_with('-')));
        files
    }

    /// What a file holds. One that is damaged, or that this program has not written, is removed.
    fn read_file(&self, subject: &Subject, file: &KeptName) -> Option<Batch> {
        let read = || {
            // Another process may have removed it, and then it holds nothing.
            let Some(bytes) = self.files.read(&file.name).ok()? else {
                return Some(Batch::default());
            };
            let batch = Batch::read(&bytes)?;
            (name(subject, &bytes) == file.name).then_some(batch)
        };
        let is_short = file.bytes <= MOST_BYTES_A_FILE as u64;
        let batch = is_short.then(read).flatten();
        if batch.is_none() {
            let _ = self.files.remove(&file.name);
        }
        batch
    }

    /// Writes files of these points, and returns their names.
    fn write_files(&self, subject: &Subject, batch: Batch) -> io::Result<Vec<String>> {
        let write = |part: Batch| {
            let bytes = part.to_bytes();
            let name = name(subject, &bytes);
            self.files.write(&name, &bytes)?;
            Ok(name)
        };
        batch.split(MOST_BYTES_A_FILE).into_iter().map(write).collect()
    }
}

/// The name of a file with these bytes.
fn name(subject: &Subject, bytes: &[u8]) -> String {
    let content = Key::of_bytes(bytes).to_string();
    format!("{}-{}", subject.name(), &content[..CONTENT_LETTERS])
}
