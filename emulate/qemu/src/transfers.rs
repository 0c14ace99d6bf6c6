//! Calls that read from a descriptor or write to one, and wait until they can.
//!
//! At a pipe of the program's own, an eventfd or a pair of sockets the wait is simulated (`waits.rs`).
//!
//! # Decisions
//! * **A write is made when it is sure that all of it goes at once.** Of a pipe that has room, it is not known how much. So more
//!   than the kernel promises waits until the pipe is empty, where Linux would fill it and wait for the rest: the reader gets
//!   it a little later. More than a pipe holds is written outside, as the reader has to run meanwhile.
//! * **Who reads the program's output is no concern of the machine** (`output.rs`).

use std::os::fd::RawFd;

use libc::c_int;

use crate::call::Change;
use crate::descriptors::Of;
use crate::guest::Thread;
use crate::internal::{self, Kind};
use crate::outside::{self, Waits};
use crate::waits::{self, Awaits, Ended};
use crate::{interrupts, memory, output};

/// What any pipe takes at once that has room.
const PROMISED: u64 = libc::PIPE_BUF as u64;
/// What any socket takes at once that has room: it is one piece then.
const PROMISED_BY_SOCKETS: u64 = 16 << 10;
/// The bytes of what is added to a counter.
const COUNTS: u64 = 8;
/// The most parts that the kernel lets a call have.
const MOST_PARTS: u64 = 1_024;

/// Such a call.
#[derive(Debug, Clone, Copy)]
struct Transfer {
    descriptor: RawFd,
    /// Whether it writes.
    gives: bool,
    bytes: u64,
    /// Those of a message.
    flags: c_int,
}

/// The bytes of so many parts that are described at an address. Of more than the kernel takes, or where there is no memory, the
/// call fails.
fn sum_of_parts(address: u64, count: u64) -> u64 {
    const SIZE: usize = size_of::<libc::iovec>();
    if count > MOST_PARTS {
        return 0;
    }
    let mut parts = vec![[0; SIZE]; count as usize];
    if memory::read_bytes(address, parts.as_flattened_mut()).is_none() {
        return 0;
    }
    let bytes = |part: &[u8; SIZE]| {
        let [.., a, b, c, d, e, f, g, h] = *part;
        u64::from_ne_bytes([a, b, c, d, e, f, g, h])
    };
    parts.iter().map(bytes).fold(0, u64::saturating_add)
}

/// The same of a message.
fn sum_of_message(address: u64) -> u64 {
    // Behind the name, which is an address and a length.
    let parts = memory::read_u64s(address.wrapping_add(16));
    parts.map_or(0, |[address, count]| sum_of_parts(address, count))
}

impl Transfer {
    fn of(call: i64, [a, b, c, d, ..]: [u64; 6]) -> Option<Self> {
        let takes = |bytes, flags: u64| (false, bytes, flags as c_int);
        let gives = |bytes, flags: u64| (true, bytes, flags as c_int);
        let (is_giving, bytes, flags) = match call {
            libc::SYS_read => takes(c, 0),
            libc::SYS_readv => takes(sum_of_parts(b, c), 0),
            libc::SYS_recvfrom => takes(c, d),
            libc::SYS_recvmsg => takes(sum_of_message(b), c),
            libc::SYS_write => gives(c, 0),
            libc::SYS_writev => gives(sum_of_parts(b, c), 0),
            libc::SYS_sendto => gives(c, d),
            libc::SYS_sendmsg => gives(sum_of_message(b), c),
            _ => return None,
        };
        Some(Self { descriptor: a as RawFd, gives: is_giving, bytes, flags })
    }

    /// What is asked of its descriptor.
    fn event(self) -> i16 {
        if self.gives { libc::POLLOUT } else { libc::POLLIN }
    }

    /// Whether it waits for as much as it asks for, and not for something only.
    fn waits_for_all(self) -> bool {
        !self.gives && self.flags & libc::MSG_WAITALL != 0
    }

    /// Whether it has to be made outside, at an internal descriptor: others have to run before it is done.
    fn needs_others(self, kind: Kind) -> bool {
        self.waits_for_all()
            || self.gives && kind != Kind::Event && self.bytes > capacity(self.descriptor)
    }
}

/// The bytes that go at once if nothing is there that has not been read.
fn capacity(descriptor: RawFd) -> u64 {
    if let Some(kept) = internal::socket_option::<c_int>(descriptor, libc::SO_SNDBUF) {
        // What is kept of a piece takes more room than its bytes.
        return u64::try_from(kept / 2).unwrap_or(0);
    }
    // SAFETY: numbers. It only asks.
    let bytes = unsafe { libc::fcntl(descriptor, libc::F_GETPIPE_SZ) };
    u64::try_from(bytes).unwrap_or(0)
}

/// Whether so many bytes go at once into a pipe or a socket, or fail at once.
pub(crate) fn have_room(descriptor: RawFd, bytes: u64) -> bool {
    let mut one = [libc::pollfd { fd: descriptor, events: libc::POLLOUT, revents: 0 }];
    if !outside::are_ready(&mut one) {
        return false;
    }
    if bytes <= PROMISED || one[0].revents & libc::POLLOUT == 0 {
        return true;
    }
    // Where nobody reads any more.
    if one[0].revents & (libc::POLLERR | libc::POLLHUP) != 0 {
        return true;
    }
    let is_socket = internal::is_socket(descriptor);
    if is_socket && bytes <= PROMISED_BY_SOCKETS {
        return true;
    }
    let kept = if is_socket { unsent(descriptor) } else { output::unread(descriptor) };
    kept == Some(0) && bytes <= capacity(descriptor)
}

/// How many bytes of a socket the other end has not taken.
fn unsent(socket: RawFd) -> Option<u64> {
    let mut bytes: c_int = 0;
    // SAFETY: a number that lives meanwhile.
    let answer = unsafe { libc::ioctl(socket, libc::TIOCOUTQ, &raw mut bytes) };
    if answer == 0 { u64::try_from(bytes).ok() } else { None }
}

/// Whether so much can be added to a counter at once, or that fails at once.
pub(crate) fn can_count(descriptor: RawFd, adds: u64) -> bool {
    if adds == u64::MAX {
        return true;
    }
    // That it has room for one more is what the kernel tells.
    if !outside::is_ready(descriptor, libc::POLLOUT) {
        return false;
    }
    let counted = |told: String| {
        let count = told.lines().find_map(|line| line.strip_prefix("eventfd-count:"))?;
        u64::from_str_radix(count.trim(), 16).ok()
    };
    adds <= 1 || internal::told(descriptor).and_then(counted).is_none_or(|is| is < u64::MAX - adds)
}

/// A thread makes a call. `None` if it is not one of these.
pub(crate) fn enter(thread: &Thread, call: i64, arguments: [u64; 6]) -> Option<Change> {
    let transfer = Transfer::of(call, arguments)?;
    let Transfer { descriptor, gives, bytes, flags } = transfer;
    let is_ready = outside::is_ready(descriptor, transfer.event());
    let is_small = match gives {
        true => bytes <= PROMISED && bytes != COUNTS,
        false => !transfer.waits_for_all(),
    };
    // Most are of files.
    if is_ready && is_small && !outside::is_anybody_at_own() {
        return Some(Change::None);
    }
    // SAFETY: numbers. It only asks.
    let status = unsafe { libc::fcntl(descriptor, libc::F_GETFL) };
    if status < 0 || bytes == 0 {
        return Some(Change::None);
    }
    if status & libc::O_NONBLOCK != 0 || flags & libc::MSG_DONTWAIT != 0 {
        if gives {
            output::wait_for_room(descriptor, bytes);
        }
        return Some(Change::None);
    }
    if gives && Of::the(descriptor) == Of::Output {
        return Some(Change::None);
    }
    let Some(kind) = Kind::of(descriptor) else {
        let is_passed_on = || internal::is_pipe(descriptor) || internal::is_socket(descriptor);
        let goes_at_once = if gives && is_ready && is_passed_on() {
            have_room(descriptor, bytes)
        } else {
            is_ready
        };
        let waits_for_all = transfer.waits_for_all();
        return Some(match goes_at_once && !waits_for_all {
            true => Change::None,
            false => Change::Outside(Waits::ForOthers),
        });
    };
    if transfer.needs_others(kind) {
        return Some(Change::Outside(Waits::AtOwn));
    }
    let awaits = match (gives, kind) {
        (false, kind) => Awaits::Something { descriptor, kind },
        (true, Kind::Event) => {
            // Where there is no memory, it fails at once, and so does the largest number.
            let adds = memory::read_u64s(arguments[1]).map_or(u64::MAX, |[adds]| adds);
            Awaits::Count { descriptor, adds }
        }
        (true, _) => Awaits::Room { descriptor, bytes },
    };
    Some(match waits::wait(thread, awaits, None) {
        Ended::Ready | Ended::InVain => Change::None,
        Ended::Signalled(signal) => {
            interrupts::note(thread, call, arguments, signal);
            Change::None
        }
        Ended::Elsewhere => Change::Outside(Waits::AtOwn),
    })
}

#[cfg(test)]
mod tests {
    use std::os::fd::{FromRawFd, OwnedFd};

    use super::*;

    fn pipe() -> [OwnedFd; 2] {
        let mut ends = [0; 2];
        // SAFETY: two numbers that live meanwhile, and are descriptors of nobody else then.
        unsafe {
            assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
            ends.map(|end| OwnedFd::from_raw_fd(end))
        }
    }

    #[test]
    fn a_pipe_has_room_for_what_it_promises_and_when_it_is_empty_for_all_that_it_holds() {
        use std::io::Write as _;
        use std::os::fd::AsRawFd as _;
        let [reader, writer] = pipe();
        let to = writer.as_raw_fd();
        let all = capacity(to);
        assert!(all >= PROMISED && have_room(to, all) && !have_room(to, all + 1));
        let mut file = std::fs::File::from(writer);
        file.write_all(b"x").expect("there is room");
        assert!(have_room(to, PROMISED) && !have_room(to, PROMISED + 1));
        file.write_all(&vec![0; all as usize - 1]).expect("there is room");
        assert!(!have_room(to, 1));
        drop(reader);
        assert!(have_room(to, all), "it fails at once");
    }

    #[test]
    fn a_counter_has_room_up_to_its_end() {
        // SAFETY: numbers, and a descriptor that is nobody else's.
        let counter = unsafe { OwnedFd::from_raw_fd(libc::eventfd(5, 0)) };
        let to = std::os::fd::AsRawFd::as_raw_fd(&counter);
        let fits = u64::MAX - 1 - 5;
        assert!(can_count(to, 1) && can_count(to, fits) && !can_count(to, fits + 1));
        assert!(can_count(to, u64::MAX), "it fails at once");
    }
}
