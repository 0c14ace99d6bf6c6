//! Making and removing a folder.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::recording_folder::broker::Broker;
use crate::recording_folder::held::{lock, open};
use crate::recording_folder::{left, names};

/// Where files lie in memory.
const MEMORY: &str = "/dev/shm";

/// The library under programs ignores folders with longer paths.
const LONGEST: usize = 900;

/// How often making a folder is tried, if another process takes it for one that was left behind.
const TRIES: u32 = 10;

/// A folder for recordings. It is removed with all that is in it when this is dropped.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// What gives recordings to processes that may make none.
    broker: Option<Broker>,
    /// The outer folder. While this is open, nobody takes the folder for one that was left behind.
    _held: File,
}

/// Returns a path for a folder in which nothing is made yet, in memory if possible.
///
/// # Errors
/// If there is no place whose name is simple enough, or there are no random numbers.
pub fn choose() -> io::Result<PathBuf> {
    let parent = match std::env::var_os("TMPDIR") {
        None if Path::new(MEMORY).is_dir() => PathBuf::from(MEMORY),
        _ => std::env::temp_dir().canonicalize()?,
    };
    in_parent(&parent)
}

fn in_parent(parent: &Path) -> io::Result<PathBuf> {
    let folder = parent.join(names::outer()?).join(names::random()?);
    let text = folder.to_str().filter(|text| !text.contains('\n') && text.len() < LONGEST);
    let strange = || io::Error::other(format!("TMPDIR is {parent:?}: choose a simpler path"));
    text.map(PathBuf::from).ok_or_else(strange)
}

impl Folder {
    /// Makes a folder, in memory if possible.
    ///
    /// # Errors
    /// If there is no room for it.
    pub fn new() -> io::Result<Self> {
        match Self::make(choose()?) {
            Err(_) if std::env::var_os("TMPDIR").is_none() => {
                Self::make(in_parent(&std::env::temp_dir().canonicalize()?)?)
            }
            made => made,
        }
    }

    /// Makes the folder with a path that [`choose`] has returned. If this process is root's, it
    /// begins to give recordings to processes that may make none.
    ///
    /// # Errors
    /// If it cannot be made, or the path is not of that form.
    pub fn make(path: PathBuf) -> io::Result<Self> {
        let strange = || io::Error::other("this is no path for a folder of recordings");
        let outer = names::outer_of(&path).ok_or_else(strange)?;
        if let Some(parent) = outer.parent() {
            left::remove_all(parent);
        }
        let held = (0..TRIES)
            .find_map(|_| make_held(outer).transpose())
            .unwrap_or_else(|| Err(io::Error::other("another process removes it again")))?;
        let mut folder = Self { path, broker: None, _held: held };
        DirBuilder::new().mode(0o700).create(&folder.path)?;
        // SAFETY: takes no argument.
        if unsafe { libc::geteuid() } == 0 {
            folder.broker = Some(Broker::begin(&folder.path)?);
            // Whoever knows the name may go through, to the socket.
            for made in [folder.path.as_path(), folder.outer()] {
                fs::set_permissions(made, Permissions::from_mode(0o711))?;
            }
        }
        Ok(folder)
    }

    /// The path that programs are told.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn outer(&self) -> &Path {
        names::outer_of(&self.path).unwrap_or(&self.path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(self.broker.take());
        remove(&self.path);
    }
}

/// Makes the outer folder and locks it. Returns `None` if another process has found it before it was
/// locked, and has removed it.
fn make_held(outer: &Path) -> io::Result<Option<File>> {
    DirBuilder::new().mode(0o700).create(outer)?;
    let held = match open(outer) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    lock(&held, libc::LOCK_EX)?;
    let id = |status: &fs::Metadata| (status.dev(), status.ino());
    let own = id(&held.metadata()?);
    match fs::symlink_metadata(outer) {
        Ok(status) if id(&status) == own => Ok(Some(held)),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(None),
    }
}

/// Removes a folder that [`choose`] has named, and all that is in it. A path of another form, and a
/// folder of another user, stay as they are. Programs that still record may add files meanwhile.
pub fn remove(folder: &Path) {
    /// How often it is tried.
    const TRIES: u32 = 100;
    let Some(outer) = names::outer_of(folder) else { return };
    // SAFETY: takes no argument.
    let own = unsafe { libc::geteuid() };
    if !open(outer).and_then(|open| open.metadata()).is_ok_and(|status| status.uid() == own) {
        return;
    }
    for _ in 0..TRIES {
        match fs::remove_dir_all(outer) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::chown;

    use super::*;

    fn is_root() -> bool {
        // SAFETY: takes no argument.
        unsafe { libc::geteuid() == 0 }
    }

    #[test]
    fn nobody_else_can_list_the_folder_or_write_in_it_and_it_goes_in_the_end() {
        let folder = Folder::new().expect("there is room");
        let (path, outer) = (folder.path().to_owned(), folder.outer().to_owned());
        for made in [&path, &outer] {
            let mode = made.metadata().expect("it is there").mode() & 0o7777;
            assert_eq!(mode, if is_root() { 0o711 } else { 0o700 });
        }
        fs::write(path.join("1.lost"), "no-room").expect("there is room");
        drop(folder);
        assert!(!path.exists() && !outer.exists());
    }

    #[test]
    fn what_a_killed_one_left_goes_with_the_next_and_what_is_held_stays() {
        let parent = tempfile::tempdir().expect("there is room");
        let make = || {
            let path = in_parent(parent.path()).expect("a plain path");
            Folder::make(path).expect("there is room")
        };
        let held = make();
        let left = in_parent(parent.path()).expect("a plain path");
        fs::create_dir_all(&left).expect("there is room");
        fs::write(left.join("1-2.kcrec"), [1; 4096]).expect("there is room");
        let other = parent.path().join("kilocore-recordings-of-mine");
        fs::create_dir(&other).expect("there is room");
        let foreign = in_parent(parent.path()).expect("a plain path");
        fs::create_dir_all(&foreign).expect("there is room");
        let foreign = foreign.parent().expect("it has one").to_owned();
        if is_root() {
            chown(&foreign, Some(65534), Some(65534)).expect("this is root");
        } else {
            fs::remove_dir_all(&foreign).expect("it is ours");
        }
        let link = parent.path().join(names::outer().expect("random numbers"));
        std::os::unix::fs::symlink(&other, &link).expect("there is room");
        drop(make());
        assert!(!left.exists() && !left.parent().expect("it has one").exists());
        assert!(held.path().exists() && other.exists() && link.is_symlink());
        assert_eq!(foreign.exists(), is_root(), "it belongs to another user");
    }

    #[test]
    fn nothing_is_removed_that_is_not_of_our_form_or_not_ours() {
        let parent = tempfile::tempdir().expect("there is room");
        let other = parent.path().join("precious");
        fs::create_dir(&other).expect("there is room");
        remove(&other);
        assert!(other.exists());
        assert!(Folder::make(other.join("new")).is_err());
        if is_root() {
            let foreign = in_parent(parent.path()).expect("a plain path");
            fs::create_dir_all(&foreign).expect("there is room");
            chown(foreign.parent().expect("it has one"), Some(65534), None).expect("this is root");
            remove(&foreign);
            assert!(foreign.exists());
        }
    }
}
