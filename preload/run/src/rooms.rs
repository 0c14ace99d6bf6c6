//! The waiting rooms of all mutexes of the process, and the fences between releasers and waiters.

use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU32, Ordering, compiler_fence};

use kilocore_locks::{Fences, Room};
use kilocore_platform::Padded;
use kilocore_preload_common::errno;

use crate::host::Host;

/// The number of rooms, a power of two. Mutexes share the rooms, by their addresses.
const ROOMS: usize = 512;

type Table = [Padded<Room<Host>>; ROOMS];

// SAFETY: natively, a room of zeros is an empty room. Its parts are null pointers, and atomics and
// plain numbers that are zero. `Padded` adds nothing.
static TABLE: Table = unsafe { MaybeUninit::zeroed().assume_init() };

/// Returns the room of the mutex at `address`.
#[inline(always)]
pub(crate) fn of(address: usize) -> &'static Room<Host> {
    // Fibonacci hashing: the upper bits of the product depend on all bits of the address.
    let hash = (address as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    &TABLE[(hash >> (64 - ROOMS.trailing_zeros())) as usize]
}

/// Fences that cost releasers nothing. A thread that goes to sleep makes the kernel execute a fence
/// on every core that runs a thread of this process (`membarrier`). So each releaser either has
/// released the lock before this fence, or looks for sleeping guests after it.
#[derive(Debug)]
pub(crate) struct SleepersPay;

/// Commands of `membarrier`, as in `linux/membarrier.h`.
const PRIVATE_EXPEDITED: libc::c_int = 1 << 3;
const REGISTER_PRIVATE_EXPEDITED: libc::c_int = 1 << 4;

/// What [`MEMBARRIER`] holds: nobody has asked, the kernel offers it, or the kernel refuses it.
const UNKNOWN: u32 = 0;
const READY: u32 = 1;
const REFUSED: u32 = 2;

/// Whether the kernel offers `membarrier`.
static MEMBARRIER: AtomicU32 = AtomicU32::new(UNKNOWN);

// SAFETY: the compiler fence keeps the order of the releaser's instructions. `membarrier` makes the
// machine keep the order too, on both sides. If it fails, `announce` returns false.
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
                // It was not requested yet, or the registration was lost, for example by a fork.
                _ => register() && membarrier(PRIVATE_EXPEDITED),
            }
        })
    }
}

/// Registers this process for `membarrier`, and returns whether the kernel offers it.
pub(crate) fn register() -> bool {
    errno::preserved(|| {
        let ready = membarrier(REGISTER_PRIVATE_EXPEDITED);
        MEMBARRIER.store(if ready { READY } else { REFUSED }, Ordering::Relaxed);
        ready
    })
}

/// Calls `membarrier`, and returns whether the call has succeeded.
fn membarrier(command: libc::c_int) -> bool {
    // SAFETY: the call touches no memory of ours.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}
