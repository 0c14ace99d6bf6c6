//! Futexes: threads sleep and wake in the simulator.
//!
//! The kernel's own call is made all the same, as QEMU cannot skip one. Nobody ever sleeps there: a waiter makes its
//! call only when its wait is over. Then the word is another one for the moment of the call, or the time is up.

use std::mem::offset_of;

use kilocore_platform::Parked;

use crate::call::Change;
use crate::guest::{self, Thread};
use crate::outside::Waits;
use crate::seen::{self, Clock};
use crate::timers::{self, Sleeps};
use crate::{conditions, machine, memory, sleeping};

/// Bits that a word is changed by to end a wait.
const OTHER: u32 = 0x4000_0001;

/// What a call of `futex` does.
pub(crate) fn enter(thread: &Thread, [word, operation, value, time, other, _]: [u64; 6]) -> Change {
    let operation = operation as i32;
    let command = operation & libc::FUTEX_CMD_MASK;
    let value = value as u32;
    match command {
        libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET => {
            let absolute = (command == libc::FUTEX_WAIT_BITSET).then_some({
                if operation & libc::FUTEX_CLOCK_REALTIME == 0 {
                    Clock::Monotonic
                } else {
                    Clock::Real
                }
            });
            wait(thread, word, value, time, absolute)
        }
        libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET => {
            let is_broadcast = value >= ALL && operation & libc::FUTEX_PRIVATE_FLAG != 0;
            let mutex = is_broadcast.then(|| conditions::broadcasts(word)).flatten();
            guest::simulate(thread, |guest| match mutex {
                Some(mutex) => drop(guest.futex_requeue(word, 1, mutex, u32::MAX)),
                None => drop(guest.futex_wake(word, value)),
            });
            Change::None
        }
        libc::FUTEX_REQUEUE | libc::FUTEX_CMP_REQUEUE => {
            // The time is the number of those that are moved.
            let most = time as u32;
            guest::simulate(thread, |guest| guest.futex_requeue(word, value, other, most));
            Change::None
        }
        libc::FUTEX_WAKE_OP => {
            let most = time as u32;
            guest::simulate(thread, |guest| {
                guest.futex_wake(word, value);
                guest.futex_wake(other, most);
            });
            Change::None
        }
        // Those that lend their priority sleep in the kernel.
        libc::FUTEX_LOCK_PI | libc::FUTEX_WAIT_REQUEUE_PI | FUTEX_LOCK_PI2 => {
            Change::Outside(Waits::ForOthers)
        }
        _ => Change::None,
    }
}

/// Who wakes so many wakes all.
const ALL: u32 = i32::MAX as u32;
/// As of Linux 5.14.
const FUTEX_LOCK_PI2: i32 = 13;

fn wait(thread: &Thread, word: u64, value: u32, time: u64, absolute: Option<Clock>) -> Change {
    let timeout = sleeping::read_time(time).map(|ns| match absolute {
        None => ns,
        Some(clock) => ns.saturating_sub(seen::now_ns(clock)),
    });
    let timeout = timeout.map(machine::cycles);
    let woken_before = conditions::waits(word, &thread.updates);
    let parked = guest::simulate(thread, |guest| {
        if let Some(mutex) = woken_before {
            guest.futex_wake(mutex, u32::MAX);
        }
        let unchanged = || {
            // It does nothing else from here on that it could be woken out of.
            timers::sleeps(thread, Sleeps::Waits);
            memory::load(word) == Some(value)
        };
        guest.futex_wait(word, unchanged, timeout)
    });
    timers::sleeps(thread, Sleeps::Not);
    match parked {
        Parked::TimedOut => Change::at_once(time),
        // Also if it was another one: since that was seen, others may have run and changed it back.
        Parked::Changed | Parked::Woken if memory::load(word) == Some(value) => {
            memory::store(word, value ^ OTHER);
            Change::Word { address: word, was: value }
        }
        Parked::Changed | Parked::Woken => Change::None,
    }
}

const _: () = assert!(offset_of!(libc::timespec, tv_nsec) == 8, "a time is two words");
