//! The recording: a file mapped into memory, and the allocation of blocks in it.

use core::ffi::CStr;
use core::ptr;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use kilocore_lock_recording::{
    Block, BlockHeader, FileHeader, MAGIC, MAX_FILE_BYTES, PATH_BYTES, UNIT, UnitId, VERSION,
};
use kilocore_preload_common::errno;

use crate::lack::Lack;
use crate::{clock, confined};

/// The number of bytes by which the file grows at a time. The space is reserved before it is
/// written, because writing to a mapped page for which the file system has no room kills the
/// process.
const GROWTH: u64 = 1 << 20;

/// The file grows when fewer bytes than this are left, so that other threads need not wait for it.
const AHEAD: u64 = GROWTH / 4;

/// The number of bytes with which the file begins. It is small because most processes have few
/// locks.
const FIRST: u64 = 1 << 18;

/// If the address space of a process is limited, its recording gets this fraction of it (1/16).
const ADDRESS_SHARE: u64 = 16;

/// A file that was opened for this process.
#[derive(Debug)]
pub(crate) struct File {
    /// The start of the mapping.
    pub(crate) base: *mut u8,
    /// The size of the file in bytes.
    pub(crate) backed: u64,
    /// The size of the mapping in bytes. The file cannot grow beyond it.
    pub(crate) capacity: u64,
}

/// Opens `path` without the C library's wrapper, which is a cancellation point.
fn open(path: &CStr, flags: libc::c_int) -> libc::c_int {
    if confined::is_confined() {
        return -1;
    }
    // SAFETY: the arguments are a C string and integers, which the kernel checks.
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

/// Closes a descriptor that this library has opened.
pub(crate) fn close(descriptor: libc::c_int) {
    // SAFETY: the descriptor was opened by this library and is not used afterwards.
    unsafe { libc::syscall(libc::SYS_close, descriptor) };
}

/// Opens `path` for reading, and returns the descriptor or a negative number.
pub(crate) fn open_to_read(path: &CStr) -> libc::c_int {
    open(path, libc::O_RDONLY)
}

/// Returns a limit of the process. If there is no limit, it is `u64::MAX`; if the limit cannot be
/// read, it is 0.
fn limit(resource: libc::__rlimit_resource_t) -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a local variable.
    let known = unsafe { libc::getrlimit(resource, &raw mut limit) } == 0;
    if known { limit.rlim_cur } else { 0 }
}

/// Writes a word to a file of its own, if there is room.
pub(crate) fn write_mark(path: &CStr, word: &[u8]) {
    let descriptor = open(path, libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC);
    if descriptor < 0 {
        return;
    }
    // Beyond the limit, the kernel would not only refuse but also send SIGXFSZ.
    if limit(libc::RLIMIT_FSIZE) >= word.len() as u64 {
        // SAFETY: the descriptor is open, and the word has that many bytes.
        unsafe { libc::syscall(libc::SYS_write, descriptor, word.as_ptr(), word.len()) };
    }
    close(descriptor);
}

/// Reserves the bytes of an open file up to `end`.
fn reserve(descriptor: libc::c_int, end: u64) -> Result<(), Lack> {
    // Beyond the limit, the kernel would not only refuse but also send SIGXFSZ.
    if limit(libc::RLIMIT_FSIZE) < end {
        return Err(Lack::Room);
    }
    for _ in 0..100 {
        // SAFETY: all arguments are integers.
        if unsafe { libc::syscall(libc::SYS_fallocate, descriptor, 0, 0, end) } == 0 {
            return Ok(());
        }
        match errno::current() {
            libc::EINTR => {}
            libc::EOPNOTSUPP => {
                // SAFETY: all arguments are integers.
                let failed = unsafe { libc::syscall(libc::SYS_ftruncate, descriptor, end) } != 0;
                return if failed { Err(Lack::from_errno()) } else { Ok(()) };
            }
            _ => return Err(Lack::from_errno()),
        }
    }
    Err(Lack::Room)
}

/// Returns the size of the mapping of a recording, in a process with `available` bytes of address
/// space.
fn share_of(available: u64) -> u64 {
    let share = available / ADDRESS_SHARE / GROWTH * GROWTH;
    share.clamp(GROWTH, MAX_FILE_BYTES as u64)
}

impl File {
    /// Creates the file and maps it.
    pub(crate) fn create(path: &CStr) -> Result<Self, Lack> {
        let descriptor = open(path, libc::O_RDWR | libc::O_CREAT | libc::O_EXCL);
        if descriptor < 0 {
            return Err(Lack::from_errno());
        }
        // SAFETY: the arguments are integers.
        unsafe {
            if libc::geteuid() == 0 {
                // A service that gives up its privileges later must still be able to let the file
                // grow.
                libc::syscall(libc::SYS_fchmod, descriptor, 0o622);
            }
        }
        let file = Self::map(descriptor);
        close(descriptor);
        if file.is_err() {
            // SAFETY: the arguments are a C string and integers.
            unsafe { libc::syscall(libc::SYS_unlinkat, libc::AT_FDCWD, path.as_ptr(), 0) };
        }
        file
    }

    /// Maps an empty file and writes its header.
    fn map(descriptor: libc::c_int) -> Result<Self, Lack> {
        reserve(descriptor, FIRST)?;
        let mut capacity = share_of(limit(libc::RLIMIT_AS));
        loop {
            // SAFETY: this makes a new mapping at an address that the kernel chooses. Pages beyond
            // the end of the file are not touched before the file has grown.
            let base = unsafe {
                libc::mmap(
                    ptr::null_mut(),
                    capacity as usize,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_SHARED | libc::MAP_NORESERVE,
                    descriptor,
                    0,
                )
            };
            if base != libc::MAP_FAILED {
                let file = Self { base: base.cast(), backed: FIRST, capacity };
                file.write_header();
                return Ok(file);
            }
            if capacity <= GROWTH {
                return Err(Lack::from_errno());
            }
            capacity = (capacity / 4).max(GROWTH);
        }
    }

    /// Unmaps a part of the mapping, because the process is about to have only `available` bytes of
    /// address space. The mapping has `capacity` bytes, and the file has `backed` bytes. Returns
    /// the new size of the mapping. No other thread may let the file grow meanwhile.
    pub(crate) fn shrink(base: *mut u8, backed: u64, capacity: u64, available: u64) -> u64 {
        let kept = share_of(available).max(backed.next_multiple_of(GROWTH));
        if kept >= capacity {
            return capacity;
        }
        // SAFETY: this is the end of the mapping. Nothing refers to it, because it lies beyond the
        // end of the file.
        unsafe { libc::munmap(base.add(kept as usize).cast(), (capacity - kept) as usize) };
        kept
    }

    fn write_header(&self) {
        // SAFETY: this is the first page of a mapping that only this thread knows. It is aligned to
        // a page.
        let header = unsafe { &mut *self.base.cast::<FileHeader>() };
        // SAFETY: the path is a C string, and the buffer is ours and has room for a final zero
        // byte.
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

    /// Lets the file grow, to at most `capacity` bytes, and returns its new size. The file is
    /// opened again each time, because the program may close all descriptors that it does not know.
    pub(crate) fn grow(
        base: *mut u8,
        path: &CStr,
        backed: u64,
        capacity: u64,
    ) -> Result<u64, Lack> {
        let end = (backed / GROWTH + 1) * GROWTH;
        if end > capacity {
            return Err(if capacity < MAX_FILE_BYTES as u64 { Lack::Memory } else { Lack::Room });
        }
        let descriptor = open(path, libc::O_WRONLY);
        if descriptor < 0 {
            return Err(Lack::from_errno());
        }
        let reserved = reserve(descriptor, end);
        close(descriptor);
        reserved?;
        // Populating all pages at once is cheaper than a fault for each. Kernels before 5.14 cannot
        // do it, and the call then fails. SAFETY: these pages of the mapping exist in the file now.
        unsafe {
            libc::madvise(
                base.add(backed as usize).cast(),
                (end - backed) as usize,
                libc::MADV_POPULATE_WRITE,
            );
        }
        Ok(end)
    }
}

/// Takes `size_of::<B>()` bytes at the end of the recording, fills in the block, and publishes it.
///
/// If the file is too small, or will soon be, `grow` is called with the present size of the file
/// and returns the new size. Only one thread at a time lets the file grow. If `grow` returns
/// `None`, this function gives up.
pub(crate) fn allocate<B: Block>(
    base: *mut u8,
    backed: &AtomicU64,
    grow: impl Fn(u64) -> Option<u64>,
    fill: impl FnOnce(*mut B),
) -> Option<UnitId> {
    let size = size_of::<B>() as u64;
    // SAFETY: the mapping is live and begins with the header.
    let used = unsafe { &(*base.cast::<FileHeader>()).used };
    // Alignment may leave a gap. It reads as units that were never written.
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
    // SAFETY: `start..start + size` exists in the file, belongs to this thread alone, and has the
    // alignment of its type.
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
        // If this fails, the thread that needs the space will notice.
        grow(room);
    }
    Some((start / UNIT as u64) as UnitId)
}
