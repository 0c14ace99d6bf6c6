//! Descriptors that nobody but the program can make ready: its pipes, its eventfds, its pairs of sockets.
//!
//! As soon as the program has started another process, that one has them as well, and none is internal any more.

use std::fs::{self, File, FileType};
use std::io::Read;
use std::mem;
use std::os::fd::RawFd;
use std::os::unix::fs::FileTypeExt as _;
use std::sync::atomic::{AtomicBool, Ordering};

use libc::c_int;

use crate::depends;
use crate::descriptors::Of;

/// What an internal descriptor is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A pipe without a name, with its number.
    Pipe(u64),
    /// A counter.
    Event,
    /// One of a pair of sockets.
    Pair,
}

/// Descriptors that watch others are looked into so deep.
const MOST_DEEP: u32 = 4;
/// The most bytes that are read of what the kernel tells of one.
const MOST_TOLD: u64 = 1 << 16;

/// Whether the program has started another process.
static IS_SHARED: AtomicBool = AtomicBool::new(false);

/// The program has started another process.
pub(crate) fn process_starts() {
    IS_SHARED.store(true, Ordering::Relaxed);
}

/// Whether others may have the program's descriptors as well.
pub(crate) fn are_shared() -> bool {
    IS_SHARED.load(Ordering::Relaxed)
}

impl Kind {
    /// What this one is of, if it is of one of these and was made by the program.
    pub(crate) fn of(descriptor: RawFd) -> Option<Self> {
        if Of::the(descriptor) != Of::Own {
            return None;
        }
        let link = link(descriptor)?;
        if let Some(rest) = link.strip_prefix("pipe:[") {
            return rest.strip_suffix(']')?.parse().ok().map(Self::Pipe);
        }
        match link.as_str() {
            "anon_inode:[eventfd]" => Some(Self::Event),
            _ if link.starts_with("socket:[") && is_of_pair(descriptor) => Some(Self::Pair),
            _ => None,
        }
    }
}

fn link(descriptor: RawFd) -> Option<String> {
    let path = fs::read_link(format!("/proc/self/fd/{descriptor}")).ok()?;
    path.into_os_string().into_string().ok()
}

/// Whether a socket is of those that have no name at either end.
fn is_of_pair(socket: RawFd) -> bool {
    type Asks = unsafe extern "C" fn(c_int, *mut libc::sockaddr, *mut libc::socklen_t) -> c_int;
    let is_unnamed = |asks: Asks| {
        // SAFETY: an address of as many bytes as are said, which live meanwhile.
        let (answer, name, bytes) = unsafe {
            let mut name: libc::sockaddr_un = mem::zeroed();
            let mut bytes = size_of::<libc::sockaddr_un>() as libc::socklen_t;
            (asks(socket, (&raw mut name).cast(), &raw mut bytes), name, bytes)
        };
        let is_local = c_int::from(name.sun_family) == libc::AF_UNIX;
        answer == 0 && is_local && bytes as usize == size_of::<libc::sa_family_t>()
    };
    is_unnamed(libc::getsockname) && is_unnamed(libc::getpeername)
}

/// After how many ns a socket gives up that waits for something, or for room if it `gives`. `None` for never.
pub(crate) fn gives_up_after(socket: RawFd, gives: bool) -> Option<u64> {
    let option = if gives { libc::SO_SNDTIMEO } else { libc::SO_RCVTIMEO };
    let [s, us] = socket_option::<[i64; 2]>(socket, option)?.map(|part| u64::try_from(part).ok());
    let ns = s?.saturating_mul(1_000_000_000).saturating_add(us?.saturating_mul(1_000));
    (ns > 0).then_some(ns)
}

/// An option of a socket, of a type that consists of numbers.
pub(crate) fn socket_option<T: Copy + Default>(socket: RawFd, option: c_int) -> Option<T> {
    let mut value = T::default();
    let mut bytes = size_of::<T>() as libc::socklen_t;
    // SAFETY: a value of as many bytes as are said, which lives meanwhile and for which all bytes are valid.
    let answer = unsafe {
        libc::getsockopt(socket, libc::SOL_SOCKET, option, (&raw mut value).cast(), &raw mut bytes)
    };
    (answer == 0).then_some(value)
}

/// What the kernel tells of a descriptor, if that is not too much.
pub(crate) fn told(descriptor: RawFd) -> Option<String> {
    let file = File::open(format!("/proc/self/fdinfo/{descriptor}")).ok()?;
    let mut text = String::new();
    file.take(MOST_TOLD).read_to_string(&mut text).ok()?;
    ((text.len() as u64) < MOST_TOLD).then_some(text)
}

/// The descriptors that one watches which was made by `epoll_create`, and what for. `None` if it is another one.
pub(crate) fn watched_by(descriptor: RawFd) -> Option<Vec<(RawFd, i16)>> {
    if link(descriptor)? != "anon_inode:[eventpoll]" {
        return None;
    }
    let told = told(descriptor)?;
    let of = |line: &str| {
        let mut words = line.strip_prefix("tfd:")?.split_whitespace();
        let watched = words.next()?.parse().ok()?;
        // The lowest ones are those of `poll`.
        let events = u32::from_str_radix(words.nth(1)?, 16).ok()?;
        Some((watched, events as i16))
    };
    Some(told.lines().filter_map(of).collect())
}

/// Whether what is asked of a descriptor is the same each time: only the program decides it, or it is always the same.
pub(crate) fn is_decided_here(descriptor: RawFd, events: i16) -> bool {
    is_decided(descriptor, events, MOST_DEEP)
}

fn is_decided(descriptor: RawFd, events: i16, deep: u32) -> bool {
    match Of::the(descriptor) {
        // It fails.
        Of::Nothing | Of::Null => true,
        // No simulated time passes until there is room.
        Of::Output => {
            events & (libc::POLLIN | libc::POLLPRI | libc::POLLRDHUP) == 0 && is_pipe(descriptor)
        }
        Of::Own => {
            is(descriptor, FileType::is_file)
                || Kind::of(descriptor).is_some()
                || deep > 0
                    && watched_by(descriptor).is_some_and(|all| {
                        all.iter().all(|&(watched, events)| is_decided(watched, events, deep - 1))
                    })
        }
        Of::Device | Of::Inherited => false,
    }
}

/// Whether a descriptor is of a pipe, with a name or without.
pub(crate) fn is_pipe(descriptor: RawFd) -> bool {
    is(descriptor, FileType::is_fifo)
}

/// Whether a descriptor is of a socket.
pub(crate) fn is_socket(descriptor: RawFd) -> bool {
    is(descriptor, FileType::is_socket)
}

fn is(descriptor: RawFd, what: fn(&FileType) -> bool) -> bool {
    let is = |file: &File| file.metadata().is_ok_and(|file| what(&file.file_type()));
    depends::with_file(descriptor, is) == Some(true)
}
