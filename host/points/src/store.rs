//! The folder in which a user's points are kept.

use std::io;
use std::path::Path;

use kilocore_kept_files::{KeptFiles, KeptName};

use crate::{Batch, Key, Subject};

/// The bytes that all files together may take.
pub const MOST_BYTES: u64 = 256 << 20;
/// The bytes that a file may take.
const MOST_BYTES_A_FILE: usize = 8 << 20;
/// A file of fewer bytes is small. So two that are small fit into one.
const SMALL: u64 = MOST_BYTES_A_FILE as u64 / 2;
/// More small files of a subject than these become one.
const MOST_SMALL: usize = 16;
/// Letters of a file's name that say what it holds.
const CONTENT_LETTERS: usize = 24;

/// So often files are read again that other processes have merged meanwhile.
const MOST_READINGS: usize = 8;

/// What a file holds.
enum Read {
    Whole(Batch),
    /// Another process has removed it. What it held is in another file, unless there was no room.
    Gone,
    /// The system did not give it; or it was damaged, or this program has not written it, and is removed.
    Nothing,
}

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

    /// The same without a limit of its size.
    ///
    /// # Errors
    /// Those of [`KeptFiles::below`]: nothing can be kept.
    pub fn without_limit(folder: &Path) -> io::Result<Self> {
        KeptFiles::below(folder, "kilocore", "points", u64::MAX).map(Self::in_files)
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
        // What others were merging while it was read is read anew.
        for _ in 0..MOST_READINGS {
            let (read, is_whole) = self.read_once(subject);
            if is_whole {
                return read;
            }
        }
        self.read_once(subject).0
    }

    /// All points of a subject that are in files which are there from the beginning to the end, and whether these are all.
    fn read_once(&self, subject: &Subject) -> (Batch, bool) {
        // Half of all, so that there is room for others.
        let mut room = self.files.most_bytes() / 2;
        let fits = |file: &KeptName| {
            room = room.saturating_sub(file.bytes);
            room > 0
        };
        let (fitting, beyond): (Vec<_>, Vec<_>) = self.of(subject).into_iter().partition(fits);
        for file in beyond {
            let _ = self.files.remove(&file.name);
        }
        let (mut all, mut is_whole) = (Batch::default(), true);
        // What is read counts as used. So the one that was used last is read last.
        for file in fitting.iter().rev() {
            match self.read_file(subject, file) {
                Read::Whole(batch) => all.append(batch),
                Read::Gone => is_whole = false,
                Read::Nothing => {}
            }
        }
        (all, is_whole)
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
            if let Read::Whole(batch) = self.read_file(subject, file) {
                merged.append(batch);
            }
        }
        let written = self.write_files(subject, merged)?;
        for file in small.iter().filter(|file| !written.contains(&file.name)) {
            let _ = self.files.remove(&file.name);
        }
        Ok(())
    }

    /// The files of a subject, the one that was used last first.
    fn of(&self, subject: &Subject) -> Vec<KeptName> {
        self.files.names_with(&format!("{}-", subject.name())).unwrap_or_default()
    }

    /// What a file holds. One that is damaged, or that this program has not written, is removed.
    fn read_file(&self, subject: &Subject, file: &KeptName) -> Read {
        let is_short = file.bytes <= MOST_BYTES_A_FILE as u64;
        let bytes = match is_short.then(|| self.files.read(&file.name)) {
            Some(Ok(None)) => return Read::Gone,
            // It may be whole: the system may have no memory just now.
            Some(Err(_)) => return Read::Nothing,
            Some(Ok(bytes)) => bytes,
            None => None,
        };
        let is_own = |bytes: &Vec<u8>| name(subject, bytes) == file.name;
        match bytes.filter(is_own).and_then(|bytes| Batch::read(&bytes)) {
            Some(batch) => Read::Whole(batch),
            None => {
                let _ = self.files.remove(&file.name);
                Read::Nothing
            }
        }
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
