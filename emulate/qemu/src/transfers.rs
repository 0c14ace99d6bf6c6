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

use crate::awaits::Awaits;
use crate::call::Change;
use crate::descriptors::Of;
use crate::guest::Thread;
use crate::internal::{self, Kind};
use crate::outside::{self, Waits};
use crate::waits::{self, Ended};
use crate::{interrupts, machine, memory, output, room};

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
            || self.gives && kind != Kind::Event && self.bytes > room::capacity(self.descriptor)
    }
}

/// A thread makes a call. `None` if it is not one of these.
pub(crate) fn enter(thread: &Thread, call: i64, arguments: [u64; 6]) -> Option<Change> {
    let transfer = Transfer::of(call, arguments)?;
    let Transfer { descriptor, gives, bytes, flags } = transfer;
    let is_ready = outside::is_ready(descriptor, transfer.event());
    let is_small = match gives {
        true => bytes <= room::PROMISED && bytes != COUNTS,
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
            room::have_room(descriptor, bytes)
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
    let limit = match kind {
        Kind::Pair => internal::gives_up_after(descriptor, gives).map(machine::cycles),
        Kind::Pipe(_) | Kind::Event => None,
    };
    Some(match waits::wait(thread, awaits, limit) {
        // It waits as long once more on the host.
        Ended::InVain if outside::is_anybody() => Change::Outside(Waits::AtOwn),
        Ended::Ready | Ended::InVain => Change::None,
        Ended::Signalled(signal) => {
            interrupts::note(thread, call, arguments, signal);
            Change::None
        }
        Ended::Elsewhere => Change::Outside(Waits::AtOwn),
    })
}
