//! The recording: a file mapped into memory, and the allocation of blocks in it.
//!
//! # How it grows
//! A program may close all descriptors that it does not know, and a service may give up the rights
//! by which the file was made. So letting the file grow needs neither. The file has its full length
//! from the beginning, and most of it is a hole. The kernel fills in the next part when it is asked
//! to populate that part of the mapping, and says so if there is no room; merely writing there would
//! kill the process. Until then the part may not even be read, so nothing populates it unasked, such
//! as `mlockall`. Kernels before 5.14 cannot populate a mapping; there, the file is opened again, and
//! a service that has given up its rights does without more room.

use core::ffi::CStr;
use core::ptr;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use kilocore_lock_recording::{
    Block, BlockHeader, FileHeader, LARGEST_BLOCK, MAGIC, MAX_FILE_BYTES, PATH_BYTES, UNIT, UnitId,
    VERSION,
};
use kilocore_preload_common::errno;

use crate::clock;
use crate::descriptors::{FileId, close, open, status_of};
use crate::environment::NAME_BYTES;
use crate::folder::Folder;
use crate::lack::Lack;

/// The number of bytes by which the file grows at a time. The space is reserved before it is
/// written, because writing to a mapped page for which the file system has no room kills the
/// process.
const GROWTH: u64 = 1 << 20;

/// The file grows when fewer bytes than this are left, so that other threads need not wait for it.
const AHEAD: u64 = GROWTH / 4;

/// The number of bytes that exist at first. It is small because most processes have few locks.
const FIRST: u64 = 1 << 18;

/// If the address space of a process is limited, its recording gets this fraction of it (1/16).
const ADDRESS_SHARE: u64 = 16;

/// A file that was opened for this process.
#[derive(Debug)]
pub(crate) struct File {
    /// The start of the mapping.
    pub(crate) base: *mut u8,
    /// The number of bytes that may be used.
    pub(crate) backed: u64,
    /// The size of the mapping in bytes. The file cannot grow beyond it.
    pub(crate) capacity: u64,
    /// The length of the file in bytes.
    pub(crate) length: u64,
    /// What tells the file from others, whatever its path.
    pub(crate) id: FileId,
}

/// Opens `path` for reading, and returns the descriptor or a negative number.
pub(crate) fn open_to_read(path: &CStr) -> libc::c_int {
    open(libc::AT_FDCWD, path, libc::O_RDONLY)
}

/// Returns a limit of the process. If there is no limit, it is `u64::MAX`; if the limit cannot be
/// read, it is 0.
fn limit(resource: libc::__rlimit_resource_t) -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a local variable.
    let known = unsafe { libc::getrlimit(resource, &raw mut limit) } == 0;
    if known { limit.rlim_cur } else { 0 }
}

/// Writes a word to a new file of its own, if there is room, and closes it. A negative descriptor is
/// no file.
pub(crate) fn write_word(descriptor: libc::c_int, word: &[u8]) {
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

/// Changes the length of an open file.
fn set_length(descriptor: libc::c_int, length: u64) -> Result<(), Lack> {
    // SAFETY: all arguments are integers.
    let failed = unsafe { libc::syscall(libc::SYS_ftruncate, descriptor, length) } != 0;
    if failed { Err(Lack::from_errno()) } else { Ok(()) }
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
                let enough = status_of(descriptor)?.st_size as u64 >= end;
                return if enough { Ok(()) } else { set_length(descriptor, end) };
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
    /// Also returns the file's name in the folder, which is empty if the broker has made it.
    pub(crate) fn create(folder: &Folder) -> Result<(Self, [u8; NAME_BYTES]), Lack> {
        let (descriptor, name) = folder.recording()?;
        let file = Self::map(descriptor);
        if matches!(file, Err(Lack::Room)) {
            // By its length, a file tells what its process lacked.
            let _ = set_length(descriptor, 0);
        }
        close(descriptor);
        Ok((file?, name))
    }

    /// Maps an empty file and writes its header.
    fn map(descriptor: libc::c_int) -> Result<Self, Lack> {
        reserve(descriptor, FIRST)?;
        let id = FileId::of(&status_of(descriptor)?);
        let mut capacity = share_of(limit(libc::RLIMIT_AS));
        loop {
            // SAFETY: this makes a new mapping at an address that the kernel chooses. It cannot be
            // accessed yet.
            let base = unsafe {
                libc::mmap(
                    ptr::null_mut(),
                    capacity as usize,
                    libc::PROT_NONE,
                    libc::MAP_SHARED | libc::MAP_NORESERVE,
                    descriptor,
                    0,
                )
            };
            if base != libc::MAP_FAILED {
                let length = capacity.min(limit(libc::RLIMIT_FSIZE)).max(FIRST);
                let file = Self { base: base.cast(), backed: FIRST, capacity, length, id };
                return match set_length(descriptor, length).and_then(|()| file.open_up(0, FIRST)) {
                    Ok(()) => {
                        file.write_header();
                        Ok(file)
                    }
                    Err(lack) => {
                        // SAFETY: nobody else knows the mapping.
                        unsafe { libc::munmap(base, capacity as usize) };
                        Err(lack)
                    }
                };
            }
            if capacity <= GROWTH {
                return Err(Lack::from_errno());
            }
            capacity = (capacity / 4).max(GROWTH);
        }
    }

    /// Allows access to the bytes from `from` to `to` of the mapping, which exist in the file.
    fn open_up(&self, from: u64, to: u64) -> Result<(), Lack> {
        // SAFETY: these bytes belong to the mapping, and nothing refers to them yet.
        let failed = unsafe {
            libc::mprotect(
                self.base.add(from as usize).cast(),
                (to - from) as usize,
                libc::PROT_READ | libc::PROT_WRITE,
            )
        } != 0;
        if failed { Err(Lack::Memory) } else { Ok(()) }
    }

    /// Unmaps a part of the mapping, because the process is about to have only `available` bytes of
    /// address space. Returns the new size of the mapping. No other thread may let the file grow
    /// meanwhile.
    pub(crate) fn shrink(&self, available: u64) -> u64 {
        let kept = share_of(available).max(self.backed.next_multiple_of(GROWTH));
        if kept >= self.capacity {
            return self.capacity;
        }
        // SAFETY: this is the end of the mapping. Nothing refers to it, because it lies beyond what
        // may be used.
        unsafe {
            libc::munmap(self.base.add(kept as usize).cast(), (self.capacity - kept) as usize)
        };
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

    /// Lets more of the file be used, and returns how many bytes may be used then. `name` is the
    /// file's name in the folder, and is empty if this process has not made it.
    pub(crate) fn grow(&self, name: &[u8; NAME_BYTES]) -> Result<u64, Lack> {
        let end = (self.backed / GROWTH + 1) * GROWTH;
        if end > self.capacity {
            let limited = self.capacity < MAX_FILE_BYTES as u64;
            return Err(if limited { Lack::Memory } else { Lack::Room });
        }
        if end > self.length {
            return Err(Lack::Room);
        }
        self.open_up(self.backed, end)?;
        // Populating also costs less than a fault for each page. SAFETY: these bytes belong to the
        // mapping and to the file.
        let failed = unsafe {
            libc::madvise(
                self.base.add(self.backed as usize).cast(),
                (end - self.backed) as usize,
                libc::MADV_POPULATE_WRITE,
            )
        } != 0;
        if failed {
            match errno::current() {
                libc::EINVAL => self.reserve_anew(name, end)?,
                libc::ENOMEM => return Err(Lack::Memory),
                _ => return Err(Lack::Room),
            }
        }
        Ok(end)
    }

    /// Reserves the bytes of the file up to `end`, on a kernel that cannot populate a mapping.
    fn reserve_anew(&self, name: &[u8; NAME_BYTES], end: u64) -> Result<(), Lack> {
        let descriptor = Folder::open()?.open_again(name);
        if descriptor < 0 {
            return Err(Lack::Permission);
        }
        let is_it = status_of(descriptor).is_ok_and(|status| FileId::of(&status) == self.id);
        let reserved = if is_it { reserve(descriptor, end) } else { Err(Lack::Permission) };
        close(descriptor);
        reserved
    }
}

/// Takes `size_of::<B>()` bytes at the end of the recording, fills in the block, and publishes it.
///
/// `used` is how many bytes were taken so far. Readers are told in the header, but what the header
/// says is not believed here.
///
/// If the file is too small, or will soon be, `grow` is called with the present size of the file
/// and returns the new size. Only one thread at a time lets the file grow. If `grow` returns
/// `None`, this function gives up.
pub(crate) fn allocate<B: Block>(
    base: *mut u8,
    used: &AtomicU64,
    backed: &AtomicU64,
    grow: impl Fn(u64) -> Option<u64>,
    fill: impl FnOnce(*mut B),
) -> Option<UnitId> {
    let size = size_of::<B>() as u64;
    // Alignment may leave a gap. It reads as units that were never written.
    let mut before = used.load(Ordering::Relaxed);
    let start = loop {
        let start = before.next_multiple_of(align_of::<B>() as u64);
        let room = backed.load(Ordering::Acquire);
        if start + LARGEST_BLOCK as u64 > room {
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
    // SAFETY: the mapping is live and begins with the header.
    let told = unsafe { &(*base.cast::<FileHeader>()).used };
    told.fetch_max(start + size, Ordering::Relaxed);
    // SAFETY: `start..start + size` exists in the file, since no block is larger than that; it belongs to this thread alone, and has the
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
