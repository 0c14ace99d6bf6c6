//! What the program sees of the machine: how many processors there are, which one a thread is on, what time it is, and what
//! random numbers the system has for it.

use std::iter;
use std::mem::offset_of;
use std::sync::atomic::{AtomicU64, Ordering};

use kilocore_sim::{Activity, Guests};

use crate::described::MEMORY;
use crate::guest::{self, Thread};
use crate::machine::ns;
use crate::{binding, memory};

/// A clock that programs read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clock {
    /// Since the beginning of 1970.
    Real,
    /// Since the machine was switched on.
    Monotonic,
    /// What all threads of the program have computed.
    Process,
    /// What a thread has computed.
    Thread,
}

/// When programs begin, in ns since 1970: the beginning of 2024. The same each time, so that runs are alike.
const BEGINNING: u64 = 1_704_067_200 * 1_000_000_000;
/// For how long the machine has been on then, in ns.
const UP: u64 = 1_000 * 1_000_000_000;

impl Clock {
    /// The clock that programs know by this number.
    pub(crate) fn of(number: u64) -> Option<Self> {
        match number as libc::clockid_t {
            libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI => {
                Some(Self::Real)
            }
            libc::CLOCK_MONOTONIC
            | libc::CLOCK_MONOTONIC_RAW
            | libc::CLOCK_MONOTONIC_COARSE
            | libc::CLOCK_BOOTTIME => Some(Self::Monotonic),
            libc::CLOCK_PROCESS_CPUTIME_ID => Some(Self::Process),
            libc::CLOCK_THREAD_CPUTIME_ID => Some(Self::Thread),
            _ => None,
        }
    }
}

/// What a clock shows the thread that runs, in ns.
pub(crate) fn now_ns(clock: Clock) -> u64 {
    let Some(thread) = guest::this_thread() else { return 0 };
    guest::simulate(&thread, |guest| {
        let since = |cycles| ns(cycles) as u64;
        match clock {
            Clock::Real => BEGINNING + since(guest.now()),
            Clock::Monotonic => UP + since(guest.now()),
            Clock::Thread => since(guest.times().total()),
            Clock::Process => guest.outcome().map_or(0, |outcome| since(outcome.times().total())),
        }
    })
}

/// The time that the program, or the thread that runs, has computed by itself, and in the kernel, in ns.
fn used_ns(of: Clock) -> [u64; 2] {
    let Some(thread) = guest::this_thread() else { return [0; 2] };
    let times = guest::simulate(&thread, |guest| match of {
        Clock::Thread => Some(guest.times()),
        _ => guest.outcome().map(|outcome| outcome.times()),
    });
    times.map_or([0; 2], |times| {
        let system = times.of(Activity::System);
        [times.total().since(system), system].map(|time| ns(time) as u64)
    })
}

/// Whether Linux answers a call, with this first argument, by code that it maps into programs. QEMU maps none, so
/// that here they all call.
pub(crate) fn is_answered_outside(call: i64, first: u64) -> bool {
    match call {
        libc::SYS_clock_gettime => {
            matches!(Clock::of(first), Some(Clock::Real | Clock::Monotonic))
        }
        libc::SYS_gettimeofday | libc::SYS_time | libc::SYS_getcpu => true,
        _ => false,
    }
}

/// What a call of the system that has succeeded tells the program.
pub(crate) fn correct(thread: &Thread, call: i64, arguments: [u64; 6], result: i64) {
    let [a, b, ..] = arguments;
    let parts = |ns: u64, of: u64| [ns / 1_000_000_000, ns % 1_000_000_000 / of];
    match call {
        libc::SYS_clock_gettime => {
            if let Some(clock) = Clock::of(a) {
                memory::write_u64s(b, parts(now_ns(clock), 1));
            }
        }
        libc::SYS_gettimeofday => {
            memory::write_u64s(a, parts(now_ns(Clock::Real), 1_000));
        }
        libc::SYS_time => {
            memory::write_u64s(a, [now_ns(Clock::Real) / 1_000_000_000]);
        }
        libc::SYS_sysinfo => {
            let up = now_ns(Clock::Monotonic) / 1_000_000_000;
            // One process, no load, no swap.
            memory::write_u64s(a, [up, 0, 0, 0, MEMORY, MEMORY, 0, 0, 0, 0, 1, 0, 0]);
        }
        libc::SYS_getrusage => {
            let of = if a as libc::c_int == libc::RUSAGE_THREAD {
                Clock::Thread
            } else {
                Clock::Process
            };
            if a as libc::c_int != libc::RUSAGE_CHILDREN {
                let [user, system] = used_ns(of).map(|ns| parts(ns, 1_000));
                let kib = guest::machine().map_or(0, Guests::resident_bytes) >> 10;
                memory::write_u64s(b, [user[0], user[1], system[0], system[1], kib]);
                let faults = guest::machine().map_or(0, Guests::page_faults);
                memory::write_u64s(b + 64, [faults, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
            }
        }
        libc::SYS_times => {
            memory::write_u64s(a, used_ns(Clock::Process).map(|ns| ns / 10_000_000));
        }
        libc::SYS_getrandom => {
            let bytes = usize::try_from(result).unwrap_or(0);
            for (at, value) in (a..).step_by(8).zip(random().take(bytes.div_ceil(8))) {
                let left = bytes - (at - a) as usize;
                memory::write(at, &value.to_ne_bytes()[..left.min(8)]);
            }
        }
        libc::SYS_getcpu => {
            let (cpu, node) = guest::simulate(thread, |guest| (guest.cpu().0, guest.node().0));
            for (address, number) in [(a, cpu), (b, node)] {
                if address != 0 {
                    memory::write(address, &number.to_ne_bytes());
                }
            }
        }
        libc::SYS_sched_getaffinity => {
            binding::correct(thread, arguments, u64::try_from(result).unwrap_or(0).min(b));
        }
        _ => {}
    }
}

/// Where in the sequence of random numbers the program is.
static DRAWN: AtomicU64 = AtomicU64::new(0);

/// The program begins, with the random numbers of this seed.
pub(crate) fn begin(seed: u64) {
    // Sequences of seeds that follow one another are far apart.
    DRAWN.store(seed.wrapping_mul(0xd134_2543_de82_ef95), Ordering::Relaxed);
}

/// Numbers that look random, the same ones in each run with the same seed (splitmix64).
fn random() -> impl Iterator<Item = u64> {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    iter::repeat_with(|| {
        // Only the thread that runs asks.
        let mut value = DRAWN.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ value >> 31
    })
}

const _: () = {
    assert!(offset_of!(libc::rusage, ru_maxrss) == 4 * 8, "after the two times");
    assert!(offset_of!(libc::rusage, ru_minflt) == 64, "after the sizes of parts");
    assert!(offset_of!(libc::sysinfo, totalram) == 4 * 8, "after the time and three loads");
    assert!(offset_of!(libc::sysinfo, procs) == 10 * 8, "after the swap");
};
