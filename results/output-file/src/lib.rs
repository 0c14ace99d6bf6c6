//! The file that somebody names for a result.
//!
//! A file appears whole or not at all: it is made under another name in the same folder, and then takes the place of
//! the one that was there. That must not happen to what is no regular file. Whoever names `/dev/stdout`, a FIFO or a
//! device wants what they stand for to get the result, and the next program to find them where they were. So those are
//! opened and written to, once the result is whole.
//!
//! # Decisions
//! * **A link stays a link**, and the file that it leads to is replaced. Writing through it would be as good for the
//!   link, but an error halfway would leave neither the old file nor the new one.
//! * **This process's own output is written to by its descriptor.** With `> FILE`, `/dev/stdout` leads to a regular
//!   file. If that were replaced, all that is printed would go to a file without a name; if it were opened anew, its
//!   beginning would be written over.
//! * **What strangers have put into `/tmp` is not followed**, no link, and no FIFO either. Linux refuses that as well
//!   (`fs.protected_symlinks`), but only to who leaves it to follow links.

use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use rustix::io::Errno;
use tempfile::NamedTempFile;

/// Links that may lead to one another; Linux follows no more.
const MOST_LINKS: usize = 40;

/// Where a result goes that somebody has given a name for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputFile(Target);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Target {
    /// A regular file, or one that is to be: its path without links in it.
    Regular(PathBuf),
    /// What this process prints to.
    Stdout,
    /// What this process says things on.
    Stderr,
    /// Another descriptor of this process: its path. It may be open to a regular file, of which nothing may get lost.
    Descriptor(PathBuf),
    /// A device, a FIFO or a socket.
    Special(PathBuf),
}

impl OutputFile {
    /// Where a result of this name goes. Nothing is opened.
    ///
    /// # Errors
    /// If it names a folder or nothing that could be a file, or is in a folder that is not there.
    pub fn named(path: &Path) -> io::Result<Self> {
        let mut at = path.to_owned();
        for _ in 0..MOST_LINKS {
            let is_folder = at.as_os_str().as_encoded_bytes().ends_with(b"/");
            let name = at.file_name().filter(|_| !is_folder);
            let name = name.ok_or(Errno::ISDIR)?.to_owned();
            let folder = beside(&at).canonicalize()?;
            at = folder.join(&name);
            if is_own_descriptors(&folder) {
                return Ok(Self(match name.to_str() {
                    Some("1") => Target::Stdout,
                    Some("2") => Target::Stderr,
                    _ => Target::Descriptor(at),
                }));
            }
            let found = fs::symlink_metadata(&at);
            if let Ok(found) = &found
                && !found.is_file()
                && is_planted(found, &folder)?
            {
                return Err(Errno::ACCESS.into());
            }
            match found {
                // What links of other processes say is no path: `pipe:[47]`.
                Ok(found) if found.is_symlink() && folder.starts_with("/proc") => {
                    return Ok(Self(Target::Special(at)));
                }
                Ok(found) if found.is_symlink() => at = folder.join(fs::read_link(&at)?),
                Ok(found) if found.is_dir() => return Err(Errno::ISDIR.into()),
                Ok(found) if found.is_file() => return Ok(Self(Target::Regular(at))),
                Ok(_) => return Ok(Self(Target::Special(at))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Ok(Self(Target::Regular(at)));
                }
                Err(error) => return Err(error),
            }
        }
        Err(Errno::LOOP.into())
    }

    /// Whether it is a file, or will be one, and nothing that is written through.
    #[must_use]
    pub fn is_regular(&self) -> bool {
        matches!(self.0, Target::Regular(_))
    }

    /// The folder in which a file is to be made that [takes its place](Self::receive).
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        match &self.0 {
            Target::Regular(path) => beside(path).to_owned(),
            // Nobody could move it from there, and nobody does.
            _ => std::env::temp_dir(),
        }
    }

    /// A file that is to take its place. Unlike most temporary ones, everybody may read it who may read new files.
    ///
    /// # Errors
    /// If none can be made there.
    pub fn begin(&self) -> io::Result<NamedTempFile> {
        let mut builder = tempfile::Builder::new();
        // The system takes off the process's mask.
        builder.prefix(".kilocore-").permissions(fs::Permissions::from_mode(0o666));
        builder.tempfile_in(self.folder())
    }

    /// Whether it can be written to, as far as that is known before. A FIFO or device is not opened: who reads it would
    /// see an end.
    ///
    /// # Errors
    /// What the system says.
    pub fn check(&self) -> io::Result<()> {
        match &self.0 {
            // The only sure way to find out; the file is gone at once.
            Target::Regular(_) => tempfile::tempfile_in(self.folder()).map(drop),
            Target::Special(path) => Ok(access(path, Access::WRITE_OK)?),
            _ => Ok(()),
        }
    }

    /// Lets a file that was [begun](Self::begin) take its place.
    ///
    /// # Errors
    /// What the system says. What was there before is as it was then, if it is a regular file.
    pub fn take(&self, whole: NamedTempFile) -> io::Result<()> {
        match &self.0 {
            Target::Regular(path) => Ok(whole.persist(path).map(drop)?),
            _ => self.pour(whole.path()),
        }
    }

    /// The same with a file of another's, in a folder within [that one](Self::folder).
    ///
    /// # Errors
    /// As those of [`take`](Self::take).
    pub fn receive(&self, whole: &Path) -> io::Result<()> {
        match &self.0 {
            Target::Regular(path) => fs::rename(whole, path),
            _ => self.pour(whole),
        }
    }

    /// Writes a file through.
    fn pour(&self, whole: &Path) -> io::Result<()> {
        let mut to = match &self.0 {
            Target::Stdout => {
                // What was printed before comes before.
                io::stdout().flush()?;
                File::from(io::stdout().as_fd().try_clone_to_owned()?)
            }
            Target::Stderr => File::from(io::stderr().as_fd().try_clone_to_owned()?),
            Target::Descriptor(path) => File::options().append(true).open(path)?,
            Target::Regular(path) | Target::Special(path) => {
                File::options().write(true).open(path)?
            }
        };
        io::copy(&mut File::open(whole)?, &mut to)?;
        Ok(())
    }
}

/// Writes a file that appears whole or not at all. What is no regular file is written through.
///
/// # Errors
/// What the system says. A regular file is then as it was before.
pub fn write_whole(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    let output = OutputFile::named(path)?;
    let mut file = output.begin()?;
    file.write_all(content.as_ref())?;
    output.take(file)
}

/// Whether something in a folder to which all can add, and from which they can take only what is theirs, is another's.
fn is_planted(found: &Metadata, folder: &Path) -> io::Result<bool> {
    const SHARED: u32 = 0o1002;
    let folder = fs::metadata(folder)?;
    let own = rustix::process::geteuid().as_raw();
    let is_shared = folder.mode() & SHARED == SHARED;
    Ok(is_shared && ![own, folder.uid()].contains(&found.uid()))
}

/// The folder that a path names a file in.
fn beside(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether a folder is that of this process's descriptors.
fn is_own_descriptors(folder: &Path) -> bool {
    let is = |own: &str| Path::new(own).canonicalize().is_ok_and(|own| own == folder);
    folder.starts_with("/proc") && (is("/proc/self/fd") || is("/proc/thread-self/fd"))
}
