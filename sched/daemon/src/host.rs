//! What the daemon asks of the system, small enough to be played by a test.

use std::ffi::CString;
use std::fmt::Debug;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use kilocore_linux as proc_files;
use kilocore_sched_policy::{CpuSet, Nanos};

use crate::affinity;
use crate::named::Named;
use crate::stat::Stat;

/// The system that runs the programs.
pub trait Host: Debug {
    /// The numbers of all processes of the system.
    fn processes(&mut self) -> Vec<u32>;

    /// Something that changes whenever a process is created, if the system has such.
    fn creations(&mut self) -> Option<u64> {
        None
    }

    /// The threads of a process; none if it is gone.
    fn threads(&mut self, pid: u32) -> Vec<u32>;

    /// A process; `None` if it is gone. Linux finds any thread by its own number, too.
    fn stat(&mut self, pid: u32) -> Option<Stat>;

    /// A thread of a process; `None` if it is gone. The file of the same name that stands for the whole
    /// process adds up the times of all its threads, each time that it is read.
    fn thread_stat(&mut self, pid: u32, tid: u32) -> Option<Stat>;

    /// How long a thread has run so far, and how long it wanted a core and had none. `None` if it is
    /// gone or the system does not tell.
    fn times(&mut self, pid: u32, tid: u32) -> Option<(Nanos, Nanos)>;

    /// Where a thread may run.
    ///
    /// # Errors
    /// `ESRCH` if it is gone.
    fn affinity(&mut self, tid: u32) -> io::Result<CpuSet>;

    /// Whether a thread has ended for certain. If the system does not tell, it has not.
    fn has_ended(&mut self, of: Named) -> bool {
        match self.affinity(of.id) {
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => true,
            // The number may be another's by now.
            _ => self.stat(of.id).is_some_and(|stat| stat.started != of.started),
        }
    }

    /// Says where a thread may run.
    ///
    /// # Errors
    /// `ESRCH` if it is gone, `EPERM` if it is somebody else's.
    fn set_affinity(&mut self, tid: u32, cpus: &CpuSet) -> io::Result<()>;

    /// The text of a file that the system makes up, as those of cgroups.
    ///
    /// # Errors
    /// Those of the system.
    fn read_file(&mut self, path: &Path) -> io::Result<String> {
        fs::read_to_string(path)
    }

    /// Writes to such a file, by one system call. It is not created.
    ///
    /// # Errors
    /// Those of the system, which tell why it does not do what was written.
    fn write_file(&mut self, path: &Path, text: &str) -> io::Result<()> {
        OpenOptions::new().write(true).open(path)?.write_all(text.as_bytes())
    }

    /// Whether this process may write to a file, or make folders in a folder.
    ///
    /// # Errors
    /// Why not.
    fn may_write(&mut self, path: &Path) -> io::Result<()> {
        let path = CString::new(path.as_os_str().as_bytes())?;
        // SAFETY: the path ends with a zero and lives as long as the call.
        let result = unsafe { libc::access(path.as_ptr(), libc::W_OK) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Makes a folder, which to the system may be a cgroup.
    ///
    /// # Errors
    /// Those of the system.
    fn make_folder(&mut self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    /// Removes one that has no folders in it.
    ///
    /// # Errors
    /// `EBUSY` if it is a cgroup with threads.
    fn remove_folder(&mut self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    /// The folders in a folder; none if there is no such.
    fn folders(&mut self, path: &Path) -> Vec<PathBuf> {
        let inside = fs::read_dir(path).into_iter().flatten().flatten();
        inside
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .map(|entry| entry.path())
            .collect()
    }
}

/// The Linux that this process runs on.
#[derive(Debug, Clone, Copy, Default)]
pub struct Linux;

impl Host for Linux {
    fn processes(&mut self) -> Vec<u32> {
        proc_files::all()
    }

    /// The number of the newest process.
    fn creations(&mut self) -> Option<u64> {
        let mut text = [0; 128];
        let text = proc_files::read("/proc/loadavg", &mut text).ok()?;
        std::str::from_utf8(text).ok()?.split_ascii_whitespace().last()?.parse().ok()
    }

    fn threads(&mut self, pid: u32) -> Vec<u32> {
        proc_files::threads(pid)
    }

    fn stat(&mut self, pid: u32) -> Option<Stat> {
        let mut text = [0; 1024];
        Stat::parse(proc_files::read(&format!("/proc/{pid}/stat"), &mut text).ok()?)
    }

    fn thread_stat(&mut self, pid: u32, tid: u32) -> Option<Stat> {
        let mut text = [0; 1024];
        Stat::parse(proc_files::read(&format!("/proc/{pid}/task/{tid}/stat"), &mut text).ok()?)
    }

    fn times(&mut self, pid: u32, tid: u32) -> Option<(Nanos, Nanos)> {
        let mut text = [0; 128];
        let path = format!("/proc/{pid}/task/{tid}/schedstat");
        let text = std::str::from_utf8(proc_files::read(&path, &mut text).ok()?).ok()?;
        let mut words = text.split_ascii_whitespace().map(|word| word.parse().map(Nanos));
        Some((words.next()?.ok()?, words.next()?.ok()?))
    }

    fn affinity(&mut self, tid: u32) -> io::Result<CpuSet> {
        affinity::affinity(tid)
    }

    fn set_affinity(&mut self, tid: u32, cpus: &CpuSet) -> io::Result<()> {
        affinity::set_affinity(tid, cpus)
    }
}
