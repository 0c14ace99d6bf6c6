//! The folder and its files.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT, fstat,
    futimens, openat, renameat, statat, unlinkat,
};

use crate::path;

/// A folder of this user's, and the room that its files may take.
#[derive(Debug)]
pub struct KeptFiles {
    at: OwnedFd,
    most_bytes: u64,
}

/// A file of a folder, by what can be said of it without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptName {
    /// Its name, for [`KeptFiles::read`].
    pub name: String,
    /// How many bytes it has.
    pub bytes: u64,
}

/// What the names of files begin with that are not complete yet.
const INCOMPLETE: &str = ".new-";
/// A file that is not complete after this time never will be.
const ABANDONED: Duration = Duration::from_secs(3600);

/// The path of the folder `program`/`subject` in the one in which programs of this user keep such files, for what is
/// kept there by other means. It is made if it is not there. Nobody but root and this user can change what it names.
///
/// # Errors
/// Those of [`KeptFiles::of_user`].
pub fn own_folder(program: &str, subject: &str) -> io::Result<PathBuf> {
    let parent = path::of_user().ok_or(io::ErrorKind::NotFound)?;
    own_folder_in(&parent, program, subject)
}

/// The same, in a folder that is named.
///
/// # Errors
/// Those of [`KeptFiles::of_user`].
pub fn own_folder_in(parent: &Path, program: &str, subject: &str) -> io::Result<PathBuf> {
    KeptFiles::below(parent, program, subject, 0)?;
    Ok(parent.join(program).join(subject))
}

impl KeptFiles {
    /// The folder `program`/`subject` in the one in which programs of this user keep such files:
    /// `$XDG_CACHE_HOME`, or `~/.cache`. It is made if it is not there. Its files may take `most_bytes`
    /// together.
    ///
    /// # Errors
    /// If the environment names no folder, if one on the way is a link or belongs to neither root nor this
    /// user, if somebody else can write to the folder itself, or those of the system.
    pub fn of_user(program: &str, subject: &str, most_bytes: u64) -> io::Result<Self> {
        let parent = path::of_user().ok_or(io::ErrorKind::NotFound)?;
        Self::below(&parent, program, subject, most_bytes)
    }

    /// The same, if it is there: nothing is made.
    ///
    /// # Errors
    /// Those of [`of_user`](Self::of_user).
    pub fn found_of_user(
        program: &str,
        subject: &str,
        most_bytes: u64,
    ) -> io::Result<Option<Self>> {
        let parent = path::of_user().ok_or(io::ErrorKind::NotFound)?;
        match parent.join(program).join(subject).symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            _ => Self::below(&parent, program, subject, most_bytes).map(Some),
        }
    }

    /// The same, in a folder that is named.
    ///
    /// # Errors
    /// Those of [`of_user`](Self::of_user).
    pub fn below(parent: &Path, program: &str, subject: &str, most_bytes: u64) -> io::Result<Self> {
        let parent = path::open(parent)?;
        let program = path::open_own(&parent, OsStr::new(program))?;
        Ok(Self { at: path::open_own(&program, OsStr::new(subject))?, most_bytes })
    }

    /// What a file holds, or `None` if there is none of that name. It counts as used now.
    ///
    /// # Errors
    /// If it is no file of this user's that nobody else can write to, if it is larger than all files together may
    /// be, or those of the system.
    pub fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        self.read_within(name, self.most_bytes)
    }

    /// The same, of a file that may have so many bytes.
    ///
    /// # Errors
    /// Those of [`read`](Self::read), and if it has more.
    pub fn read_within(&self, name: &str, most_bytes: u64) -> io::Result<Option<Vec<u8>>> {
        // What is no file might keep who opens it waiting.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(&self.at, name, flags, Mode::empty()) {
            Err(rustix::io::Errno::NOENT) => return Ok(None),
            file => file?,
        };
        let found = fstat(&file)?;
        let is_file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
        if !is_file || found.st_uid != path::user() || found.st_mode & 0o022 != 0 {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        if size(found.st_size) > most_bytes {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        // Where that cannot be noted, the file may be removed sooner.
        let _ = futimens(&file, &USED_NOW);
        let mut bytes = Vec::new();
        File::from(file).take(most_bytes).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    /// The bytes that all files together may have.
    #[must_use]
    pub fn most_bytes(&self) -> u64 {
        self.most_bytes
    }

    /// The files that are complete, the one that was used last first. A name that is no text is left out. Other
    /// processes may write and remove files meanwhile.
    ///
    /// # Errors
    /// Those of the system.
    pub fn names(&self) -> io::Result<Vec<KeptName>> {
        self.names_with("")
    }

    /// The same, of those whose names begin so. Nothing is asked of the others, which may be many, on a disk that is far
    /// away.
    ///
    /// # Errors
    /// Those of the system.
    pub fn names_with(&self, beginning: &str) -> io::Result<Vec<KeptName>> {
        let mut files = self.complete(beginning)?;
        files.sort();
        let named = |file: Listed| {
            Some(KeptName { name: file.name.into_string().ok()?, bytes: file.bytes })
        };
        Ok(files.into_iter().rev().filter_map(named).collect())
    }

    /// Removes a file. That there is none is no error, as another process may have been first.
    ///
    /// # Errors
    /// Those of the system.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        match unlinkat(&self.at, name, AtFlags::empty()) {
            Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Puts a file in the place of another one of that name, and removes what does not fit any more.
    ///
    /// # Errors
    /// Those of the system: a full disk, for example. The file is then as it was.
    pub fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        static WRITTEN: AtomicU32 = AtomicU32::new(0);
        let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
        let beside = format!("{INCOMPLETE}{}-{number}", std::process::id());
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(&self.at, &beside, flags, Mode::from_raw_mode(0o600))?);
        let written =
            file.write_all(bytes).and_then(|()| Ok(renameat(&self.at, &beside, &self.at, name)?));
        if written.is_err() {
            let _ = unlinkat(&self.at, &beside, AtFlags::empty());
        }
        written?;
        self.trim(name)
    }

    /// Removes those that were used longest ago until the others fit; never the one `but`.
    fn trim(&self, but: &str) -> io::Result<()> {
        if self.most_bytes == u64::MAX {
            return Ok(());
        }
        let mut files = self.complete("")?;
        files.sort();
        let mut total: u64 = files.iter().map(|file| file.bytes).sum();
        for file in files {
            if total <= self.most_bytes {
                break;
            }
            if file.name.to_bytes() != but.as_bytes() {
                // It may be gone already, by another process.
                let _ = unlinkat(&self.at, &file.name, AtFlags::empty());
                total -= file.bytes;
            }
        }
        Ok(())
    }

    /// The files that are complete and whose names begin so, in no order. Those that were abandoned are removed.
    fn complete(&self, beginning: &str) -> io::Result<Vec<Listed>> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let mut files = Vec::new();
        for entry in Dir::read_from(&self.at)? {
            let name = entry?.file_name().to_owned();
            let is_meant = [beginning, INCOMPLETE]
                .iter()
                .any(|one| name.to_bytes().starts_with(one.as_bytes()));
            if !is_meant {
                continue;
            }
            let Ok(found) = statat(&self.at, &name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
                continue;
            }
            if name.to_bytes().starts_with(INCOMPLETE.as_bytes()) {
                let age = now.saturating_sub(u64::try_from(found.st_mtime).unwrap_or(0));
                if age > ABANDONED.as_secs() {
                    let _ = unlinkat(&self.at, &name, AtFlags::empty());
                }
            } else {
                let used = (found.st_mtime, found.st_mtime_nsec);
                files.push(Listed { used, name, bytes: size(found.st_size) });
            }
        }
        Ok(files)
    }
}

/// A file of the folder. The one that was used longest ago is the least.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Listed {
    /// When it was used last: seconds, and nanoseconds beyond these.
    used: (i64, u64),
    name: CString,
    bytes: u64,
}

const USED_NOW: Timestamps = Timestamps {
    last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
    last_modification: Timespec { tv_sec: 0, tv_nsec: UTIME_NOW },
};

fn size(of_file: i64) -> u64 {
    u64::try_from(of_file).unwrap_or(0)
}
