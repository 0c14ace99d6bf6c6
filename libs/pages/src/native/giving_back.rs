//! Whether the system takes back the memory of single pages.
//!
//! `MADV_DONTNEED` makes plain memory zero on Linux. What says that it did is not its result: of a part of a
//! huge page that was set aside, the kernel gives nothing back and reports success, and whatever else runs
//! programs of Linux may take the call for a hint. A page that is wrongly taken for zero shows its last
//! owner's bytes to the next one. So before any memory is given back in this way, the process tries once with
//! a page of its own, and looks.

use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicU8, Ordering};

use super::PAGE_BYTES;

const UNTRIED: u8 = 0;
const ZERO: u8 = 1;
const KEPT: u8 = 2;

/// What came of trying.
static TRIED: AtomicU8 = AtomicU8::new(UNTRIED);

/// Returns whether plain memory that is given back page by page is zero afterwards. The first call makes
/// three system calls and a page fault.
pub(super) fn makes_zero() -> bool {
    // Relaxed: whoever tries at the same time finds the same.
    match TRIED.load(Ordering::Relaxed) {
        UNTRIED => {
            // Without a page to try with, it is taken for no, and tried again another time.
            let Some(zero) = find_out() else { return false };
            TRIED.store(if zero { ZERO } else { KEPT }, Ordering::Relaxed);
            zero
        }
        tried => tried == ZERO,
    }
}

/// Writes to a page, gives it back, and looks. Returns nothing if there is no page.
fn find_out() -> Option<bool> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new anonymous mapping at an address that the kernel chooses harms nobody.
    let page = unsafe { libc::mmap(ptr::null_mut(), PAGE_BYTES, protection, flags, -1, 0) };
    if page == libc::MAP_FAILED {
        return None;
    }
    let page = NonNull::new(page.cast::<u8>())?;
    // SAFETY: the page is mapped, and nobody else knows of it. Volatile, as the kernel changes the byte.
    let zero = unsafe {
        page.write_volatile(0xA5);
        give_back(page, PAGE_BYTES) && page.read_volatile() == 0
    };
    // SAFETY: it was mapped above, and is used no more.
    unsafe { libc::munmap(page.as_ptr().cast(), PAGE_BYTES) };
    Some(zero)
}

/// Asks the system to take the memory of a range. Returns whether it says that it has.
///
/// The call goes to the kernel and not through the C library. Under `kilocore run --pages` that function is one
/// of the program's, and what it may give back is something else.
///
/// # Safety
/// The range is anonymous private memory of the caller's, and nobody uses what is in it.
pub(super) unsafe fn give_back(start: NonNull<u8>, bytes: usize) -> bool {
    let advice = libc::MADV_DONTNEED;
    // SAFETY: the caller's promise.
    unsafe { libc::syscall(libc::SYS_madvise, start.as_ptr(), bytes, advice) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_system_makes_zero_what_it_takes_back() {
        // It is Linux on which this is tested; elsewhere pages would be cleared by hand.
        assert_eq!(find_out(), Some(true));
        assert!(makes_zero() && makes_zero());
    }
}
