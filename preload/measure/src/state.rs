//! What the recorder keeps of a process, and how threads and forked children come to it.
//!
//! # Fork
//! A child must not write into its parent's recording. The state therefore lies in memory that
//! the kernel zeroes in a child (`MADV_WIPEONFORK`, Linux 4.14): its first lock finds no
//! recording and begins its own, whatever kind of fork it came from. The forking thread's own
//! variables survive, but name the parent's mapping, so they are seen to be outdated. A `vfork`
//! child shares its parent's memory, and rightly counts as part of it.

use core::ffi::CStr;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering};

use kilocore_lock_recording::{NO_NUMBER, PATH_BYTES, SHARDS, THREADS};

use crate::lack::Lack;
use crate::patience::Patience;
use crate::{confined, environment, file, lost};

/// Buckets of the table of locks.
pub(crate) const OBJECT_BUCKETS: usize = 1 << 14;

/// Buckets of the table of condition variables.
const CONDITION_BUCKETS: usize = 1 << 10;

/// Buckets of the table of barriers.
const BARRIER_BUCKETS: usize = 1 << 8;

/// Buckets of the table of call sites.
pub(crate) const SITE_BUCKETS: usize = 1 << 12;

/// Stages of [`State::stage`].
mod stage {
    /// Nobody has needed a recording yet.
    pub(super) const NEW: u32 = 0;
    /// Somebody is creating it.
    pub(super) const STARTING: u32 = 1;
    /// It is there.
    pub(super) const RECORDING: u32 = 2;
    /// There is none and will be none.
    pub(super) const OFF: u32 = 3;
}

/// State of a process. All zero at first.
#[repr(C)]
pub(crate) struct State {
    /// The mapped recording, null while there is none.
    pub(crate) base: AtomicPtr<u8>,
    stage: AtomicU32,
    /// Bytes of the recording's file that exist.
    pub(crate) backed: AtomicU64,
    /// Bytes of the mapping.
    capacity: AtomicU64,
    /// 1 once it could not grow: that is not tried again.
    stuck: AtomicU32,
    /// 1 while a thread lets the file grow.
    growing: AtomicU32,
    /// Excludes threads that change the tables; see [`Recorder::lock_tables`](crate::recorder::Recorder::lock_tables).
    pub(crate) tables: AtomicU32,
    /// Numbers of threads in use, as bits.
    numbers: [AtomicU64; THREADS / 64],
    /// Sites made for callers so far.
    pub(crate) caller_sites: AtomicU32,
    /// Cycles in 2^20 ns, 0 while unknown.
    pub(crate) rate: AtomicU64,
    /// 1 once somebody measures these two.
    pub(crate) calibrated: AtomicU32,
    /// What an empty hold is measured as, in cycles.
    pub(crate) hold_overhead: AtomicU64,
    /// What an empty think time is measured as, in cycles.
    pub(crate) think_overhead: AtomicU64,
    /// 1 once a lock could not be recorded.
    pub(crate) full: AtomicU32,
    /// Full stack walks so far.
    pub(crate) walks: AtomicU32,
    /// Times the memory map was read.
    pub(crate) map_reads: AtomicU32,
    /// The last of the chain of modules.
    pub(crate) modules: [AtomicU32; 512],
    /// What the threads of each slot do between locks.
    pub(crate) think: [AtomicU32; SHARDS],
    /// Heads of lists of locks, by address.
    pub(crate) objects: [AtomicU32; OBJECT_BUCKETS],
    /// Heads of lists of condition variables, by address.
    pub(crate) conditions: [AtomicU32; CONDITION_BUCKETS],
    /// Heads of lists of barriers, by address.
    pub(crate) barriers: [AtomicU32; BARRIER_BUCKETS],
    /// Heads of lists of sites, by hash of all their frames.
    pub(crate) sites: [AtomicU32; SITE_BUCKETS],
    /// The last site seen with these innermost frames.
    pub(crate) near_sites: [AtomicU32; SITE_BUCKETS],
    path: [AtomicU8; PATH_BYTES],
}

static STATE: AtomicPtr<State> = AtomicPtr::new(ptr::null_mut());

impl State {
    /// The state of this process, null if there is none yet.
    #[inline(always)]
    pub(crate) fn current() -> *const Self {
        STATE.load(Ordering::Acquire)
    }

    /// The state of this process, made if there is none; `None` without memory.
    pub(crate) fn get() -> Option<&'static Self> {
        let known = STATE.load(Ordering::Acquire);
        if !known.is_null() {
            // SAFETY: a mapping that is never unmapped.
            return Some(unsafe { &*known });
        }
        let size = size_of::<Self>();
        // SAFETY: a new private mapping at an address of the kernel's choice.
        let fresh = unsafe {
            libc::mmap(
                ptr::null_mut(),
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if fresh == libc::MAP_FAILED {
            lost::tell(Lack::Memory);
            environment::turn_off();
            return None;
        }
        // SAFETY: advice on the mapping just made.
        if unsafe { libc::madvise(fresh, size, libc::MADV_WIPEONFORK) } != 0 {
            // SAFETY: registers a handler that only writes a static.
            unsafe { libc::pthread_atfork(None, None, Some(forget)) };
        }
        let fresh = fresh.cast::<Self>();
        match STATE.compare_exchange(ptr::null_mut(), fresh, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: zero bytes are a valid state; the mapping is never unmapped.
            Ok(_) => Some(unsafe { &*fresh }),
            Err(theirs) => {
                // SAFETY: nobody else knows the mapping.
                unsafe { libc::munmap(fresh.cast(), size) };
                // SAFETY: a mapping that is never unmapped.
                Some(unsafe { &*theirs })
            }
        }
    }

    /// The recording of this process, begun if there is none; `None` while another thread is at
    /// that and if it cannot be.
    pub(crate) fn recording(&self) -> Option<*mut u8> {
        match self.stage.compare_exchange(
            stage::NEW,
            stage::STARTING,
            Ordering::Acquire,
            Ordering::Acquire,
        ) {
            Ok(_) => {}
            Err(stage::RECORDING) => return Some(self.base.load(Ordering::Acquire)),
            Err(_) => return None,
        }
        if confined::is_confined() {
            self.stage.store(stage::OFF, Ordering::Release);
            return None;
        }
        let path = environment::recording_path();
        let path_or_none = CStr::from_bytes_until_nul(&path).map_err(|_| Lack::Permission);
        let created = match path_or_none.and_then(file::File::create) {
            Ok(created) => created,
            Err(lack) => {
                lost::tell(lack);
                self.stage.store(stage::OFF, Ordering::Release);
                return None;
            }
        };
        for (to, from) in self.path.iter().zip(path) {
            to.store(from, Ordering::Relaxed);
        }
        self.backed.store(created.backed, Ordering::Relaxed);
        self.capacity.store(created.capacity, Ordering::Relaxed);
        self.base.store(created.base, Ordering::Release);
        self.stage.store(stage::RECORDING, Ordering::Release);
        Some(created.base)
    }

    /// Lets the recording grow beyond the `seen` bytes it had.
    pub(crate) fn grow(&self, seen: u64) -> Option<u64> {
        if self.stuck.load(Ordering::Relaxed) != 0 || confined::is_confined() {
            return None;
        }
        let mut patience = Patience::new();
        loop {
            let backed = self.backed.load(Ordering::Acquire);
            if backed > seen {
                return Some(backed);
            }
            if self.growing.swap(1, Ordering::Acquire) == 0 {
                break;
            }
            if !patience.wait() {
                return None;
            }
        }
        let mut path = [0; PATH_BYTES];
        for (to, from) in path.iter_mut().zip(&self.path) {
            *to = from.load(Ordering::Relaxed);
        }
        let backed = self.backed.load(Ordering::Acquire);
        let base = self.base.load(Ordering::Acquire);
        let capacity = self.capacity.load(Ordering::Relaxed);
        let grown = match CStr::from_bytes_until_nul(&path) {
            _ if backed > seen => Ok(backed),
            Ok(path) => file::File::grow(base, path, backed, capacity),
            Err(_) => Err(Lack::Permission),
        };
        match grown {
            Ok(grown) => self.backed.store(grown, Ordering::Release),
            Err(_) => self.stuck.store(1, Ordering::Relaxed),
        }
        self.growing.store(0, Ordering::Release);
        grown.map_err(lost::tell).ok()
    }

    /// Takes no more address space than is right for a process that is about to have `available`
    /// bytes of it.
    pub(crate) fn shrink(&self, available: u64) {
        if self.stage.load(Ordering::Acquire) != stage::RECORDING {
            return;
        }
        if self.growing.swap(1, Ordering::Acquire) != 0 {
            // It is about to need what it has.
            return;
        }
        let backed = self.backed.load(Ordering::Acquire);
        let capacity = self.capacity.load(Ordering::Relaxed);
        let base = self.base.load(Ordering::Acquire);
        self.capacity
            .store(file::File::shrink(base, backed, capacity, available), Ordering::Relaxed);
        self.growing.store(0, Ordering::Release);
    }

    /// The lowest number that no living thread has; `NO_NUMBER` if there is none left.
    pub(crate) fn take_number(&self) -> u32 {
        for (index, word) in self.numbers.iter().enumerate() {
            let mut used = word.load(Ordering::Relaxed);
            while used != u64::MAX {
                let bit = (!used).trailing_zeros();
                match word.compare_exchange_weak(
                    used,
                    used | 1 << bit,
                    Ordering::Acquire,
                    Ordering::Relaxed,
                ) {
                    Ok(_) => return index as u32 * 64 + bit,
                    Err(now) => used = now,
                }
            }
        }
        NO_NUMBER
    }

    /// Gives a number back.
    pub(crate) fn return_number(&self, number: u32) {
        if let Some(word) = self.numbers.get(number as usize / 64) {
            word.fetch_and(!(1 << (number % 64)), Ordering::Release);
        }
    }
}

/// In a child, where the kernel cannot wipe: leaves the parent's state alone.
extern "C" fn forget() {
    STATE.store(ptr::null_mut(), Ordering::SeqCst);
}
