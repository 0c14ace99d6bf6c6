//! TCP sockets of this network namespace, as the kernel tells anybody who asks (sock_diag(7)).

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Asks for sockets by their family.
const SOCK_DIAG_BY_FAMILY: u16 = 20;
/// With what TCP knows of each, as a number of the extension and as a bit of the request.
const INFO: u16 = 2;
const ASK_INFO: u8 = 1 << (INFO - 1);
/// States of sockets in which something can come or go: connected, told by the peer that nothing more comes, and
/// listening.
const CONNECTED: u8 = 1;
const CLOSE_WAIT: u8 = 8;
const LISTENING: u8 = 10;
const STATES: u32 = 1 << CONNECTED | 1 << CLOSE_WAIT | 1 << LISTENING;

/// Lengths of what is sent and received: the header of each message, and a socket's description.
const HEADER: usize = 16;
const SOCKET: usize = 72;
const REQUEST: usize = HEADER + 56;

/// A TCP socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpSocket {
    /// By which the descriptors of a process name it.
    pub inode: u32,
    /// What has come and nobody has read: bytes, or, if it listens, connections that nobody has accepted.
    pub unread: u32,
    /// The bytes that were received so far, and those that were sent and have arrived. `None` if it listens.
    pub moved: Option<u64>,
}

/// All of them, of IPv4 and IPv6.
///
/// # Errors
/// If this kernel does not tell.
pub fn tcp_sockets() -> io::Result<Vec<TcpSocket>> {
    let mut all = Vec::new();
    for family in [libc::AF_INET, libc::AF_INET6] {
        list(family as u8, &mut all)?;
    }
    Ok(all)
}

/// The sockets that a process has open, by their inodes. None if it is gone or another user's.
#[must_use]
pub fn sockets_of(pid: u32) -> BTreeSet<u32> {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let inode = |entry: fs::DirEntry| {
        let target = fs::read_link(entry.path()).ok()?;
        target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
    };
    descriptors.filter_map(inode).collect()
}

fn list(family: u8, all: &mut Vec<TcpSocket>) -> io::Result<()> {
    // SAFETY: integers only.
    let fd = unsafe {
        libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, libc::NETLINK_SOCK_DIAG)
    };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a descriptor just opened, which nobody else has.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    let request = request(family);
    // SAFETY: the bytes are valid for as many as are said.
    let sent = unsafe { libc::send(socket.as_raw_fd(), request.as_ptr().cast(), request.len(), 0) };
    if sent < 0 {
        return Err(io::Error::last_os_error());
    }
    let mut buffer = vec![0_u8; 1 << 16];
    loop {
        // SAFETY: the buffer is valid for as many bytes as are said.
        let got =
            unsafe { libc::recv(socket.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0) };
        let got = usize::try_from(got).map_err(|_| io::Error::last_os_error())?;
        if !messages(&buffer[..got], all)? {
            return Ok(());
        }
    }
}

fn request(family: u8) -> [u8; REQUEST] {
    let mut request = [0; REQUEST];
    request[..4].copy_from_slice(&(REQUEST as u32).to_ne_bytes());
    request[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    let flags = (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16;
    request[6..8].copy_from_slice(&flags.to_ne_bytes());
    request[HEADER] = family;
    request[HEADER + 1] = libc::IPPROTO_TCP as u8;
    request[HEADER + 2] = ASK_INFO;
    request[HEADER + 4..HEADER + 8].copy_from_slice(&STATES.to_ne_bytes());
    request
}

/// Takes the sockets out of the messages in these bytes. Returns whether more come.
fn messages(mut bytes: &[u8], all: &mut Vec<TcpSocket>) -> io::Result<bool> {
    let malformed = || io::Error::from(io::ErrorKind::InvalidData);
    if bytes.is_empty() {
        return Ok(false);
    }
    while bytes.len() >= HEADER {
        let length = number::<4>(bytes, 0).map(u32::from_ne_bytes).ok_or_else(malformed)? as usize;
        let kind = number::<2>(bytes, 4).map(u16::from_ne_bytes).ok_or_else(malformed)?;
        let body = bytes.get(HEADER..length).ok_or_else(malformed)?;
        match libc::c_int::from(kind) {
            libc::NLMSG_DONE => return Ok(false),
            libc::NLMSG_ERROR => {
                let error = number::<4>(body, 0).map_or(-libc::EIO, i32::from_ne_bytes);
                return Err(io::Error::from_raw_os_error(error.saturating_neg()));
            }
            _ => all.extend(socket(body)),
        }
        bytes = bytes.get(aligned(length)..).unwrap_or_default();
    }
    Ok(true)
}

/// A description: `inet_diag_msg`, and then attributes, of which one is `tcp_info`.
fn socket(body: &[u8]) -> Option<TcpSocket> {
    /// Where the state is, what was not read, and the inode.
    const STATE: usize = 1;
    const UNREAD: usize = 56;
    const INODE: usize = 68;
    /// Where `tcp_info` counts the bytes that have arrived, and those received, since Linux 4.1.
    const ARRIVED: usize = 120;
    const RECEIVED: usize = 128;
    let (state, unread) = (*body.get(STATE)?, number::<4>(body, UNREAD).map(u32::from_ne_bytes)?);
    let inode = number::<4>(body, INODE).map(u32::from_ne_bytes)?;
    let mut rest = body.get(SOCKET..)?;
    let mut moved = None;
    while let (Some(length), Some(kind)) = (number::<2>(rest, 0), number::<2>(rest, 2)) {
        let length = usize::from(u16::from_ne_bytes(length));
        let Some(value) = rest.get(4..length) else { break };
        if u16::from_ne_bytes(kind) == INFO {
            let count = |at| number::<8>(value, at).map(u64::from_ne_bytes);
            moved = count(ARRIVED).zip(count(RECEIVED)).map(|(out, into)| out.saturating_add(into));
        }
        rest = rest.get(aligned(length)..).unwrap_or_default();
    }
    Some(TcpSocket { inode, unread, moved: moved.filter(|_| state != LISTENING) })
}

fn number<const SIZE: usize>(bytes: &[u8], at: usize) -> Option<[u8; SIZE]> {
    bytes.get(at..)?.first_chunk().copied()
}

/// Where the next message or attribute begins. None is so short that this does not advance.
fn aligned(length: usize) -> usize {
    length.max(4).next_multiple_of(4)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;

    use proptest::prelude::*;
    use rustix::fs::fstat;

    use super::*;

    fn inode(socket: impl AsFd) -> u32 {
        fstat(socket).expect("a socket").st_ino as u32
    }

    #[test]
    fn what_came_and_went_through_a_connection_is_told() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).expect("it listens");
        let find = |inode| {
            let found = tcp_sockets().ok()?.into_iter().find(|socket| socket.inode == inode);
            Some(found.expect("it is open"))
        };
        let Some(listening) = find(inode(&listener)) else { return };
        assert_eq!((listening.unread, listening.moved), (1, None), "one is to be accepted");
        let (mut server, _) = listener.accept().expect("somebody has connected");
        client.write_all(&[7; 1000]).expect("there is room");
        server.read_exact(&mut [0; 400]).expect("they have come");
        let socket = find(inode(&server)).expect("the kernel has just told");
        assert_eq!((socket.unread, socket.moved), (600, Some(1000)));
        server.write_all(&[7; 50]).expect("there is room");
        client.read_exact(&mut [0; 50]).expect("they have come");
        assert!(find(inode(&server)).and_then(|socket| socket.moved) >= Some(1000));
        let own = sockets_of(std::process::id());
        assert!(own.contains(&inode(&server)) && own.contains(&inode(&listener)));
        assert!(sockets_of(u32::MAX).is_empty());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>, length in 0_u32..200) {
            let mut all = Vec::new();
            let _ = messages(&bytes, &mut all);
            let _ = socket(&bytes);
            let mut message = length.to_ne_bytes().to_vec();
            message.extend(&bytes);
            let _ = messages(&message, &mut all);
        }
    }
}
