//! The recording: a file mapped into memory, and the allocation of blocks in it.

use core::ffi::CStr;
use core::ptr;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use kilocore_recording::{
    Block, BlockHeader, FileHeader, MAGIC, MAX_FILE_BYTES, PATH_BYTES, UNIT, UnitId, VERSION,
};

use crate::{clock, confinement};

/// The file grows by this many bytes at a time. The space is reserved before it is written to,
/// because writing to a mapped page that the file system has no room for kills the process.
const GROWTH: u64 = 1 << 20;

/// It grows when fewer bytes than this are left, so that other threads need not wait for it.
const AHEAD: u64 = GROWTH / 4;

/// It begins with this many: most processes have few locks.
const FIRST: u64 = 1 << 18;

/// A file that was opened for this process.
#[derive(Debug)]
pub(crate) struct File {
    /// Start of the mapping of [`MAX_FILE_BYTES`], of which [`backed`](Self::backed) bytes exist.
    pub(crate) base: *mut u8,
    /// Bytes of the file that exist.
    pub(crate) backed: u64,
}

/// Opens `path` without the C library's wrapper, which is a cancellation point.
fn open(path: &CStr, flags: libc::c_int) -> libc::c_int {
    if confinement::is_confined() {
        return -1;
    }
    // SAFETY: a C string and integers; the kernel checks them.
    unsafe {
        libc::syscall(
            libc::SYS_openat,
            libc::AT_FDCWD,
            path.as_ptr(),
            flags | libc::O_CLOEXEC | libc::O_NOFOLLOW,
            0o600,
        ) as libc::c_int
    }
}

/// Closes a descriptor of ours.
pub(crate) fn close(descriptor: libc::c_int) {
    // SAFETY: the descriptor was opened by this library and is not used afterwards.
    unsafe { libc::syscall(libc::SYS_close, descriptor) };
}

/// Opens `path` for reading, or gives a negative number.
pub(crate) fn open_to_read(path: &CStr) -> libc::c_int {
    open(path, libc::O_RDONLY)
}

/// Reserves the bytes of an open file up to `end`. Says whether they are there.
fn reserve(descriptor: libc::c_int, end: u64) -> bool {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is ours to be written.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) } == 0;
    // Beyond the limit the kernel would not only refuse but send SIGXFSZ.
    if !known || (limit.rlim_cur != libc::RLIM_INFINITY && limit.rlim_cur < end) {
        return false;
    }
    for _ in 0..100 {
        // SAFETY: integers only.
        if unsafe { libc::syscall(libc::SYS_fallocate, descriptor, 0, 0, end) } == 0 {
            return true;
        }
        match kilocore_interpose::errno::current() {
            libc::EINTR => {}
            libc::EOPNOTSUPP => {
                // SAFETY: integers only.
                return unsafe { libc::syscall(libc::SYS_ftruncate, descriptor, end) } == 0;
            }
            _ => return false,
        }
    }
    false
}

impl File {
    /// Creates the file and maps it; `None` if any of that fails.
    pub(crate) fn create(path: &CStr) -> Option<Self> {
        let descriptor = open(path, libc::O_RDWR | libc::O_CREAT | libc::O_EXCL);
        if descriptor < 0 {
            return None;
        }
        // SAFETY: takes no argument; integers only.
        unsafe {
            if libc::geteuid() == 0 {
                // A service that gives up its rights later must still be able to let it grow.
                libc::syscall(libc::SYS_fchmod, descriptor, 0o622);
            }
        }
        let file = Self::map(descriptor);
        close(descriptor);
        file
    }

    /// Maps an empty file and writes its header.
    fn map(descriptor: libc::c_int) -> Option<Self> {
        if !reserve(descriptor, FIRST) {
            return None;
        }
        // SAFETY: a new mapping at an address of the kernel's choice. Pages beyond the end of
        // the file are not touched before the file has grown.
        let base = unsafe {
            libc::mmap(
                ptr::null_mut(),
                MAX_FILE_BYTES,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_NORESERVE,
                descriptor,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return None;
        }
        let file = Self { base: base.cast(), backed: FIRST };
        file.write_header();
        Some(file)
    }

    fn write_header(&self) {
        // SAFETY: the first page of a mapping that only this thread knows; aligned to a page.
        let header = unsafe { &mut *self.base.cast::<FileHeader>() };
        // SAFETY: a path and a buffer of ours with room for a final zero byte.
        unsafe {
            libc::syscall(
                libc::SYS_readlinkat,
                libc::AT_FDCWD,
                c"/proc/self/exe".as_ptr(),
                header.executable.as_mut_ptr(),
                PATH_BYTES - 1,
            );
            *header.pid.get_mut() = libc::getpid() as u32;
        }
        *header.version.get_mut() = VERSION;
        *header.used.get_mut() = size_of::<FileHeader>() as u64;
        *header.threads_started.get_mut() = 1;
        *header.threads_alive.get_mut() = 1;
        *header.threads_peak.get_mut() = 1;
        *header.first_ns.get_mut() = clock::system_ns(libc::CLOCK_MONOTONIC);
        *header.first_cycles.get_mut() = clock::now().cycles;
        header.magic.store(MAGIC, Ordering::Release);
    }

    /// Lets the file grow; gives the bytes it has then. Opens it anew, because the program may
    /// have closed all descriptors that it does not know.
    pub(crate) fn grow(base: *mut u8, path: &CStr, backed: u64) -> Option<u64> {
        let end = (backed / GROWTH + 1) * GROWTH;
        if end > MAX_FILE_BYTES as u64 {
            return None;
        }
        let descriptor = open(path, libc::O_WRONLY);
        if descriptor < 0 {
            return None;
        }
        let reserved = reserve(descriptor, end);
        close(descriptor);
        if !reserved {
            return None;
        }
        // All pages at once are cheaper than a fault for each; kernels before 5.14 cannot.
        // SAFETY: pages of the mapping that now exist in the file.
        unsafe {
            libc::madvise(
                base.add(backed as usize).cast(),
                (end - backed) as usize,
                libc::MADV_POPULATE_WRITE,
            );
        }
        Some(end)
    }
}

/// Takes `size_of::<B>()` bytes at the end of the recording, fills the block in and publishes it.
///
/// `grow` is called with the bytes that exist when those do not suffice, or soon will not, and
/// gives those that exist then. It lets one thread at a time do that work; `None` ends the attempt.
pub(crate) fn allocate<B: Block>(
    base: *mut u8,
    backed: &AtomicU64,
    grow: impl Fn(u64) -> Option<u64>,
    fill: impl FnOnce(*mut B),
) -> Option<UnitId> {
    let size = size_of::<B>() as u64;
    // SAFETY: the header of a live mapping.
    let used = unsafe { &(*base.cast::<FileHeader>()).used };
    // A gap reads as units that were never written.
    let mut before = used.load(Ordering::Relaxed);
    let start = loop {
        let start = before.next_multiple_of(align_of::<B>() as u64);
        let room = backed.load(Ordering::Acquire);
        if start + size > room {
            grow(room)?;
            before = used.load(Ordering::Relaxed);
            continue;
        }
        match used.compare_exchange_weak(before, start + size, Ordering::Relaxed, Ordering::Relaxed)
        {
            Ok(_) => break start,
            Err(now) => before = now,
        }
    };
    // SAFETY: `start..start + size` exists, belongs to this thread alone, and is aligned
    // as its type is.
    let block = unsafe { base.add(start as usize).cast::<B>() };
    fill(block);
    let header = block.cast::<BlockHeader>();
    // SAFETY: a block begins with its header, whose fields are atomics.
    let (kind, units): (&AtomicU32, &AtomicU32) = unsafe { (&(*header).kind, &(*header).units) };
    units.store((size / UNIT as u64) as u32, Ordering::Relaxed);
    kind.store(B::KIND, Ordering::Release);
    let room = backed.load(Ordering::Acquire);
    let threshold = room.saturating_sub(AHEAD);
    if start < threshold && start + size >= threshold {
        // If that fails, whoever needs the space finds out.
        grow(room);
    }
    Some((start / UNIT as u64) as UnitId)
}
