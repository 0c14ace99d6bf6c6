//! Whether a write goes at once.

use std::os::fd::RawFd;

use libc::c_int;

use crate::{internal, output, outside};

/// What any pipe takes at once that has room.
pub(crate) const PROMISED: u64 = libc::PIPE_BUF as u64;
/// What any socket takes at once that has room: it is one piece then.
const PROMISED_BY_SOCKETS: u64 = 16 << 10;

/// The bytes that go at once if nothing is there that has not been read.
pub(crate) fn capacity(descriptor: RawFd) -> u64 {
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
