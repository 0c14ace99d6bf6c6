//! The number of cores that the program may use.

use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU32, Ordering};

use kilocore_platform::{Native, Platform};

use crate::deadline;

/// The number of cores, or zero before they were counted.
static CORES: AtomicU32 = AtomicU32::new(0);

/// Returns the number of cores that the program was allowed to use when they were counted.
#[inline]
fn count() -> u32 {
    match CORES.load(Ordering::Relaxed) {
        0 => measure(),
        cores => cores,
    }
}

/// Returns whether there is more than one core.
#[inline]
pub(crate) fn are_many() -> bool {
    count() > 1
}

/// How long a waiter spins at first, in nanoseconds, and for how much longer for each that may be in its queue: one that
/// gives way notices its turn late, and so do all behind it.
const SPINS: u64 = 20_000;
const SPINS_FOR_EACH: u64 = 2_000;
/// In turns of a spin loop, whatever these take: on some processors a turn is over in 5 ns, on others in 50.
const TURNS: core::ops::RangeInclusive<u64> = 1_000..=50_000;
/// Turns of which the time is taken.
const SAMPLE: u32 = 200;

/// How many turns of a spin loop a waiter spins at first, or zero before that was measured.
static TURNS_OF_SPINNING: AtomicU32 = AtomicU32::new(0);

/// Returns how many turns of a spin loop a waiter spins before it gives way to others: none on a single core, where
/// nobody else runs meanwhile.
#[inline]
pub(crate) fn turns_of_spinning() -> u32 {
    match TURNS_OF_SPINNING.load(Ordering::Relaxed) {
        0 => measure_turns(),
        // One is the beginning of a wait.
        turns => turns,
    }
}

/// Measures it. Every thread that finds nothing measures about the same.
#[cold]
fn measure_turns() -> u32 {
    let turns = if !are_many() {
        1
    } else {
        let start = deadline::nanoseconds();
        Native::pause(SAMPLE);
        let took = deadline::nanoseconds().saturating_sub(start).max(1);
        let spins = SPINS + SPINS_FOR_EACH * u64::from(for_waiters());
        let turns = spins * u64::from(SAMPLE) / took;
        turns.clamp(*TURNS.start(), *TURNS.end()) as u32
    };
    TURNS_OF_SPINNING.store(turns, Ordering::Relaxed);
    turns
}

/// Returns how many threads may wait in a lock's own queue: one for each core except the holder's,
/// but at least one.
#[inline]
pub(crate) fn for_waiters() -> u32 {
    (count() - 1).max(1)
}

/// Counts the cores that the process may use, and keeps the number.
#[cold]
pub(crate) fn measure() -> u32 {
    let cores = kilocore_preload_common::errno::preserved(|| {
        let mut set = MaybeUninit::<libc::cpu_set_t>::zeroed();
        // SAFETY: the set has the size that the call is told, and zeros are a valid set.
        unsafe {
            if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), set.as_mut_ptr()) == 0 {
                libc::CPU_COUNT(set.assume_init_ref()) as u32
            } else {
                // The machine has more processors than the set has room for.
                libc::sysconf(libc::_SC_NPROCESSORS_ONLN).max(1) as u32
            }
        }
    });
    let cores = cores.max(1);
    CORES.store(cores, Ordering::Relaxed);
    cores
}
