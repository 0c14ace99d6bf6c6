//! Telling a forked child from its parent.
//!
//! After `fork` the child has one thread. Waiters recorded in locks that the forking thread
//! holds, and in condition variables, do not exist in it; handing a lock to one of them would
//! lose it. Mutexes and condition variables are therefore stamped with a number of the process
//! they were last taken in, and a stamp that is not this process's says that waiters must be
//! forgotten first.
//!
//! The number lives on a page that the kernel zeroes in a child (`MADV_WIPEONFORK`), so that the
//! child notices on its first look, be it in a `pthread_atfork` handler that was registered before
//! any of ours could be, or after a bare `_Fork` that runs no handlers at all. Kernels before 4.14
//! lack that and get an atfork handler.

use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// Bits of a process number; the rest of a word is left to whoever stores it.
pub(crate) const BITS: u32 = 30;

/// Used until there is a page. Always zero, which sends the reader to `renew`.
static NO_PAGE: AtomicU32 = AtomicU32::new(0);

/// Where the number of this process is; zero in a new child.
static PAGE: AtomicPtr<AtomicU32> = AtomicPtr::new(ptr::from_ref(&NO_PAGE).cast_mut());

/// The last number given out in this line of descent. Survives a fork.
static LAST: AtomicU32 = AtomicU32::new(0);

/// The number of this process: nonzero, below `1 << BITS`, and unlike that of any process it
/// descends from (until 2^30 generations have passed).
#[inline]
pub(crate) fn current() -> u32 {
    // Relaxed: the number changes only by a fork, which the forked thread cannot reorder past.
    // The page is zero-filled by the kernel and never unmapped.
    let page = PAGE.load(Ordering::Relaxed);
    // SAFETY: PAGE points to NO_PAGE or to a live mapping that is never unmapped once there.
    let number = unsafe { &*page }.load(Ordering::Relaxed);
    if number == 0 { renew() } else { number }
}

/// Numbers this process.
#[cold]
fn renew() -> u32 {
    let page = page();
    let next = LAST.load(Ordering::Relaxed) % ((1 << BITS) - 1) + 1;
    // Before the page shows the number: should another thread fork in between, the grandchild
    // must not take the same.
    LAST.store(next, Ordering::SeqCst);
    match page.compare_exchange(0, next, Ordering::SeqCst, Ordering::Relaxed) {
        Ok(_) => next,
        Err(theirs) => theirs,
    }
}

/// The page of this process, made if there is none.
fn page() -> &'static AtomicU32 {
    let page = PAGE.load(Ordering::Relaxed);
    if page != ptr::from_ref(&NO_PAGE).cast_mut() {
        // SAFETY: any other value is a mapping that is never unmapped.
        return unsafe { &*page };
    }
    let fresh = wiped_page();
    match PAGE.compare_exchange(page, fresh, Ordering::AcqRel, Ordering::Acquire) {
        // SAFETY: the page lives on, as above. A page that lost the race to be the first is left
        // mapped and unused, at most once per thread that raced.
        Ok(_) => unsafe { &*fresh },
        // SAFETY: likewise.
        Err(theirs) => unsafe { &*theirs },
    }
}

/// A zero word that reads zero in every child.
fn wiped_page() -> *mut AtomicU32 {
    /// Stands in where the kernel cannot wipe: our own handler zeroes it.
    static BY_HAND: AtomicU32 = AtomicU32::new(0);

    extern "C" fn wipe() {
        BY_HAND.store(0, Ordering::SeqCst);
    }

    kilocore_preload_common::errno::preserved(|| {
        // SAFETY: a new private mapping at an address of the kernel's choice, and advice on it.
        unsafe {
            let size = libc::sysconf(libc::_SC_PAGESIZE).max(4096) as usize;
            let page = libc::mmap(
                ptr::null_mut(),
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            if page != libc::MAP_FAILED && libc::madvise(page, size, libc::MADV_WIPEONFORK) == 0 {
                return page.cast();
            }
            libc::pthread_atfork(None, None, Some(wipe));
        }
        ptr::from_ref(&BY_HAND).cast_mut()
    })
}
