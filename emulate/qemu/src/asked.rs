//! What calls ask for that wait for descriptors: `poll`, `select`, `epoll_wait` and the like.

use std::os::fd::RawFd;

use libc::c_int;

use crate::{descriptors, internal, memory, output, outside, signals};

/// The most descriptors that one call is believed to name.
const MOST: usize = 1 << 16;

/// Whether a call names no descriptors, so that it is a sleep.
pub(crate) fn is_sleep((call, [a, b, ..]): (i64, [u64; 6])) -> bool {
    match call {
        libc::SYS_poll | libc::SYS_ppoll => b == 0,
        libc::SYS_select | libc::SYS_pselect6 => a == 0,
        _ => false,
    }
}

/// Whether a call lets other signals come for as long as it waits.
pub(crate) fn has_signals(call: i64, [_, _, _, d, e, f]: [u64; 6]) -> bool {
    match call {
        libc::SYS_ppoll => d != 0,
        libc::SYS_epoll_pwait | libc::SYS_epoll_pwait2 => e != 0,
        libc::SYS_pselect6 => f != 0 && memory::read_u64s(f).is_none_or(|[set]| set != 0),
        _ => false,
    }
}

/// The descriptors that a call asks for, and what for. `None` if that cannot be read.
pub(crate) fn asked(call: i64, [a, b, c, d, ..]: [u64; 6]) -> Option<Vec<(RawFd, i16)>> {
    match call {
        libc::SYS_poll | libc::SYS_ppoll => named(a, b),
        libc::SYS_select | libc::SYS_pselect6 => selected(a as c_int, [b, c, d]),
        _ => Some(vec![(a as RawFd, libc::POLLIN)]),
    }
}

/// Those that `poll` names.
fn named(address: u64, count: u64) -> Option<Vec<(RawFd, i16)>> {
    const SIZE: usize = size_of::<libc::pollfd>();
    let count = usize::try_from(count).ok().filter(|&count| count <= MOST)?;
    let mut bytes = vec![[0; SIZE]; count];
    if count > 0 {
        memory::read_bytes(address, bytes.as_flattened_mut())?;
    }
    let of = |&[a, b, c, d, e, f, _, _]: &[u8; SIZE]| {
        (RawFd::from_ne_bytes([a, b, c, d]), i16::from_ne_bytes([e, f]))
    };
    Some(bytes.iter().map(of).collect())
}

/// Those that are in the sets of `select`: one to read from, one to write to, one for what is out of order.
fn selected(count: c_int, addresses: [u64; 3]) -> Option<Vec<(RawFd, i16)>> {
    const SIZE: usize = size_of::<libc::fd_set>();
    let bytes = usize::try_from(count).ok()?.div_ceil(64) * 8;
    if bytes > SIZE {
        return None;
    }
    let mut all = Vec::new();
    for (address, event) in addresses.into_iter().zip([libc::POLLIN, libc::POLLOUT, libc::POLLPRI])
    {
        let mut set = [0; SIZE];
        if address != 0 {
            memory::read_bytes(address, &mut set[..bytes])?;
        }
        let is_in = |fd: &RawFd| set[*fd as usize / 8] >> (fd % 8) & 1 == 1;
        all.extend((0..count).filter(is_in).map(|fd| (fd, event)));
    }
    Some(all)
}

/// Whether a call would return at once. If it asks for the program's output, it waits for that here: else the call could wait
/// for others who write there as well.
pub(crate) fn is_ready(call: i64, arguments: [u64; 6]) -> bool {
    loop {
        let is_output = wait_for_output(call, arguments);
        if is_ready_now(call, arguments) || is_output && signals::is_pending() {
            return true;
        }
        if !is_output {
            return false;
        }
    }
}

fn is_ready_now(call: i64, arguments: [u64; 6]) -> bool {
    let Some(asked) = asked(call, arguments) else { return true };
    let of = |&(fd, events): &(RawFd, i16)| libc::pollfd { fd, events, revents: 0 };
    let mut all: Vec<_> = asked.iter().map(of).collect();
    if !matches!(call, libc::SYS_select | libc::SYS_pselect6) {
        return outside::are_ready(&mut all);
    }
    outside::are_ready(&mut all);
    // What else `poll` tells counts for one of the sets only.
    all.iter().any(|it| {
        let tells = match it.events {
            libc::POLLIN => libc::POLLIN | libc::POLLHUP | libc::POLLERR,
            libc::POLLOUT => libc::POLLOUT | libc::POLLERR,
            _ => libc::POLLPRI,
        };
        it.revents & (tells | libc::POLLNVAL) != 0
    })
}

/// Whether a call asks for any descriptor at all.
pub(crate) fn names_any(call: i64, arguments: [u64; 6]) -> bool {
    asked(call, arguments).is_some_and(|all| all.iter().any(|&(fd, _)| fd >= 0))
}

/// Whether only the program's own threads can have a call return, as long as they alone have its descriptors, or its time.
pub(crate) fn is_internal(call: i64, arguments: [u64; 6]) -> bool {
    is_sleep((call, arguments))
        || !has_signals(call, arguments)
            && asked(call, arguments).is_some_and(|all| are_decided_here(&all))
}

pub(crate) fn are_decided_here(all: &[(RawFd, i16)]) -> bool {
    all.iter().all(|&(fd, events)| fd < 0 || internal::is_decided_here(fd, events))
}

/// Has a pipe for the program's output ready for what is asked of it, if it is. Whether it is.
pub(crate) fn wait_for_output(call: i64, arguments: [u64; 6]) -> bool {
    if !descriptors::is_output_a_pipe() {
        return false;
    }
    let asked = match call {
        libc::SYS_epoll_wait | libc::SYS_epoll_pwait | libc::SYS_epoll_pwait2 => {
            internal::watched_by(arguments[0] as RawFd)
        }
        _ => asked(call, arguments),
    };
    output::wait_for_asked(&asked.unwrap_or_default())
}
