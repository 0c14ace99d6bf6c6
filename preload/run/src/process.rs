//! Tells a forked child from its parent.
//!
//! After `fork`, the child has one thread. The waiters that are recorded in condition variables,
//! and in locks that the forking thread holds, do not exist in the child. If a lock were handed to
//! one of them, it would never be released again. So mutexes and condition variables are stamped
//! with the number of the process in which they were last used. If the stamp is not the number of
//! the present process, the recorded waiters must be forgotten first.
//!
//! The number lies on a page that the kernel zeroes in a child (`MADV_WIPEONFORK`). So the child
//! notices the fork as soon as it reads the number. This works even in a `pthread_atfork` handler
//! that was registered before any of ours could be, and after a bare `_Fork`, which runs no
//! handlers at all. Kernels before 4.14 cannot do this; there, an atfork handler zeroes the number.

use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// The number of bits of a process number. Users of the number may keep other things in the
/// remaining bits of a word.
pub(crate) const BITS: u32 = 30;

/// Is used until there is a page. It is always zero, which makes the reader call `renew`.
static NO_PAGE: AtomicU32 = AtomicU32::new(0);

/// Points to the number of this process. The number is zero in a new child.
static PAGE: AtomicPtr<AtomicU32> = AtomicPtr::new(ptr::from_ref(&NO_PAGE).cast_mut());

/// The last number that this process or one of its ancestors got. A child inherits it.
static LAST: AtomicU32 = AtomicU32::new(0);

/// Returns the number of this process. It is not zero, it is below `1 << BITS`, and it differs from
/// the numbers of all ancestors (until 2^30 generations have passed).
#[inline]
pub(crate) fn current() -> u32 {
    // Relaxed: only a fork changes the number, and the child's thread sees that change. The kernel
    // fills the page with zeros, and the page is never unmapped.
    let page = PAGE.load(Ordering::Relaxed);
    // SAFETY: PAGE points to NO_PAGE, to another static, or to a mapping that is never unmapped.
    let number = unsafe { &*page }.load(Ordering::Relaxed);
    if number == 0 { renew() } else { number }
}

/// Returns the number of this process, or zero if it has none yet.
#[inline]
pub(crate) fn number_if_any() -> u32 {
    // SAFETY: as in `current`. Relaxed: as there.
    unsafe { &*PAGE.load(Ordering::Relaxed) }.load(Ordering::Relaxed)
}

/// Gives this process a number.
#[cold]
fn renew() -> u32 {
    let page = page();
    let next = LAST.load(Ordering::Relaxed) % ((1 << BITS) - 1) + 1;
    // This store comes before the page gets the number. If another thread forks in between, its
    // child must not take the same number.
    LAST.store(next, Ordering::SeqCst);
    match page.compare_exchange(0, next, Ordering::SeqCst, Ordering::Relaxed) {
        Ok(_) => next,
        Err(theirs) => theirs,
    }
}

/// Returns the page of this process. Makes it if there is none.
fn page() -> &'static AtomicU32 {
    let page = PAGE.load(Ordering::Relaxed);
    if page != ptr::from_ref(&NO_PAGE).cast_mut() {
        // SAFETY: any other value is a static or a mapping that is never unmapped.
        return unsafe { &*page };
    }
    let fresh = wiped_page();
    match PAGE.compare_exchange(page, fresh, Ordering::AcqRel, Ordering::Acquire) {
        // SAFETY: the page is never unmapped, as above. If several threads race, each loser leaves
        // a page that is mapped and not used.
        Ok(_) => unsafe { &*fresh },
        // SAFETY: as above.
        Err(theirs) => unsafe { &*theirs },
    }
}

/// Returns a word that is zero now, and zero again in every child.
fn wiped_page() -> *mut AtomicU32 {
    /// Is used if the kernel cannot wipe pages. An atfork handler zeroes it.
    static BY_HAND: AtomicU32 = AtomicU32::new(0);

    extern "C" fn wipe() {
        BY_HAND.store(0, Ordering::SeqCst);
    }

    kilocore_preload_common::errno::preserved(|| {
        // SAFETY: this makes a new private mapping at an address that the kernel chooses, and gives
        // the kernel advice on that mapping.
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
