//! Where journals lie.
//!
//! A folder is opened once, without following a link, and looked at by its descriptor from then on: whoever may
//! rename it meanwhile changes nothing of what was looked at. What is in it counts only if its name, its owner
//! and its rights are those that Kilocore gives.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, flock, fstat, mkdir, openat, renameat,
    statat, unlinkat,
};

use crate::journal_name::JournalName;

/// Where root's journals lie, whatever the environment says: only root can make this.
const OF_ROOT: &str = "/run/kilocore";

/// A folder that is this user's, and that nobody else can write to.
#[derive(Debug)]
pub(crate) struct Folder {
    at: OwnedFd,
    path: PathBuf,
}

/// Folders in which this user may have journals, the best first.
pub(crate) fn folders() -> Vec<PathBuf> {
    let user = user();
    if user == 0 {
        return vec![OF_ROOT.into()];
    }
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let parents = runtime.into_iter().filter(|path| path.is_absolute());
    let parents = parents.chain([format!("/run/user/{user}").into(), "/tmp".into()]);
    let mut folders: Vec<PathBuf> =
        parents.map(|parent: PathBuf| parent.join(format!("kilocore-sched-{user}"))).collect();
    // Where everybody may make folders, somebody may have taken the name.
    let others = std::fs::read_dir("/tmp").into_iter().flatten().flatten();
    let prefix = format!("kilocore-sched-{user}-");
    folders.extend(
        others
            .filter(|entry| {
                entry.file_name().to_str().is_some_and(|name| name.starts_with(&prefix))
            })
            .map(|entry| entry.path()),
    );
    folders
}

fn user() -> u32 {
    // SAFETY: takes no argument.
    unsafe { libc::geteuid() }
}

impl Folder {
    /// The first folder that can be had, which is made if it is not there.
    ///
    /// # Errors
    /// Why the best one cannot be had, with its path.
    pub(crate) fn make() -> io::Result<Self> {
        let mut first = None;
        for path in folders() {
            match Self::make_at(&path) {
                Ok(folder) => return Ok(folder),
                Err(error) => {
                    let error =
                        io::Error::new(error.kind(), format!("{}: {error}", path.display()));
                    first.get_or_insert(error);
                }
            }
        }
        if user() != 0 {
            let path = PathBuf::from(format!("/tmp/kilocore-sched-{}-{}", user(), random()?));
            if let Ok(folder) = Self::make_at(&path) {
                return Ok(folder);
            }
        }
        Err(first.unwrap_or_else(|| io::ErrorKind::NotFound.into()))
    }

    fn make_at(path: &Path) -> io::Result<Self> {
        match mkdir(path, Mode::from_raw_mode(0o700)) {
            Err(error) if error != rustix::io::Errno::EXIST => Err(error.into()),
            _ => Self::open(path),
        }
    }

    /// A folder that is there.
    ///
    /// # Errors
    /// If it is not, or is somebody else's, or others may write to it.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let at = rustix::fs::open(path, flags, Mode::empty())?;
        let found = fstat(&at)?;
        if found.st_uid != user() || found.st_mode & 0o022 != 0 {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "it belongs to somebody else, or others may write to it",
            ));
        }
        Ok(Self { at, path: path.to_owned() })
    }

    /// The folder in which a journal lies, and its name there.
    ///
    /// # Errors
    /// If it is none of those in which journals of this user lie, or no journal has such a name.
    pub(crate) fn of(journal: &Path) -> io::Result<(Self, JournalName)> {
        let name = journal.file_name().and_then(|name| JournalName::parse(name.to_str()?));
        let (Some(name), Some(folder)) = (name, journal.parent()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        if user() == 0 && folder != Path::new(OF_ROOT) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok((Self::open(folder)?, name))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The journals in it.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn journals(&self) -> io::Result<Vec<JournalName>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.at)? {
            names.extend(entry?.file_name().to_str().ok().and_then(JournalName::parse));
        }
        names.sort();
        Ok(names)
    }

    /// Opens a journal, if it is a file that this user alone can have made so.
    ///
    /// # Errors
    /// If it is not, or is gone.
    pub(crate) fn open_journal(&self, name: JournalName) -> io::Result<File> {
        // What is no file might keep who opens it waiting.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat(&self.at, name.file(), flags, Mode::empty())?;
        let found = fstat(&file)?;
        let is_file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
        if !is_file || found.st_uid != user() || found.st_mode & 0o077 != 0 || found.st_nlink > 1 {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok(file.into())
    }

    /// Whether a journal still is the file that was opened.
    pub(crate) fn still_has(&self, name: JournalName, file: &File) -> bool {
        let now = statat(&self.at, name.file(), AtFlags::SYMLINK_NOFOLLOW);
        let (Ok(now), Ok(then)) = (now, fstat(file)) else { return false };
        (now.st_dev, now.st_ino) == (then.st_dev, then.st_ino)
    }

    /// A new file for a journal, locked, which is in its place only after
    /// [`put_in_place`](Self::put_in_place).
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn begin(&self, name: JournalName) -> io::Result<File> {
        let beside = name.beside();
        let _ = unlinkat(&self.at, &beside, AtFlags::empty());
        let flags = OFlags::WRONLY
            | OFlags::APPEND
            | OFlags::CREATE
            | OFlags::EXCL
            | OFlags::NOFOLLOW
            | OFlags::CLOEXEC;
        let file = openat(&self.at, &beside, flags, Mode::from_raw_mode(0o600))?;
        // Nobody else knows of it yet.
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        Ok(file.into())
    }

    /// Puts a new file into the place of a journal.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn put_in_place(&self, name: JournalName) -> io::Result<()> {
        Ok(renameat(&self.at, name.beside(), &self.at, name.file())?)
    }

    /// Removes a journal, and the file beside it if there is one. What cannot be removed stays.
    pub(crate) fn remove(&self, name: JournalName) {
        for file in [name.file(), name.beside()] {
            let _ = unlinkat(&self.at, file, AtFlags::empty());
        }
    }

    /// Keeps others from beginning in this folder until what is returned is dropped.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn alone(&self) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let lock = openat(&self.at, ".", flags, Mode::empty())?;
        flock(&lock, FlockOperation::LockExclusive)?;
        Ok(lock)
    }
}

/// Whether nobody holds the lock of a journal. If so, this file holds it from now on.
pub(crate) fn lock(file: &File) -> bool {
    flock(file.as_fd(), FlockOperation::NonBlockingLockExclusive).is_ok()
}

/// Waits for the lock of a journal.
pub(crate) fn wait_for_lock(file: &File) -> io::Result<()> {
    Ok(flock(file.as_fd(), FlockOperation::LockExclusive)?)
}

/// Digits that nobody guesses.
fn random() -> io::Result<String> {
    let mut bytes = [0; 16];
    std::io::Read::read_exact(&mut File::open("/dev/urandom")?, &mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::journal_name::ENDING;
    use crate::named::Named;

    const NAME: JournalName = JournalName { daemon: Named { id: 7, started: 8 }, namespace: 9 };

    fn folder() -> (tempfile::TempDir, Folder) {
        let place = tempfile::tempdir().expect("a folder");
        let folder = Folder::make_at(&place.path().join("ours")).expect("room");
        (place, folder)
    }

    #[test]
    fn a_folder_behind_a_link_and_one_that_others_may_write_to_are_not_ours() {
        let (place, folder) = folder();
        let link = place.path().join("link");
        symlink(folder.path(), &link).expect("room");
        assert!(Folder::open(&link).is_err() && Folder::make_at(&link).is_err());
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o720)).expect("it is ours");
        assert!(Folder::open(folder.path()).is_err());
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("it is ours");
        assert!(Folder::open(folder.path()).is_ok());
    }

    #[test]
    fn what_another_user_owns_is_not_ours() {
        let (place, folder) = folder();
        if user() != 0 {
            eprintln!("not tested, as only root can give files away");
            return;
        }
        drop(folder.begin(NAME).expect("room"));
        folder.put_in_place(NAME).expect("room");
        assert!(folder.open_journal(NAME).is_ok());
        let ours = place.path().join("ours");
        std::os::unix::fs::chown(ours.join(NAME.file()), Some(65_534), None).expect("root may");
        assert!(folder.open_journal(NAME).is_err());
        std::os::unix::fs::chown(&ours, Some(65_534), None).expect("root may");
        assert!(Folder::open(&ours).is_err() && Folder::make_at(&ours).is_err());
        assert!(Folder::of(&ours.join(NAME.file())).is_err(), "root's are in one place");
    }

    #[test]
    fn only_files_of_this_user_alone_are_journals() {
        let (_place, folder) = folder();
        let path = folder.path().join(NAME.file());
        symlink("/dev/zero", &path).expect("room");
        assert!(folder.open_journal(NAME).is_err(), "a link");
        fs::remove_file(&path).expect("it is ours");
        rustix::fs::mknodat(&folder.at, NAME.file(), FileType::Fifo, Mode::RUSR, 0).expect("room");
        assert!(folder.open_journal(NAME).is_err(), "a FIFO, for which nobody waits");
        fs::remove_file(&path).expect("it is ours");
        drop(folder.begin(NAME).expect("room"));
        folder.put_in_place(NAME).expect("room");
        assert!(folder.open_journal(NAME).is_ok());
        fs::hard_link(&path, folder.path().join("other")).expect("room");
        assert!(folder.open_journal(NAME).is_err(), "it has another name");
        fs::remove_file(folder.path().join("other")).expect("it is ours");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("it is ours");
        assert!(folder.open_journal(NAME).is_err(), "others may read it");
    }

    #[test]
    fn names_that_are_not_of_our_form_are_not_listed() {
        let (_place, folder) = folder();
        for name in ["1-2.journal", "7-8-9.new", "07-8-9.journal", "7-8-9.journal", "x"] {
            fs::write(folder.path().join(name), "").expect("room");
        }
        assert_eq!(folder.journals().expect("it is there"), [NAME]);
        assert!(NAME.file().ends_with(ENDING));
    }

    #[test]
    fn a_journal_is_locked_from_its_beginning_until_who_writes_it_is_gone() {
        let (_place, folder) = folder();
        let written = folder.begin(NAME).expect("room");
        folder.put_in_place(NAME).expect("room");
        let found = folder.open_journal(NAME).expect("it is there");
        assert!(!lock(&found));
        drop(written);
        assert!(lock(&found) && folder.still_has(NAME, &found));
        let _another = folder.begin(NAME).expect("room");
        folder.put_in_place(NAME).expect("room");
        assert!(!folder.still_has(NAME, &found));
        folder.remove(NAME);
        assert!(folder.open_journal(NAME).is_err());
    }

    #[test]
    fn a_folder_that_is_exchanged_is_still_the_one_that_was_looked_at() {
        let (place, folder) = folder();
        drop(folder.begin(NAME).expect("room"));
        folder.put_in_place(NAME).expect("room");
        fs::rename(folder.path(), place.path().join("away")).expect("it is ours");
        fs::create_dir(folder.path()).expect("room");
        assert!(folder.open_journal(NAME).is_ok());
        folder.remove(NAME);
        assert_eq!(fs::read_dir(place.path().join("away")).expect("it is there").count(), 0);
    }
}
