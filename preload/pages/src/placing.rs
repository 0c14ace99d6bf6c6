//! Mappings at addresses that the program names (`MAP_FIXED`), where these are the pool's.
//!
//! The kernel has all of the pool mapped. So what is free there to the program is not so to the kernel: it has to
//! be told to replace what it has, also where the program asks it to replace nothing.

use core::ffi::{c_int, c_void};

use kilocore_pages::PAGE_BYTES;
use kilocore_preload_common::errno;

use crate::make::owned;
use crate::memory::{Inside, Memory};
use crate::{failure, next, system};

/// What a program asks `mmap` for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request {
    pub(crate) address: *mut c_void,
    pub(crate) bytes: usize,
    pub(crate) protection: c_int,
    pub(crate) flags: c_int,
    pub(crate) file: c_int,
    pub(crate) offset: i64,
}

impl Request {
    /// Passes it on to the displaced function.
    ///
    /// # Safety
    /// The contract is that of `mmap`.
    pub(crate) unsafe fn pass(&self) -> *mut c_void {
        let Some(next) = next::mmap() else { return failure::map_failed(libc::ENOSYS) };
        // SAFETY: the caller's promise.
        unsafe {
            next(self.address, self.bytes, self.protection, self.flags, self.file, self.offset)
        }
    }

    /// Returns how many bytes the kernel maps. Of huge pages it maps whole ones, whatever the program asks for.
    fn whole_bytes(&self) -> usize {
        const SIZE: c_int = 0x3f; // the power of two, or 0 for what the system prefers
        let huge = if self.flags & libc::MAP_ANONYMOUS == 0 {
            system::huge_page_of(self.file)
        } else if self.flags & libc::MAP_HUGETLB == 0 {
            None
        } else {
            match self.flags >> libc::MAP_HUGE_SHIFT & SIZE {
                0 => system::preferred_huge_page(),
                power => Some(1 << power),
            }
        };
        self.bytes.checked_next_multiple_of(huge.unwrap_or(1)).unwrap_or(self.bytes)
    }
}

/// Whatever the kernel maps of huge pages ends no further behind what was asked for than this.
const LARGEST_HUGE_PAGE: usize = 16 << 30;

/// Maps memory where the program wants it. Returns nothing if the pool has nothing to do with that.
///
/// # Safety
/// The contract is that of `mmap`.
pub(crate) unsafe fn map(request: Request) -> Option<*mut c_void> {
    const FREE: c_int = libc::MAP_FIXED_NOREPLACE;
    if request.flags & (libc::MAP_FIXED | FREE) == 0 || !is_begin(request.address) {
        return None;
    }
    // Most are far away, and the kernel need not be asked about their pages.
    owned(request.address, request.bytes.saturating_add(LARGEST_HUGE_PAGE))?;
    let bytes = request.whole_bytes();
    let (memory, inside) = owned(request.address, bytes)?;
    let must_be_free = request.flags & FREE != 0;
    if must_be_free && memory.holds_any(inside.run()) {
        return None; // the kernel sees that something is there
    }
    let mut request = request;
    let mut around = None;
    if must_be_free {
        let Some(reserved) = Around::reserve(memory, request.address.addr(), bytes, inside) else {
            return Some(failure::map_failed(libc::EEXIST));
        };
        around = Some(reserved);
        request.flags = request.flags & !FREE | libc::MAP_FIXED;
    }
    let Some(taken) = errno::preserved(|| memory.take_over(inside.run())) else {
        around.iter().for_each(Around::give_back);
        let code = if must_be_free { libc::EEXIST } else { libc::ENOMEM };
        return Some(failure::map_failed(code));
    };
    // SAFETY: the caller's promise. Where nothing must be replaced, nothing of the program's is.
    let mapped = unsafe { request.pass() };
    if mapped == libc::MAP_FAILED {
        errno::preserved(|| memory.undo(&taken));
        around.iter().for_each(Around::give_back);
    } else if request.flags & libc::MAP_GROWSDOWN != 0 {
        errno::preserved(|| memory.make_room_below(inside.run().first));
    }
    Some(mapped)
}

/// Returns whether a page begins at an address.
pub(crate) fn is_begin(address: *mut c_void) -> bool {
    address.addr().is_multiple_of(PAGE_BYTES)
}

/// The parts of a range that are not the pool's, in which something was mapped to see that they were free.
struct Around([(usize, usize); 2]);

impl Around {
    fn reserve(memory: &Memory, start: usize, bytes: usize, inside: Inside) -> Option<Self> {
        let mut own = Around([(0, 0); 2]);
        for (number, (from, to)) in memory.outside(start, bytes, inside).into_iter().enumerate() {
            if from < to {
                if !system::reserve(from, to - from) {
                    own.give_back();
                    return None;
                }
                own.0[number] = (from, to);
            }
        }
        Some(own)
    }

    fn give_back(&self) {
        for (from, to) in self.0 {
            if from < to {
                // SAFETY: it was reserved above, and the program does not know of it.
                unsafe { system::unmap(from, to - from) };
            }
        }
    }
}
