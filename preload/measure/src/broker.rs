//! Asking for a recording where this process may not make one.
//!
//! A service that root starts gives up its rights, often before its first lock. The folder for
//! recordings belongs to root then, and nobody else may write in it. So whoever made the folder also
//! listens at a socket in it, and answers each connection with the descriptor of a new file. The
//! file belongs to root; only this process and root can reach it.
//!
//! The answer comes unasked, so a listener need not wait for this process. This process waits for a
//! moment only: a listener may have been stopped.

use core::mem::{self, offset_of};
use core::ptr;

use crate::descriptors::{close, status_of};
use crate::environment;
use crate::lack::Lack;

/// For how many seconds this process waits for the connection, and for the answer.
const PATIENCE: libc::time_t = 1;

/// The socket's name in the folder.
const NAME: &[u8] = b"/broker";

/// The room for one descriptor in a message.
const CONTROL_BYTES: usize = 64;

/// The part of a message that carries a descriptor. It is aligned as its header needs.
#[repr(C, align(8))]
struct Control([u8; CONTROL_BYTES]);

/// A socket, which is closed in the end.
struct Socket(libc::c_int);

impl Drop for Socket {
    fn drop(&mut self) {
        close(self.0);
    }
}

/// Asks the broker in a folder for the descriptor of a new recording. The broker must be a process
/// of `owner`, and the file must be a file of `owner`.
pub(crate) fn ask(folder: libc::c_int, owner: libc::uid_t) -> Result<libc::c_int, Lack> {
    // SAFETY: all arguments are integers.
    let socket = unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0) };
    if socket < 0 {
        return Err(Lack::from_errno());
    }
    let socket = Socket(socket);
    let patience = libc::timeval { tv_sec: PATIENCE, tv_usec: 0 };
    for option in [libc::SO_RCVTIMEO, libc::SO_SNDTIMEO] {
        set(&socket, option, &patience)?;
    }
    connect(&socket, folder)?;
    if peer(&socket)? != owner {
        return Err(Lack::Permission);
    }
    let descriptor = receive(&socket)?;
    let status = status_of(descriptor);
    let is_file = |status: &libc::stat| status.st_mode & libc::S_IFMT == libc::S_IFREG;
    match status {
        Ok(status) if is_file(&status) && status.st_uid == owner => Ok(descriptor),
        _ => {
            close(descriptor);
            Err(Lack::Permission)
        }
    }
}

fn set(socket: &Socket, option: libc::c_int, value: &libc::timeval) -> Result<(), Lack> {
    let length = size_of::<libc::timeval>() as libc::socklen_t;
    // SAFETY: the value lives during the call and has that length.
    let failed = unsafe {
        libc::setsockopt(socket.0, libc::SOL_SOCKET, option, ptr::from_ref(value).cast(), length)
    } != 0;
    if failed { Err(Lack::from_errno()) } else { Ok(()) }
}

/// Connects to the broker of an open folder. The path leads through the descriptor, so it is short,
/// and it is the folder that was checked.
fn connect(socket: &Socket, folder: libc::c_int) -> Result<(), Lack> {
    // SAFETY: zeros are a valid value.
    let mut address: libc::sockaddr_un = unsafe { mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    let mut path = environment::Text::<{ environment::NAME_BYTES }>::new();
    path.push_all(b"/proc/self/fd/");
    path.push_number(folder as u64);
    path.push_all(NAME);
    for (to, from) in address.sun_path.iter_mut().zip(path.bytes) {
        *to = from as libc::c_char;
    }
    let length = offset_of!(libc::sockaddr_un, sun_path) + path.length + 1;
    // The system call is made directly, because the C library's function is a cancellation point.
    // SAFETY: the address lives during the call and has at least that length.
    let failed = unsafe {
        libc::syscall(
            libc::SYS_connect,
            socket.0,
            ptr::from_ref(&address),
            length as libc::socklen_t,
        )
    } != 0;
    if failed { Err(Lack::from_errno()) } else { Ok(()) }
}

/// Returns the user of the process that listens.
fn peer(socket: &Socket) -> Result<libc::uid_t, Lack> {
    let mut peer = libc::ucred { pid: 0, uid: libc::uid_t::MAX, gid: libc::gid_t::MAX };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: both are local variables, and the length is that of the first.
    let failed = unsafe {
        libc::getsockopt(
            socket.0,
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut length,
        )
    } != 0;
    if failed { Err(Lack::from_errno()) } else { Ok(peer.uid) }
}

/// Receives one byte, and the descriptor that comes with it.
fn receive(socket: &Socket) -> Result<libc::c_int, Lack> {
    let mut byte = 0u8;
    let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    let mut control = Control([0; CONTROL_BYTES]);
    // SAFETY: zeros are a valid value.
    let mut message: libc::msghdr = unsafe { mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = (&raw mut control).cast();
    message.msg_controllen = CONTROL_BYTES as _;
    // SAFETY: the message describes local variables with their lengths.
    let received = unsafe {
        libc::syscall(libc::SYS_recvmsg, socket.0, &raw mut message, libc::MSG_CMSG_CLOEXEC)
    };
    if received < 0 {
        return Err(Lack::from_errno());
    }
    // SAFETY: the kernel has filled in the message.
    let header = unsafe { libc::CMSG_FIRSTHDR(&raw const message) };
    if received != 1 || header.is_null() {
        // The broker had no file, or this process may open no more.
        return Err(Lack::Room);
    }
    // SAFETY: the kernel has written a whole header there.
    let (level, kind) = unsafe { ((*header).cmsg_level, (*header).cmsg_type) };
    if level != libc::SOL_SOCKET || kind != libc::SCM_RIGHTS {
        return Err(Lack::Permission);
    }
    // SAFETY: such a message contains at least one descriptor. It may be unaligned.
    Ok(unsafe { libc::CMSG_DATA(header).cast::<libc::c_int>().read_unaligned() })
}
