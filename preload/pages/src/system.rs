//! System calls that this library makes for itself. They go past the functions that it exports, and
//! leave `errno` alone.

use core::ptr::NonNull;

use kilocore_preload_common::errno;

const READ_WRITE: libc::c_int = libc::PROT_READ | libc::PROT_WRITE;
const ANONYMOUS: libc::c_int = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;

/// Maps so many bytes of zeros, if there is address space.
pub(crate) fn map(bytes: usize) -> Option<NonNull<u8>> {
    let address = errno::preserved(|| {
        // SAFETY: a new mapping at an address that the kernel chooses harms nobody.
        unsafe { libc::syscall(libc::SYS_mmap, 0, bytes, READ_WRITE, ANONYMOUS, -1, 0) }
    });
    if address == -1 { None } else { NonNull::new(address as *mut u8) }
}

/// Maps a range so that nobody else does, if nothing is mapped there. Returns whether that was so.
pub(crate) fn reserve(address: usize, bytes: usize) -> bool {
    let flags = ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    // SAFETY: a new mapping in the place of none harms nobody.
    let call = || unsafe {
        libc::syscall(libc::SYS_mmap, address, bytes, libc::PROT_NONE, flags, -1, 0) as usize
    };
    let got = errno::preserved(call);
    if got != address && got != usize::MAX {
        // A kernel that takes the address for a wish only.
        // SAFETY: nobody knows of the mapping.
        unsafe { unmap(got, bytes) };
    }
    got == address
}

/// Unmaps a range.
///
/// # Safety
/// Nobody uses the range any more.
pub(crate) unsafe fn unmap(address: usize, bytes: usize) -> bool {
    // SAFETY: the caller's promise.
    errno::preserved(|| unsafe { libc::syscall(libc::SYS_munmap, address, bytes) }) == 0
}

/// Puts a new mapping of zeros in the place of a range: one that can be read and written, and has
/// nothing of what was done to the old one. Returns whether that worked.
///
/// # Safety
/// The range is the caller's, and nobody uses what is in it.
pub(crate) unsafe fn replace(address: usize, bytes: usize) -> bool {
    let flags = ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
    // SAFETY: the caller's promise.
    let call = || unsafe {
        libc::syscall(libc::SYS_mmap, address, bytes, READ_WRITE, flags, -1, 0) as usize
    };
    errno::preserved(call) == address
}

/// Returns how many of the pages of a range have memory, of at most 512.
pub(crate) fn resident(address: usize, pages: u32) -> Option<u32> {
    let mut states = [0_u8; 512];
    let bytes = pages as usize * kilocore_pages::PAGE_BYTES;
    if pages as usize > states.len() {
        return None;
    }
    // SAFETY: the kernel writes a byte for each page of the range.
    let call = || unsafe { libc::syscall(libc::SYS_mincore, address, bytes, &mut states) };
    if errno::preserved(call) != 0 {
        return None;
    }
    Some(states[..pages as usize].iter().map(|state| u32::from(state & 1)).sum())
}

/// Returns the seconds of a clock that only goes forward and costs next to nothing.
pub(crate) fn seconds() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time is ours to write.
    errno::preserved(|| unsafe {
        libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &mut time);
    });
    time.tv_sec as u64
}

/// Returns the size of the address space that the process may have, in bytes, if that is limited.
pub(crate) fn address_space() -> Option<u64> {
    [libc::RLIMIT_AS, libc::RLIMIT_DATA].into_iter().filter_map(limit).min()
}

/// Returns the size to which a stack may grow, in bytes, if that is limited.
pub(crate) fn stack() -> Option<u64> {
    limit(libc::RLIMIT_STACK)
}

fn limit(which: libc::__rlimit_resource_t) -> Option<u64> {
    let mut limit = libc::rlimit64 { rlim_cur: 0, rlim_max: 0 };
    let none = core::ptr::null::<libc::rlimit64>();
    // SAFETY: the kernel writes the limit, which is ours.
    let call = || unsafe { libc::syscall(libc::SYS_prlimit64, 0, which, none, &mut limit) };
    let known = errno::preserved(call) == 0 && limit.rlim_cur != libc::RLIM64_INFINITY;
    known.then_some(limit.rlim_cur)
}

/// Returns the size of the pages of an open file, if they are huge pages.
pub(crate) fn huge_page_of(file: libc::c_int) -> Option<usize> {
    let mut about = core::mem::MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: the kernel writes what it knows of the file system, or fails.
    let known = errno::preserved(|| unsafe { libc::fstatfs(file, about.as_mut_ptr()) }) == 0;
    // SAFETY: it was written.
    let about = known.then(|| unsafe { about.assume_init() })?;
    (about.f_type == libc::HUGETLBFS_MAGIC).then_some(about.f_bsize as usize)
}

/// Returns the size of the huge pages that the system prefers.
pub(crate) fn preferred_huge_page() -> Option<usize> {
    let flags = libc::MFD_CLOEXEC | libc::MFD_HUGETLB;
    // SAFETY: the name is a string.
    let file = errno::preserved(|| unsafe {
        libc::syscall(libc::SYS_memfd_create, c"".as_ptr(), flags) as libc::c_int
    });
    if file < 0 {
        return None;
    }
    let size = huge_page_of(file);
    // SAFETY: the file was opened above.
    errno::preserved(|| unsafe { libc::close(file) });
    size
}

/// Returns one more than the highest number of a core that the process may use.
pub(crate) fn cores() -> u32 {
    let mut set = [0_u64; 128];
    // SAFETY: the kernel writes no more than the set has room for.
    let call =
        || unsafe { libc::syscall(libc::SYS_sched_getaffinity, 0, size_of_val(&set), &mut set) };
    if errno::preserved(call) < 0 {
        return 1;
    }
    let last = set.iter().enumerate().rev().find(|(_, word)| **word != 0);
    last.map_or(1, |(at, word)| at as u32 * u64::BITS + (u64::BITS - word.leading_zeros()))
}
