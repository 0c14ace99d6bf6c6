//! The waiting rooms of all mutexes of the process, and the fences at their doors.

use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU32, Ordering, compiler_fence};

use kilocore_locks::{Fences, Room};
use kilocore_platform::Padded;
use kilocore_preload_common::errno;

use crate::host::Host;

/// Rooms that mutexes share by their addresses; a power of two.
const ROOMS: usize = 512;

type Table = [Padded<Room<Host>>; ROOMS];

// SAFETY: a room of all zeroes is an empty one natively: null pointers, and atomics and plain
// numbers that are zero. `Padded` adds nothing.
static TABLE: Table = unsafe { MaybeUninit::zeroed().assume_init() };

/// The room of the mutex at `address`.
#[inline(always)]
pub(crate) fn of(address: usize) -> &'static Room<Host> {
    // Fibonacci hashing: the upper bits of the product depend on all bits of the address.
    let hash = (address as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    &TABLE[(hash >> (64 - ROOMS.trailing_zeros())) as usize]
}

/// Fences of which releasers pay nothing: whoever goes to sleep makes the kernel pass a fence on
/// every core that runs a thread of this process (`membarrier`). Each releaser then has either
/// released before that, or looks for guests after it.
#[derive(Debug)]
pub(crate) struct SleepersPay;

/// Commands of `membarrier`, as `linux/membarrier.h` has them.
const PRIVATE_EXPEDITED: libc::c_int = 1 << 3;
const REGISTER_PRIVATE_EXPEDITED: libc::c_int = 1 << 4;

/// States of [`MEMBARRIER`].
const UNKNOWN: u32 = 0;
const READY: u32 = 1;
const REFUSED: u32 = 2;

/// Whether the kernel offers the fence.
static MEMBARRIER: AtomicU32 = AtomicU32::new(UNKNOWN);

// SAFETY: the compiler keeps the order on the releaser's side and `membarrier` makes it that of
// the machine, on both sides, or `announce` is false.
unsafe impl Fences<Host> for SleepersPay {
    #[inline(always)]
    fn guests(room: &Room<Host>) -> u32 {
        compiler_fence(Ordering::SeqCst);
        room.count()
    }

    #[cold]
    fn announce(_room: &Room<Host>) -> bool {
        errno::preserved(|| {
            match MEMBARRIER.load(Ordering::Relaxed) {
                REFUSED => false,
                READY if membarrier(PRIVATE_EXPEDITED) => true,
                // Not asked for yet, or lost on the way to here.
                _ => register() && membarrier(PRIVATE_EXPEDITED),
            }
        })
    }
}

/// Tells the kernel that this process will use the fence.
pub(crate) fn register() -> bool {
    errno::preserved(|| {
        let ready = membarrier(REGISTER_PRIVATE_EXPEDITED);
        MEMBARRIER.store(if ready { READY } else { REFUSED }, Ordering::Relaxed);
        ready
    })
}

/// Whether the system call succeeds.
fn membarrier(command: libc::c_int) -> bool {
    // SAFETY: the call touches no memory of ours.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}
