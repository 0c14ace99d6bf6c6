//! Gives recordings to processes that may make none.
//!
//! A process connects to a socket in the folder, and gets the descriptor of a new file. It need not
//! say anything, so that no process can keep the others waiting. Who it is, the kernel tells. The
//! socket is open to every user, but only those can find it that were told the folder's name.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::recording_folder::held::open;
use crate::recording_folder::names;

/// The name of the socket in the folder.
const NAME: &str = "broker";

/// What is written where a process found no room.
const NO_ROOM: &str = "no-room\n";

/// After an error, such as too many open files, the next connection has to wait for so long.
const PAUSE: Duration = Duration::from_millis(10);

/// A thread that listens, until this is dropped.
#[derive(Debug)]
pub(crate) struct Broker {
    listener: Arc<UnixListener>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Broker {
    /// Begins to listen in a folder.
    pub(crate) fn begin(folder: &Path) -> io::Result<Self> {
        // A socket's path must be short, and this one is.
        let opened = open(folder)?;
        let path = format!("/proc/self/fd/{}/{NAME}", opened.as_raw_fd());
        let listener = Arc::new(UnixListener::bind(&path)?);
        fs::set_permissions(folder.join(NAME), Permissions::from_mode(0o666))?;
        let over = Arc::new(AtomicBool::new(false));
        let (own, is_over, folder) = (Arc::clone(&listener), Arc::clone(&over), folder.to_owned());
        let work = move || without_signals(|| listen(&own, &is_over, &folder));
        let thread = thread::Builder::new().name("broker".into()).spawn(work)?;
        Ok(Self { listener, over, thread: Some(thread) })
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // This wakes who waits for a connection. SAFETY: the descriptor is open, and the other
        // argument is an integer.
        unsafe { libc::shutdown(self.listener.as_raw_fd(), libc::SHUT_RDWR) };
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Calls `work` in a thread that leaves signals to the others.
fn without_signals(work: impl FnOnce()) {
    let mut all: libc::sigset_t = {
        // SAFETY: zeros are a valid value.
        unsafe { std::mem::zeroed() }
    };
    // SAFETY: `all` is a local variable, and nobody wants to know the old mask.
    unsafe {
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, std::ptr::null_mut());
    }
    work();
}

fn listen(listener: &UnixListener, over: &AtomicBool, folder: &Path) {
    while !over.load(Ordering::SeqCst) {
        match listener.accept() {
            // It may be gone already, which harms nobody.
            Ok((stream, _)) => drop(answer(&stream, folder)),
            Err(_) if over.load(Ordering::SeqCst) => return,
            Err(_) => thread::sleep(PAUSE),
        }
    }
}

/// Gives a file to the process at the other end.
fn answer(stream: &UnixStream, folder: &Path) -> io::Result<()> {
    let pid = kilocore_linux::peer(stream)?;
    match make(folder, pid) {
        Ok((path, file)) => give(stream, file.as_raw_fd()).inspect_err(|_| {
            let _ = fs::remove_file(path);
        }),
        Err(error) => {
            // It finds out by itself that there is none, but could tell nobody.
            let _ = fs::write(folder.join(names::note(pid)), NO_ROOM);
            Err(error)
        }
    }
}

/// Makes a recording for a process.
fn make(folder: &Path, pid: u32) -> io::Result<(PathBuf, File)> {
    let path = folder.join(names::recording(pid, crate::gate::monotonic_ns())?);
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    Ok((path, file))
}

/// The part of a message that carries a descriptor. It is aligned as its header needs.
#[repr(C, align(8))]
struct Control([u8; 64]);

/// Sends a descriptor, and one byte that it comes with.
fn give(stream: &UnixStream, descriptor: RawFd) -> io::Result<()> {
    let mut byte = 0_u8;
    let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    let mut control = Control([0; 64]);
    let mut message: libc::msghdr = {
        // SAFETY: zeros are a valid value.
        unsafe { std::mem::zeroed() }
    };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = (&raw mut control).cast();
    let bytes = size_of::<RawFd>() as libc::c_uint;
    // SAFETY: these compute lengths from a length. The room is larger than they are, and the header
    // lies at its beginning.
    unsafe {
        message.msg_controllen = libc::CMSG_SPACE(bytes) as _;
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(bytes) as _;
        libc::CMSG_DATA(header).cast::<RawFd>().write_unaligned(descriptor);
    }
    let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
    // SAFETY: the message describes local variables with their lengths.
    let sent = unsafe { libc::sendmsg(stream.as_raw_fd(), &raw const message, flags) };
    if sent == 1 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use super::*;
    use crate::recording_folder::Folder;

    /// The user `nobody`, as somebody else than the owner of the folder.
    const OTHER: u32 = 65534;

    /// Returns how a shell command of another user ends.
    fn other_user(command: &str, folder: &Path) -> Option<i32> {
        let mut shell = Command::new("sh");
        shell.args(["-c", command, "sh"]).arg(folder).uid(OTHER).gid(OTHER).current_dir("/");
        let output = shell.output().expect("there is a shell");
        output.status.code()
    }

    #[test]
    fn another_user_gets_a_file_of_roots_and_reaches_nothing_else() {
        // SAFETY: takes no argument.
        if unsafe { libc::geteuid() } != 0 {
            eprintln!("skipped: only root can be another user");
            return;
        }
        let folder = Folder::new().expect("there is room");
        let names = || -> Vec<String> {
            let entries = fs::read_dir(folder.path()).expect("it is ours").flatten();
            let names = entries.map(|entry| entry.file_name().into_string().expect("it is ours"));
            names.filter(|name| name != NAME).collect()
        };
        assert!(names().is_empty());
        let stream = UnixStream::connect(folder.path().join(NAME)).expect("it listens");
        let mut answer = [0; 1];
        io::Read::read_exact(&mut &stream, &mut answer).expect("it answers unasked");
        let made = names();
        assert_eq!(made.len(), 1, "{made:?}");
        let (pid, _) = names::process_of(&made[0]).expect("it is named like a recording");
        assert_eq!(pid, std::process::id());
        let file = folder.path().join(&made[0]);
        let status = file.metadata().expect("it is there");
        assert_eq!((status.uid(), status.mode() & 0o7777), (0, 0o600));
        let outer = folder.path().parent().expect("it has one");
        for (attempt, place) in [
            ("ls \"$1\"", outer),
            ("ls \"$1\"", folder.path()),
            (": > \"$1/1-2.kcrec\"", folder.path()),
            ("mkdir \"$1/other\"", outer),
            ("cat < \"$1\"", &file),
            (": >> \"$1\"", &file),
            ("rm -f \"$1\"", &file),
            ("mv \"$1\" \"$1.other\"", folder.path()),
        ] {
            assert_ne!(other_user(attempt, place), Some(0), "{attempt}");
        }
        assert_eq!(other_user("test -S \"$1/broker\"", folder.path()), Some(0), "the way is open");
        assert_eq!(names(), made);
    }
}
