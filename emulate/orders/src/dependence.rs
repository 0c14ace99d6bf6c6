//! What a run depended on outside of itself, by which its result may be used again.
//!
//! # Decisions
//! * **A file is known by its stamp**: device, number, size, owner, mode, and both times, to the nanosecond. The time of
//!   the last change is the system's: nobody sets it by hand, as `cp -a`, archives and packages set the other one. So
//!   nothing has to be read again, however large it is.
//! * **A stamp counts if it is older than the clock's last step** when it is taken. A file that is written twice within
//!   a step has one stamp before and after.
//! * **Only file systems of this host count**, on which the kernel notes each change. Those of a network or of
//!   another process say what they like.
//! * **What the kernel tells in files has no stamp**, so a few of these count by what they say, if it is short.
//!
//! What is not seen: a program that goes on writing into a file that it has mapped, without a change of its times.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::time::SystemTime;

use rustix::fs::{fstatfs, statfs};
use serde::{Deserialize, Serialize};

use crate::file_system::{FileSystem, is_telling, said};
use crate::{Stamp, Unstamped};

/// What a run depended on besides its command, its environment and its orders.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dependence {
    /// Where it looked for files, and what was there.
    pub files: Vec<SeenFile>,
    /// What else it depended on, or did outside of itself, in the words of a sentence about it. None if there is
    /// nothing of the kind: its result can be used again.
    pub also: Option<String>,
}

/// A path, and what was there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeenFile {
    /// The path, from the root.
    pub path: String,
    /// Whether a link at its end was followed.
    pub follows: bool,
    /// What was there.
    pub found: Found,
}

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Found {
    /// Nothing.
    Nothing,
    /// This file or folder.
    Stamped(Stamp),
    /// Something that is no link.
    NoLink,
    /// A folder, whatever is in it.
    Folder {
        /// Its device.
        device: u64,
        /// Its number there.
        inode: u64,
    },
    /// Something of the kernel's, of this kind: the bits of its mode that say so.
    OfKernel(u32),
    /// A file of the kernel's that says this.
    Says(String),
}

/// Whether an error says that there is nothing at a path.
fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn metadata(path: &str, follows: bool) -> io::Result<Metadata> {
    let path = Path::new(path);
    if follows { path.metadata() } else { path.symlink_metadata() }
}

impl SeenFile {
    /// What is at a path now.
    ///
    /// # Errors
    /// If nobody could tell later whether it is still so.
    pub fn at(path: &str, follows: bool) -> Result<Self, Unstamped> {
        let seen = |found| Ok(Self { path: path.to_owned(), follows, found });
        let file = match metadata(path, follows) {
            Err(error) if is_nothing(&error) => return seen(Found::Nothing),
            file => file?,
        };
        // A link has a file system as well: that of its folder.
        let on = if file.is_symlink() { parent(path) } else { path };
        match FileSystem::of(statfs(on).map_err(io::Error::from)?.f_type) {
            FileSystem::Local => seen(Found::Stamped(settled(&file)?)),
            FileSystem::Kernel => seen(Found::OfKernel(file.mode() & libc::S_IFMT)),
            FileSystem::Other => Err(Unstamped::FileSystem),
        }
    }

    /// What was opened at a path, to be read.
    ///
    /// # Errors
    /// If nobody could tell later whether it is still so.
    pub fn opened(path: &str, follows: bool, file: &File) -> Result<Self, Unstamped> {
        let seen = |found| Ok(Self { path: path.to_owned(), follows, found });
        let (is, system) = (file.metadata()?, fstatfs(file).map_err(io::Error::from)?);
        if !(is.is_file() || is.is_dir() || is.is_symlink() || is_null_device(&is)) {
            return Err(Unstamped::NoFile);
        }
        match FileSystem::of(system.f_type) {
            FileSystem::Local => seen(Found::Stamped(settled(&is)?)),
            FileSystem::Kernel if is_telling(path) => seen(Found::Says(said(path)?)),
            FileSystem::Kernel => Err(Unstamped::OfKernel),
            FileSystem::Other => Err(Unstamped::FileSystem),
        }
    }

    /// That there is something at a path, and no link.
    #[must_use]
    pub fn no_link(path: &str) -> Self {
        Self { path: path.to_owned(), follows: false, found: Found::NoLink }
    }

    /// The folder at a path, whatever is in it.
    ///
    /// # Errors
    /// If there is none.
    pub fn folder(path: &str) -> Result<Self, Unstamped> {
        let is = metadata(path, true)?;
        let found = Found::Folder { device: is.dev(), inode: is.ino() };
        Ok(Self { path: path.to_owned(), follows: true, found })
    }

    /// Whether all of that is so now.
    #[must_use]
    pub fn is_so(&self) -> bool {
        let now = metadata(&self.path, self.follows);
        match (&self.found, now) {
            (Found::Nothing, Err(error)) => is_nothing(&error),
            (Found::Stamped(stamp), Ok(now)) => Stamp::of(&now) == *stamp,
            (Found::NoLink, Ok(now)) => !now.is_symlink(),
            (Found::Folder { device, inode }, Ok(now)) => {
                now.is_dir() && (now.dev(), now.ino()) == (*device, *inode)
            }
            (Found::OfKernel(kind), Ok(now)) => now.mode() & libc::S_IFMT == *kind,
            (Found::Says(text), Ok(_)) => {
                is_telling(&self.path) && said(&self.path).is_ok_and(|now| now == *text)
            }
            _ => false,
        }
    }
}

fn settled(file: &Metadata) -> Result<Stamp, Unstamped> {
    let stamp = Stamp::of(file);
    if stamp.is_settled(SystemTime::now()) { Ok(stamp) } else { Err(Unstamped::Recent) }
}

/// The path of the folder that something is in.
fn parent(path: &str) -> &str {
    match path.trim_end_matches('/').rsplit_once('/') {
        Some((parent, _)) if !parent.is_empty() => parent,
        _ => "/",
    }
}

/// Whether something is `/dev/null`, `/dev/zero` or `/dev/full`: they are the same for everybody.
#[must_use]
pub fn is_null_device(file: &Metadata) -> bool {
    file.file_type().is_char_device()
        && [3, 5, 7].map(|minor| libc::makedev(1, minor)).contains(&file.rdev())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, Mode};

    use super::*;

    #[test]
    fn what_is_there_is_seen_and_so_is_its_change() {
        let folder = tempfile::tempdir().expect("there is room");
        let name = |name: &str| folder.path().join(name).to_str().expect("plain").to_owned();
        let (file, link, gone) = (name("file"), name("link"), name("gone"));
        fs::write(&file, "first").expect("there is room");
        symlink(&file, &link).expect("it is ours");
        // On a busy host the clock may go on in between, but not each time.
        let is_recent = |_| {
            fs::write(&file, "first").expect("it is ours");
            matches!(SeenFile::at(&file, true), Err(Unstamped::Recent))
        };
        assert!((0..1_000).any(is_recent));
        // The times of files go on by themselves.
        let settled = loop {
            if let Ok(seen) = SeenFile::at(&file, true) {
                break seen;
            }
        };
        let through = SeenFile::at(&link, true).expect("it has settled");
        assert_eq!(through.found, settled.found);
        let opened = File::open(&file).expect("it is there");
        assert_eq!(SeenFile::opened(&file, true, &opened).expect("it has settled"), settled);
        let (no_link, nothing) = (SeenFile::no_link(&file), SeenFile::at(&gone, true));
        let nothing = nothing.expect("there is nothing");
        let inside = SeenFile::folder(folder.path().to_str().expect("plain")).expect("a folder");
        let all = [&settled, &through, &no_link, &nothing, &inside];
        assert!(all.iter().all(|seen| seen.is_so()));
        assert!(!SeenFile::no_link(&link).is_so());

        // The same size, and the time of before set by hand, as archives do.
        let before = opened.metadata().expect("it is there").modified().expect("a time");
        fs::write(&file, "other").expect("it is ours");
        File::options().append(true).open(&file).expect("ours").set_modified(before).expect("ours");
        assert!(!settled.is_so() && !through.is_so() && no_link.is_so() && inside.is_so());
        symlink(name("nowhere"), &gone).expect("it is ours");
        assert!(nothing.is_so(), "a link to nothing");
        fs::remove_file(&gone).expect("it is ours");
        fs::write(&gone, "").expect("it is ours");
        assert!(!nothing.is_so());
    }

    #[test]
    fn of_the_kernel_only_some_files_count_and_by_what_they_say() {
        let of = |path: &str| SeenFile::opened(path, true, &File::open(path).expect("there"));
        let known = of("/proc/sys/kernel/ostype").expect("it is told");
        assert_eq!(known.found, Found::Says("Linux\n".to_owned()));
        assert!(known.is_so());
        let other = SeenFile { found: Found::Says("Other\n".to_owned()), ..known.clone() };
        assert!(!other.is_so());
        assert!(matches!(of("/proc/self/stat"), Err(Unstamped::OfKernel)));
        assert!(matches!(of("/proc/sys/../uptime"), Err(Unstamped::OfKernel)));
        assert!(
            of("/dev/null").is_ok()
                || of("/dev/null").is_err_and(|why| matches!(why, Unstamped::FileSystem))
        );
        assert!(matches!(of("/dev/urandom"), Err(Unstamped::NoFile)));
        assert!(matches!(
            SeenFile::at("/proc/self/stat", true).expect("kernel").found,
            Found::OfKernel(_)
        ));
        // A stranger may have named any path, which is then not read.
        let folder = tempfile::tempdir().expect("there is room");
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(CWD, &pipe, rustix::fs::FileType::Fifo, Mode::RUSR, 0).expect("ours");
        let said = Found::Says(String::new());
        let path = pipe.to_str().expect("plain").to_owned();
        assert!(!SeenFile { path, follows: true, found: said }.is_so());
    }
}
