//! Calls that wait for descriptors, for a time or without an end: `poll`, `select`, `epoll_wait` and the like.
//!
//! The wait is simulated (`waits.rs`), but for one without an end for what may come from outside.
//!
//! # Decisions
//! * **If its time is up in vain, the call is made all the same, and takes as long on the host**, if its time is a number in a
//!   register or something might come from outside. QEMU can skip no call, and a plugin cannot change registers. No simulated
//!   time passes in that. So a program that does nothing but wait takes as long here as anywhere, and whoever wants something of
//!   it from outside finds it waiting. Nobody else of the program runs meanwhile, unless somebody waits for something outside,
//!   and has to go on when it comes.
//! * **Who is woken to handle a signal is interrupted** (`interrupts.rs`).
//! * **A call that lets other signals come for as long as it waits is one for something outside**, as it waits for those.

use std::os::fd::RawFd;

use libc::c_int;

use crate::call::Change;
use crate::guest::Thread;
use crate::internal;
use crate::outside::Waits;
use crate::sleeping::read_time;
use crate::waits::{self, Awaits, Ended};
use crate::{depends, descriptors, interrupts, machine, memory, output, outside, signals};

/// The most descriptors that one call is believed to name.
const MOST: usize = 1 << 16;

/// How long a call waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Time {
    /// Until something comes.
    Endless,
    /// For so many ns, and where that is in memory, if it is there.
    Of(u64, Option<u64>),
    /// The kernel refuses it, or else waits for a time that is written oddly.
    Odd,
}

impl Time {
    /// That of a call. `None` if it is not one of these.
    fn of(call: i64, [_, _, c, d, e, _]: [u64; 6]) -> Option<Self> {
        let milliseconds = |number: u64| {
            let ms = u64::try_from(number as c_int);
            ms.map_or(Self::Endless, |ms| Self::Of(ms * 1_000_000, None))
        };
        let at = |address: u64, read: fn(u64) -> Option<u64>| match address {
            0 => Self::Endless,
            _ => read(address).map_or(Self::Odd, |ns| Self::Of(ns, Some(address))),
        };
        Some(match call {
            libc::SYS_poll => milliseconds(c),
            libc::SYS_epoll_wait | libc::SYS_epoll_pwait => milliseconds(d),
            libc::SYS_ppoll => at(c, read_time),
            libc::SYS_epoll_pwait2 => at(d, read_time),
            libc::SYS_pselect6 => at(e, read_time),
            libc::SYS_select => at(e, read_old_time),
            _ => return None,
        })
    }
}

/// The time at an address in seconds and microseconds, in ns.
fn read_old_time(address: u64) -> Option<u64> {
    let [s, us] = memory::read_u64s(address)?;
    let is_time = s <= i64::MAX as u64 && us < 1_000_000;
    let ns = s.saturating_mul(1_000_000_000).saturating_add(us.saturating_mul(1_000));
    is_time.then_some(ns)
}

/// Whether a call names no descriptors, so that it is a sleep.
pub(crate) fn is_sleep((call, [a, b, ..]): (i64, [u64; 6])) -> bool {
    match call {
        libc::SYS_poll | libc::SYS_ppoll => b == 0,
        libc::SYS_select | libc::SYS_pselect6 => a == 0,
        _ => false,
    }
}

/// Whether a call lets other signals come for as long as it waits.
fn has_signals(call: i64, [_, _, _, d, e, f]: [u64; 6]) -> bool {
    match call {
        libc::SYS_ppoll => d != 0,
        libc::SYS_epoll_pwait | libc::SYS_epoll_pwait2 => e != 0,
        libc::SYS_pselect6 => f != 0 && memory::read_u64s(f).is_none_or(|[set]| set != 0),
        _ => false,
    }
}

/// The same of what a thread waits for.
pub(crate) fn lets_signals_come(awaits: Awaits) -> bool {
    awaits.call().is_some_and(|(call, arguments)| has_signals(call, arguments))
}

/// The descriptors that a call asks for, and what for. `None` if that cannot be read.
fn asked(call: i64, [a, b, c, d, ..]: [u64; 6]) -> Option<Vec<(RawFd, i16)>> {
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
fn names_any(call: i64, arguments: [u64; 6]) -> bool {
    asked(call, arguments).is_some_and(|all| all.iter().any(|&(fd, _)| fd >= 0))
}

/// Whether only the program's own threads can have a call return, as long as they alone have its descriptors, or its time.
pub(crate) fn is_internal(call: i64, arguments: [u64; 6]) -> bool {
    is_sleep((call, arguments))
        || !has_signals(call, arguments)
            && asked(call, arguments).is_some_and(|all| are_decided_here(&all))
}

fn are_decided_here(all: &[(RawFd, i16)]) -> bool {
    all.iter().all(|&(fd, events)| fd < 0 || internal::is_decided_here(fd, events))
}

/// Whether a call that only looks tells the same each time.
fn tells_the_same(call: i64, arguments: [u64; 6]) -> bool {
    let Some(mut all) = asked(call, arguments) else { return false };
    if call == libc::SYS_poll {
        // That a program looks which descriptors it was started with is known.
        all.retain(|&(_, events)| events != 0);
    }
    let is_known = !internal::are_shared() && !outside::is_anybody_at_own();
    all.is_empty() || is_known && are_decided_here(&all)
}

/// Has a pipe for the program's output ready for what is asked of it, if it is. Whether it is.
fn wait_for_output(call: i64, arguments: [u64; 6]) -> bool {
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

/// A thread makes a call. `None` if it is not one of these.
pub(crate) fn enter(thread: &Thread, call: i64, arguments: [u64; 6]) -> Option<Change> {
    let time = Time::of(call, arguments)?;
    let is_sleep = is_sleep((call, arguments));
    if !is_sleep {
        wait_for_output(call, arguments);
    }
    let awaits = Awaits::Asked { call, arguments };
    let (limit, at) = match time {
        Time::Endless if names_any(call, arguments) => (None, None),
        Time::Endless | Time::Odd => return Some(Change::Outside(Waits::ForOthers)),
        Time::Of(0, _) => {
            if !is_sleep && !tells_the_same(call, arguments) {
                depends::also("it asks what can be read at the moment");
            }
            return Some(Change::None);
        }
        Time::Of(ns, at) => (Some(machine::cycles(ns)), at),
    };
    Some(match waits::wait(thread, awaits, limit) {
        Ended::Ready => Change::None,
        Ended::Signalled(signal) => {
            interrupts::note(thread, call, arguments, signal);
            Change::None
        }
        Ended::Elsewhere => Change::Outside(Waits::ForOthers),
        Ended::InVain => match at {
            Some(at) if waits::is_simulated(awaits) => Change::at_once(at),
            _ if outside::is_anybody() => Change::Outside(Waits::ForOthers),
            _ => Change::None,
        },
    })
}
