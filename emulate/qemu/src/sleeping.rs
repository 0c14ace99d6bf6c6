//! Sleeping for a time that is simulated.

use crate::call::Change;
use crate::guest::{self, Thread};
use crate::seen::{self, Clock};
use crate::timers::{self, Sleeps};
use crate::{machine, memory};

const NS_PER_S: u64 = 1_000_000_000;

/// The time at an address, in ns. None if there is none, or it is not one.
pub(crate) fn read_time(address: u64) -> Option<u64> {
    let [seconds, ns] = memory::read_u64s(address)?;
    let is_time = seconds <= i64::MAX as u64 && ns < NS_PER_S;
    is_time.then(|| seconds.saturating_mul(NS_PER_S).saturating_add(ns))
}

/// `nanosleep`, and `clock_nanosleep` if a clock is named.
pub(crate) fn enter(thread: &Thread, time: u64, absolute: Option<Clock>) -> Change {
    let Some(ns) = read_time(time) else { return Change::None };
    if timers::has_napped(thread, time) {
        return Change::at_once(time);
    }
    let ns = absolute.map_or(ns, |clock| ns.saturating_sub(seen::now_ns(clock)));
    timers::sleeps(thread, Sleeps::Nap(time));
    guest::simulate(thread, |guest| guest.sleep(machine::cycles(ns)));
    timers::sleeps(thread, Sleeps::Not);
    Change::at_once(time)
}
