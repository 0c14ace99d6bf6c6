//! Who is at the other end of a socket.

use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;

/// Returns the process at the other end of a connection. It is 0 if this process cannot see it.
///
/// # Errors
/// What the system says if it refuses to tell.
pub fn peer(stream: &UnixStream) -> io::Result<u32> {
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: both are local variables, and the length is that of the first.
    let failed = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut length,
        )
    } != 0;
    if failed { Err(io::Error::last_os_error()) } else { Ok(peer.pid.max(0) as u32) }
}
