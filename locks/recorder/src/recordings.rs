//! What processes leave in the folder in which they record.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use kilocore_lock_profile::{Lack, RECORDING_EXTENSION, Recording, Snapshot};
use kilocore_process::recording_folder::Folder;

use crate::error::MeasureError;
use crate::shortage::Shortage;

/// The ending of the name of the note that a recorder leaves if it cannot record.
const NOTE: &str = "lost";

/// The ending of the name of the note on a program that is executed and may have no recorder.
const EXECUTED: &str = "executed";

/// The folder. It is deleted when this is dropped.
#[derive(Debug)]
pub(crate) struct Recordings {
    folder: Folder,
}

impl Recordings {
    /// Makes a folder, in memory if possible.
    pub(crate) fn new() -> Result<Self, MeasureError> {
        let failed = |source| MeasureError::Directory { directory: std::env::temp_dir(), source };
        Ok(Self { folder: Folder::new().map_err(failed)? })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns which processes could not record, and why.
    pub(crate) fn shortages(&self) -> Vec<(u32, Shortage)> {
        shortages(self.path())
    }

    /// Returns which processes executed which programs that may have no recorder.
    pub(crate) fn executed(&self) -> Vec<(u32, PathBuf)> {
        let notes = files(self.path()).into_iter().filter(|path| ends_with(path, EXECUTED));
        let mut executed: Vec<_> = notes.filter_map(|note| executed_by(&note)).collect();
        executed.sort_unstable();
        executed
    }

    /// Whether a process left a recording with something in it.
    pub(crate) fn has(&self, pid: u32) -> bool {
        files(self.path()).iter().any(|path| {
            process_of(path) == Some(pid)
                && ends_with(path, RECORDING_EXTENSION)
                && fs::metadata(path).is_ok_and(|file| file.len() > 0)
        })
    }
}

/// Calls `with` with each recording in a folder that can be read, also while it is written.
pub(crate) fn each(folder: &Path, mut with: impl FnMut(Recording)) {
    for path in files(folder).iter().filter(|path| ends_with(path, RECORDING_EXTENSION)) {
        if let Ok(Some(recording)) = Recording::open(path) {
            with(recording);
        }
    }
}

/// How often all processes that record in a folder have taken a lock until now. `None` if one of them could not
/// count all of that.
pub(crate) fn sections(folder: &Path) -> Option<u64> {
    shortages(folder).is_empty().then(|| Snapshot::read(folder).ok())??.sections()
}

fn shortages(folder: &Path) -> Vec<(u32, Shortage)> {
    let mut shortages: Vec<_> =
        files(folder).into_iter().filter_map(|path| shortage(&path)).collect();
    shortages.sort_unstable();
    shortages.dedup_by_key(|(pid, _)| *pid);
    shortages
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    paths.filter(|path| path.symlink_metadata().is_ok_and(|file| file.is_file())).collect()
}

fn ends_with(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|extension| extension == ending)
}

/// The number at the beginning of a file's name.
fn process_of(path: &Path) -> Option<u32> {
    let name = path.file_stem()?.to_str()?;
    name.split('-').next()?.parse().ok()
}

/// Returns which process executed which program, as a note says.
fn executed_by(note: &Path) -> Option<(u32, PathBuf)> {
    let mut room = [0; libc::PATH_MAX as usize + 12];
    let text = kilocore_linux::read(note.to_str()?, &mut room).ok()?;
    let blank = text.iter().position(|byte| *byte == b' ')?;
    let process = std::str::from_utf8(&text[..blank]).ok()?.parse().ok()?;
    Some((process, PathBuf::from(OsStr::from_bytes(&text[blank + 1..]))))
}

/// Returns what a note says about why a process could not record.
fn shortage(path: &Path) -> Option<(u32, Shortage)> {
    /// The longest of the words, and a little more.
    const WORD: usize = 64;
    let pid = process_of(path)?;
    if ends_with(path, NOTE) {
        let mut room = [0; WORD];
        let word = kilocore_linux::read(path.to_str()?, &mut room).ok()?;
        return match std::str::from_utf8(word).ok()?.trim() {
            // There may have been room for the note's name only.
            "no-room" | "" => Some((pid, Shortage::Room)),
            "no-permission" => Some((pid, Shortage::Permission)),
            "no-memory" => Some((pid, Shortage::Memory)),
            _ => None,
        };
    }
    if !ends_with(path, RECORDING_EXTENSION) {
        return None;
    }
    match Recording::open(path) {
        Ok(Some(recording)) => match recording.lack()? {
            Lack::Room => Some((pid, Shortage::Room)),
            Lack::Permission => Some((pid, Shortage::Permission)),
            Lack::Memory => Some((pid, Shortage::Memory)),
        },
        // A recorder that could leave no note leaves the recording that it had begun. That is a
        // file without room, or one with room and nothing in it because it could not be mapped.
        Ok(None) if fs::metadata(path).ok()?.len() == 0 => Some((pid, Shortage::Room)),
        Ok(None) => Some((pid, Shortage::Memory)),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_processes_could_not_do_is_read_from_what_they_left() {
        let recordings = Recordings::new().expect("there is room");
        let write = |name: &str, bytes: &[u8]| fs::write(recordings.path().join(name), bytes);
        write("11.lost", b"no-memory\n").unwrap();
        write("12.lost", b"no-permission").unwrap();
        write("13-1.kcrec", b"").unwrap();
        write("14-1.kcrec", &[0; 4096]).unwrap();
        write("15.lost", b"something else").unwrap();
        write("18.lost", b"").unwrap();
        write("16-1.kcrec", b"no recording").unwrap();
        write("other", b"no-room").unwrap();
        let expected = [
            (11, Shortage::Memory),
            (12, Shortage::Permission),
            (13, Shortage::Room),
            (14, Shortage::Memory),
            (18, Shortage::Room),
        ];
        assert_eq!(recordings.shortages(), expected);
        assert!(recordings.has(16) && !recordings.has(13) && !recordings.has(17));
    }
}
