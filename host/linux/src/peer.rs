//! Who is at the other end of a connection.

use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;

/// Returns the process that connected, or that listens if this process connected, by the kernel's word. It
/// is 0 if this process cannot see it.
///
/// # Errors
/// The system's error.
pub fn peer(stream: &UnixStream) -> io::Result<u32> {
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = size_of_val(&peer) as libc::socklen_t;
    // SAFETY: `peer` is ours to be written for `length` bytes.
    let failed = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut length,
        )
    } != 0;
    if failed { Err(io::Error::last_os_error()) } else { Ok(peer.pid.max(0).cast_unsigned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_of_a_pair_are_this_process() {
        let (one, other) = UnixStream::pair().expect("sockets can be made");
        let own = std::process::id();
        assert_eq!(
            (peer(&one).expect("it is open"), peer(&other).expect("it is open")),
            (own, own)
        );
    }
}
