//! The resources that the tasks of a benchmark share: folders, files without names, semaphores.
//!
//! Files lie in the folder that the user names. If none is named, small ones lie in memory
//! (`/dev/shm`, if it is a tmpfs with room), and large ones in the folder for temporary files. The
//! room in a folder is checked before it is used. What was chosen is noted for the output.

use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd};
use std::path::{Path, PathBuf};

use crate::keeper::Keeper;
use kilocore_hardware::available_memory;

use crate::{Refusal, sys};

/// The folder whose files the system keeps in memory.
const MEMORY: &str = "/dev/shm";
const MIB: u64 = 1 << 20;
/// How much room has to stay free, in bytes.
const RESERVE: u64 = 16 * MIB;

/// What the user asks for scratch files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scratch {
    /// The folder for scratch files, if the user named one.
    pub folder: Option<PathBuf>,
    /// Whether large files should lie in memory, too, where they are made faster.
    pub quick: bool,
    /// The size of large files in bytes, if it is not left to the benchmark.
    pub file_bytes: Option<u64>,
}

/// Makes the resources that the tasks of a benchmark share. The keeper removes them in the end.
#[derive(Debug)]
pub struct Resources<'a> {
    keeper: &'a mut Keeper,
    scratch: &'a Scratch,
    tasks: u32,
    notes: Vec<String>,
}

impl<'a> Resources<'a> {
    pub(crate) fn new(keeper: &'a mut Keeper, scratch: &'a Scratch, tasks: u32) -> Self {
        Self { keeper, scratch, tasks, notes: Vec::new() }
    }

    /// What was chosen, as sentences.
    pub(crate) fn into_notes(self) -> Vec<String> {
        self.notes
    }

    /// Returns how many tasks will run at the same time at the most.
    #[must_use]
    pub fn tasks(&self) -> u32 {
        self.tasks
    }

    /// Makes a folder with room for `bytes` bytes, in the scratch folder or in memory.
    ///
    /// # Errors
    /// [`Refusal::Scratch`] or [`Refusal::Room`].
    pub fn folder(&mut self, bytes: u64) -> Result<PathBuf, Refusal> {
        let parent = small_files(self.scratch.folder.as_deref(), bytes);
        self.folder_in(&parent, bytes)
    }

    /// Makes a folder in memory with room for `bytes` bytes: in the scratch folder if that is a
    /// tmpfs, else in `/dev/shm`.
    ///
    /// # Errors
    /// [`Refusal::Facility`] if there is no tmpfs; [`Refusal::Scratch`] or [`Refusal::Room`].
    pub fn memory_folder(&mut self, bytes: u64) -> Result<PathBuf, Refusal> {
        let named = self.scratch.folder.clone().filter(|folder| is_tmpfs(folder));
        let parent = named.unwrap_or_else(|| PathBuf::from(MEMORY));
        if !is_tmpfs(&parent) {
            return Err(Refusal::Facility {
                facility: format!("tmpfs at {MEMORY}"),
                error: "mount one, or name a folder on one with --scratch".to_owned(),
            });
        }
        self.folder_in(&parent, bytes)
    }

    /// Makes a file without a name and writes all of it. Returns it with its size, which is `bytes`
    /// bytes unless the user asked for another.
    ///
    /// # Errors
    /// [`Refusal::Scratch`], [`Refusal::Room`], or [`Refusal::Limit`] where files must be smaller.
    pub fn large_file(&mut self, usual: u64) -> Result<(File, u64), Refusal> {
        let bytes = self.scratch.file_bytes.unwrap_or(usual);
        let folder = match &self.scratch.folder {
            Some(folder) => folder.clone(),
            None if self.scratch.quick && has_room(Path::new(MEMORY), bytes) => MEMORY.into(),
            None => std::env::temp_dir(),
        };
        check_room(&folder, bytes)?;
        check_file_size(bytes)?;
        let file = unnamed_file(&folder)?;
        fill(&file, bytes).map_err(|error| Refusal::of("writing the scratch file", &error))?;
        self.note(&folder);
        if bytes != usual {
            self.notes.push(format!("the file has {bytes} bytes in place of {usual}"));
        }
        Ok((file, bytes))
    }

    /// Makes sets of one System V semaphore each.
    ///
    /// # Errors
    /// The error of the system call.
    pub fn semaphores(&mut self, sets: u32) -> Result<Vec<i32>, Refusal> {
        self.keeper.semaphores(sets)
    }

    fn folder_in(&mut self, parent: &Path, bytes: u64) -> Result<PathBuf, Refusal> {
        check_room(parent, bytes)?;
        // The keeper has another current folder.
        let parent = parent.canonicalize().map_err(|error| scratch(parent, &error))?;
        let folder = self.keeper.folder(&parent)?;
        self.note(&parent);
        Ok(folder)
    }

    fn note(&mut self, folder: &Path) {
        let kind = if is_tmpfs(folder) { "tmpfs" } else { "a file system on a device" };
        self.notes.push(format!("scratch files in {} ({kind})", folder.display()));
    }
}

/// Returns the folder for files of `bytes` bytes together: the one that was named, else one with
/// room.
fn small_files(named: Option<&Path>, bytes: u64) -> PathBuf {
    match named {
        Some(folder) => folder.to_owned(),
        None if has_room(Path::new(MEMORY), bytes.max(RESERVE)) => MEMORY.into(),
        None => std::env::temp_dir(),
    }
}

fn scratch(folder: &Path, error: &std::io::Error) -> Refusal {
    Refusal::Scratch { folder: folder.to_owned(), error: error.to_string() }
}

fn file_system(folder: &Path) -> Result<libc::statfs, Refusal> {
    let path = sys::c_path(folder)?;
    // SAFETY: a statfs may be all zeros.
    let mut stat: libc::statfs = unsafe { core::mem::zeroed() };
    // SAFETY: the path is a C string, and `stat` is ours to be written.
    if unsafe { libc::statfs(path.as_ptr(), &raw mut stat) } != 0 {
        return Err(scratch(folder, &std::io::Error::last_os_error()));
    }
    Ok(stat)
}

fn is_tmpfs(folder: &Path) -> bool {
    file_system(folder).is_ok_and(|stat| stat.f_type == libc::TMPFS_MAGIC)
}

fn free_bytes(folder: &Path) -> Result<u64, Refusal> {
    let stat = file_system(folder)?;
    let free = stat.f_bavail.saturating_mul(u64::try_from(stat.f_bsize).unwrap_or(0));
    // A tmpfs may be larger than the free memory, and one without a limit names no size.
    let memory = || available_memory().unwrap_or(u64::MAX);
    Ok(match stat.f_type == libc::TMPFS_MAGIC {
        true if stat.f_blocks == 0 => memory(),
        true => free.min(memory()),
        false => free,
    })
}

/// Returns whether a folder is in memory and has room.
fn has_room(folder: &Path, bytes: u64) -> bool {
    is_tmpfs(folder) && check_room(folder, bytes).is_ok()
}

fn check_room(folder: &Path, bytes: u64) -> Result<(), Refusal> {
    let free = free_bytes(folder)?;
    let needed = bytes.saturating_add(RESERVE.min(bytes));
    if free >= needed {
        return Ok(());
    }
    Err(Refusal::Room {
        folder: folder.to_owned(),
        needed_mib: needed.div_ceil(MIB),
        free_mib: free / MIB,
    })
}

/// Refuses a size beyond the process's limit of file sizes, because to write beyond it would kill
/// the process by a signal.
pub(crate) fn check_file_size(bytes: u64) -> Result<(), Refusal> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is ours to be written.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) } == 0;
    if known && limit.rlim_cur < bytes {
        let (needed, allowed) = (bytes.div_ceil(MIB), limit.rlim_cur / MIB);
        return Err(Refusal::Limit {
            call: "the scratch file".to_owned(),
            error: format!("it has {needed} MiB, and files may have {allowed} MiB (RLIMIT_FSIZE)"),
        });
    }
    Ok(())
}

/// Makes a file without a name. It is gone when the last process that has it open has ended.
fn unnamed_file(folder: &Path) -> Result<File, Refusal> {
    let path = sys::c_path(folder)?;
    let flags = libc::O_TMPFILE | libc::O_RDWR | libc::O_CLOEXEC;
    // SAFETY: the path is a C string.
    let fd = unsafe { libc::open(path.as_ptr(), flags, 0o600) };
    if fd >= 0 {
        // SAFETY: the descriptor was just made, and nobody else has it.
        return Ok(unsafe { File::from_raw_fd(fd) });
    }
    // Some file systems have no such files. There, the file's name is removed at once.
    tempfile::tempfile_in(folder).map_err(|error| scratch(folder, &error))
}

/// Writes `bytes` bytes and waits until they are on the device, so that the system does not write
/// them while a benchmark is measured.
fn fill(file: &File, bytes: u64) -> std::io::Result<()> {
    use std::os::unix::fs::FileExt;
    // If there is no room, this fails before anything is written.
    // SAFETY: the call touches no memory of this process.
    let error = unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, bytes as libc::off_t) };
    if error != 0 && error != libc::EOPNOTSUPP {
        return Err(std::io::Error::from_raw_os_error(error));
    }
    let block = vec![b'k'; MIB as usize];
    let mut at = 0;
    while at < bytes {
        let part = &block[..MIB.min(bytes - at) as usize];
        file.write_all_at(part, at)?;
        at += part.len() as u64;
    }
    file.sync_data()
}

/// Makes an empty file for a task.
pub(crate) fn task_file(path: &Path) -> Result<File, Refusal> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(true);
    options.open(path).map_err(|error| Refusal::of("opening a scratch file", &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_looked_for_before_it_is_used() {
        let folder = std::env::temp_dir();
        assert!(check_room(&folder, 1).is_ok());
        let refused = check_room(&folder, u64::MAX / 2).unwrap_err();
        assert!(matches!(refused, Refusal::Room { .. }), "{refused}");
        let refused = check_room(Path::new("/nonexistent"), 1).unwrap_err();
        assert!(matches!(refused, Refusal::Scratch { .. }), "{refused}");
    }

    #[test]
    fn files_that_memory_has_no_room_for_go_elsewhere() {
        if !has_room(Path::new(MEMORY), RESERVE) {
            eprintln!("no room in {MEMORY} at all, nothing tested");
            return;
        }
        assert!(!has_room(Path::new(MEMORY), u64::MAX / 2));
        assert_eq!(small_files(None, 0), Path::new(MEMORY));
        assert_eq!(small_files(None, u64::MAX / 2), std::env::temp_dir());
        let named = Path::new("/somewhere");
        assert_eq!(small_files(Some(named), u64::MAX / 2), named);
    }

    #[test]
    fn a_filled_file_has_its_size_and_no_name() {
        use std::os::unix::fs::MetadataExt;
        let folder = tempfile::tempdir().unwrap();
        let file = unnamed_file(folder.path()).unwrap();
        fill(&file, MIB + 5).unwrap();
        let metadata = file.metadata().unwrap();
        assert_eq!((metadata.len(), metadata.nlink()), (MIB + 5, 0));
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }
}
