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

use libc::c_int;

use crate::awaits::Awaits;
use crate::call::Change;
use crate::guest::Thread;
use crate::outside::Waits;
use crate::sleeping::read_time;
use crate::waits::{self, Ended};
use crate::{asked, depends, internal, interrupts, machine, memory, outside};

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

/// Whether a call that only looks tells the same each time.
fn tells_the_same(call: i64, arguments: [u64; 6]) -> bool {
    let Some(mut all) = asked::asked(call, arguments) else { return false };
    if call == libc::SYS_poll {
        // That a program looks which descriptors it was started with is known.
        all.retain(|&(_, events)| events != 0);
    }
    let is_known = !internal::are_shared() && !outside::is_anybody_at_own();
    all.is_empty() || is_known && asked::are_decided_here(&all)
}

/// A thread makes a call. `None` if it is not one of these.
pub(crate) fn enter(thread: &Thread, call: i64, arguments: [u64; 6]) -> Option<Change> {
    let time = Time::of(call, arguments)?;
    let is_sleep = asked::is_sleep((call, arguments));
    if !is_sleep {
        asked::wait_for_output(call, arguments);
    }
    let awaits = Awaits::Asked { call, arguments };
    let (limit, at) = match time {
        Time::Endless if asked::names_any(call, arguments) => (None, None),
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
