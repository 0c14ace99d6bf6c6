//! The calls to the kernel that the standard library does not make: connecting to a socket without
//! waiting, and signalling a process that cannot be mistaken for another.

use std::io;
use std::mem;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;

/// A process, which keeps its name while it is held: if the process ends, its number may name another
/// one, but this does not.
#[derive(Debug)]
pub(crate) struct Process(OwnedFd);

impl Process {
    pub(crate) fn open(pid: u32) -> io::Result<Self> {
        // SAFETY: the call takes two numbers and returns a new descriptor or an error.
        let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
        descriptor(fd).map(Self)
    }

    /// Sends SIGQUIT, at which a virtual machine of Java begins to listen for requests.
    pub(crate) fn quit(&self) -> io::Result<()> {
        let none: *const libc::siginfo_t = std::ptr::null();
        // SAFETY: without siginfo, the call takes numbers only; the descriptor is open, as it is
        // owned.
        let result = unsafe {
            libc::syscall(libc::SYS_pidfd_send_signal, self.0.as_raw_fd(), libc::SIGQUIT, none, 0)
        };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

/// Takes ownership of what a call returned.
fn descriptor(fd: libc::c_long) -> io::Result<OwnedFd> {
    match libc::c_int::try_from(fd) {
        // SAFETY: the kernel has just made the descriptor, so nobody else owns it.
        Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Connects to a socket. Where too many others wait for its owner already, the error is
/// `WouldBlock`; the standard library would wait there without end.
pub(crate) fn connect(path: &Path) -> io::Result<UnixStream> {
    // SAFETY: all zeros is a valid address without a name.
    let mut address: libc::sockaddr_un = unsafe { mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    let name = path.as_os_str().as_bytes();
    // The last byte stays zero.
    if name.len() >= address.sun_path.len() {
        return Err(io::ErrorKind::InvalidFilename.into());
    }
    for (to, from) in address.sun_path.iter_mut().zip(name) {
        *to = from.cast_signed();
    }
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: the call takes three numbers and returns a new descriptor or an error.
    let socket = descriptor(unsafe { libc::socket(libc::AF_UNIX, kind, 0) }.into())?;
    let length = mem::size_of_val(&address) as libc::socklen_t;
    // SAFETY: the address is valid for its whole length, and the descriptor is an open socket.
    let result = unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), length) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    let stream = UnixStream::from(socket);
    stream.set_nonblocking(false)?;
    Ok(stream)
}
