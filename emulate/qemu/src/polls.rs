//! Calls that wait for descriptors, and no longer than for a time: `poll`, `select`, `epoll_wait` and the like.
//!
//! The time is simulated. A thread sleeps in the simulator until another thread's call of the system has made one of its
//! descriptors ready, or its time is up, and then makes its call. For what comes from outside it looks now and then.
//!
//! # Decisions
//! * **If its time is up in vain, the call is made all the same, and takes as long on the host.** QEMU can skip no call, and the
//!   time that most of these take is a number in a register, which a plugin cannot change. No simulated time passes in that. So
//!   a program that does nothing but wait takes as long here as anywhere, and whoever wants something of it from outside finds
//!   it waiting. Nobody else of the program runs meanwhile, unless somebody waits for something outside, and has to go on when
//!   it comes.
//! * **A call without descriptors is a sleep**, and takes no time of the host if its time is in memory.
//! * **Who is woken and finds nothing ready is to handle a signal.** QEMU lets it do so, and makes the call again, as with each
//!   call that a signal comes before. Linux would say that the call was interrupted.

use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use kilocore_platform::Cycles;
use kilocore_sim::{Guest, TaskId};
use libc::c_int;

use crate::call::Change;
use crate::guest::{self, Thread};
use crate::sent::{Receiver, sent};
use crate::sleeping::read_time;
use crate::timers::{self, Sleeps};
use crate::{depends, machine, memory, outside};

/// How soon somebody looks for the first time whether something has come from outside, in ns.
const FIRST_LOOK_NS: u64 = 100_000;
/// From then on, it looks when it has waited longer by one part of so many.
const LOOKS: u64 = 8;
/// The most descriptors that one call is believed to name.
const MOST: usize = 1 << 16;

/// A call that waits.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    task: TaskId,
    call: i64,
    arguments: [u64; 6],
}

static WAITING: Mutex<Vec<Waiting>> = Mutex::new(Vec::new());
/// How many wait.
static COUNT: AtomicU32 = AtomicU32::new(0);

fn waiting() -> MutexGuard<'static, Vec<Waiting>> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How long a call waits at most, and where that is in memory, if it is there. None if it is not one of these, waits
/// for ever, or the kernel refuses it.
fn time(call: i64, [_, _, c, d, e, _]: [u64; 6]) -> Option<(u64, Option<u64>)> {
    let milliseconds = |number: u64| u64::try_from(number as c_int).ok().map(|ms| ms * 1_000_000);
    match call {
        libc::SYS_poll => milliseconds(c).map(|ns| (ns, None)),
        libc::SYS_epoll_wait | libc::SYS_epoll_pwait => milliseconds(d).map(|ns| (ns, None)),
        libc::SYS_ppoll => read_time(c).map(|ns| (ns, Some(c))),
        libc::SYS_epoll_pwait2 => read_time(d).map(|ns| (ns, Some(d))),
        libc::SYS_pselect6 => read_time(e).map(|ns| (ns, Some(e))),
        libc::SYS_select => {
            let [s, us] = memory::read_u64s(e)?;
            let is_time = s <= i64::MAX as u64 && us < 1_000_000;
            let ns = s.saturating_mul(1_000_000_000).saturating_add(us.saturating_mul(1_000));
            is_time.then_some((ns, Some(e)))
        }
        _ => None,
    }
}

/// Whether a call names no descriptors.
fn is_of_nothing(call: i64, [a, b, ..]: [u64; 6]) -> bool {
    match call {
        libc::SYS_poll | libc::SYS_ppoll => b == 0,
        libc::SYS_select | libc::SYS_pselect6 => a == 0,
        _ => false,
    }
}

/// Whether a call would return at once.
fn is_ready(call: i64, [a, b, c, d, ..]: [u64; 6]) -> bool {
    match call {
        libc::SYS_poll | libc::SYS_ppoll => are_ready(a, b),
        libc::SYS_select | libc::SYS_pselect6 => are_selected(a as c_int, [b, c, d]),
        _ => outside::is_ready(a as c_int, libc::POLLIN),
    }
}

fn are_ready(address: u64, count: u64) -> bool {
    const SIZE: usize = size_of::<libc::pollfd>();
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    if count > MOST {
        return true;
    }
    let mut bytes = vec![0; count * SIZE];
    if count > 0 && memory::read_bytes(address, &mut bytes).is_none() {
        return true;
    }
    let of = |bytes: &[u8; SIZE]| {
        let [a, b, c, d, e, f, _, _] = *bytes;
        let fd = c_int::from_ne_bytes([a, b, c, d]);
        libc::pollfd { fd, events: i16::from_ne_bytes([e, f]), revents: 0 }
    };
    let (all, _) = bytes.as_chunks::<SIZE>();
    outside::are_ready(&mut all.iter().map(of).collect::<Vec<_>>())
}

fn are_selected(count: c_int, addresses: [u64; 3]) -> bool {
    const SIZE: usize = size_of::<libc::fd_set>();
    let bytes = usize::try_from(count).map_or(usize::MAX, |count| count.div_ceil(64) * 8);
    if bytes > SIZE {
        return true;
    }
    let mut sets = [[0_u64; SIZE / 8]; 3];
    for (set, address) in sets.iter_mut().zip(addresses) {
        let mut read = [0; SIZE];
        if address != 0 && memory::read_bytes(address, &mut read[..bytes]).is_none() {
            return true;
        }
        let (words, _) = read.as_chunks();
        set.iter_mut().zip(words).for_each(|(word, bytes)| *word = u64::from_ne_bytes(*bytes));
    }
    let [reads, writes, others] = sets.each_mut().map(|set| ptr::from_mut(set).cast());
    let mut none = libc::timeval { tv_sec: 0, tv_usec: 0 };
    // SAFETY: three sets and a time that live meanwhile. It only looks.
    unsafe { libc::select(count, reads, writes, others, &raw mut none) != 0 }
}

/// A thread makes a call. None if it is not one of these, or waits for ever.
pub(crate) fn enter(thread: &Thread, call: i64, arguments: [u64; 6]) -> Option<Change> {
    let (ns, at) = time(call, arguments)?;
    let is_sleep = is_of_nothing(call, arguments);
    let only_looks = ns == 0;
    // That a program looks at what it was started with is known of `poll`.
    if !is_sleep && (!only_looks || call != libc::SYS_poll) {
        depends::also("it waits for something that is not simulated");
    }
    if only_looks {
        return Some(Change::None);
    }
    let in_vain = wait(thread, machine::cycles(ns), call, arguments);
    Some(match at {
        Some(at) if in_vain && is_sleep => Change::at_once(at),
        _ if in_vain && outside::is_anybody() => Change::Outside,
        _ => Change::None,
    })
}

/// Sleeps until the call would return at once, a signal comes, or so much time is over. Returns whether the last was so.
fn wait(thread: &Thread, time: Cycles, call: i64, arguments: [u64; 6]) -> bool {
    let task = thread.guest.task();
    let begun = guest::simulate(thread, Guest::now);
    let first = machine::cycles(FIRST_LOOK_NS);
    let until = begun.0.saturating_add(time.0);
    while !is_ready(call, arguments) {
        let now = guest::simulate(thread, Guest::now);
        let is_over = guest::machine().is_none_or(kilocore_sim::Guests::is_over);
        if is_over || now.0 >= until {
            return true;
        }
        let next = Cycles((now.since(begun).0 / LOOKS).max(first.0).min(until - now.0));
        waiting().push(Waiting { task, call, arguments });
        COUNT.fetch_add(1, Ordering::Relaxed);
        timers::sleeps(thread, Sleeps::Waits);
        let then = guest::simulate(thread, |guest| {
            guest.sleep(next);
            guest.now()
        });
        timers::sleeps(thread, Sleeps::Not);
        waiting().retain(|it| it.task != task);
        COUNT.fetch_sub(1, Ordering::Relaxed);
        // Somebody has woken it, who had looked, or sent a signal.
        if then.since(now) < next {
            break;
        }
    }
    false
}

/// A thread's call of the system has succeeded: those are woken whose descriptors it has made ready, and those to whom it
/// has sent a signal.
pub(crate) fn has_called(thread: &Thread, call: i64, arguments: [u64; 6]) {
    if COUNT.load(Ordering::Relaxed) == 0 {
        return;
    }
    let to = sent(call, arguments).map(|sent| sent.to);
    let is_signalled = |task: TaskId| match to {
        Some(Receiver::Process(_)) => true,
        Some(Receiver::Thread { number, .. }) => timers::is_known_as(task, number),
        None => false,
    };
    let mut woken = waiting().clone();
    woken.retain(|it| is_signalled(it.task) || is_ready(it.call, it.arguments));
    for Waiting { task, .. } in woken {
        guest::simulate(thread, |guest| guest.wake(task));
    }
}
