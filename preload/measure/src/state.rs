//! The state that the recorder keeps for a process, and how threads and forked children find it.
//!
//! # Fork
//! A child must not write into its parent's recording. So the state lies in memory that the kernel
//! zeroes in a child (`MADV_WIPEONFORK`, Linux 4.14). The child's first lock finds no recording and
//! begins a new one, whatever kind of fork made the child. The forking thread's own variables
//! survive, but they contain the address of the parent's mapping, which shows that they are out of
//! date. A `vfork` child shares its parent's memory, and it is recorded as a part of its parent.

use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering};

use kilocore_lock_recording::{FileHeader, NO_NUMBER, SHARDS, THREADS};

use crate::descriptors::FileId;
use crate::environment::NAME_BYTES;
use crate::file::File;
use crate::folder::Folder;
use crate::lack::Lack;
use crate::patience::Patience;
use crate::{confined, environment, folder, lost};

/// The number of buckets of the table of locks.
pub(crate) const OBJECT_BUCKETS: usize = 1 << 14;

/// The number of buckets of the table of condition variables.
const CONDITION_BUCKETS: usize = 1 << 10;

/// The number of buckets of the table of barriers.
const BARRIER_BUCKETS: usize = 1 << 8;

/// The number of buckets of the table of call sites.
pub(crate) const SITE_BUCKETS: usize = 1 << 12;

/// The values of [`State::stage`].
mod stage {
    /// No thread has needed a recording yet.
    pub(super) const NEW: u32 = 0;
    /// A thread is creating the recording.
    pub(super) const STARTING: u32 = 1;
    /// There is a recording.
    pub(super) const RECORDING: u32 = 2;
    /// There is no recording and will be none.
    pub(super) const OFF: u32 = 3;
}

/// The state of a process. It is all zero at first.
#[repr(C)]
pub(crate) struct State {
    /// The mapped recording. It is null while there is none.
    pub(crate) base: AtomicPtr<u8>,
    stage: AtomicU32,
    /// The number of bytes of the recording that may be used.
    pub(crate) backed: AtomicU64,
    /// The number of bytes that were taken for blocks so far.
    pub(crate) used: AtomicU64,
    /// The size of the mapping in bytes.
    capacity: AtomicU64,
    /// The length of the file in bytes.
    length: AtomicU64,
    /// The device and the inode of the file, and those of its folder.
    identities: [[AtomicU64; 2]; 2],
    /// 1 after the file could not grow. This is not tried again.
    stuck: AtomicU32,
    /// 1 while a thread lets the file grow.
    growing: AtomicU32,
    /// 1 while a thread has locked the tables; see
    /// [`Recorder::lock_tables`](crate::recorder::Recorder::lock_tables).
    pub(crate) tables: AtomicU32,
    /// A bit for each thread number that is in use.
    numbers: [AtomicU64; THREADS / 64],
    /// The number of sites made so far for callers that take locks.
    pub(crate) caller_sites: AtomicU32,
    /// The cycles in 2^20 ns, or 0 while this is unknown.
    pub(crate) rate: AtomicU64,
    /// 1 after a thread has begun to measure the next two.
    pub(crate) calibrated: AtomicU32,
    /// The measured time of an empty hold, in cycles.
    pub(crate) hold_overhead: AtomicU64,
    /// The measured time of an empty think time, in cycles.
    pub(crate) think_overhead: AtomicU64,
    /// 1 after a lock could not be recorded.
    pub(crate) full: AtomicU32,
    /// The number of full stack walks so far.
    pub(crate) walks: AtomicU32,
    /// How often the memory map was read.
    pub(crate) map_reads: AtomicU32,
    /// The modules that were noted. The elements in use come first.
    pub(crate) modules: [AtomicU32; 512],
    /// The think times of the threads of each slot.
    pub(crate) think: [AtomicU32; SHARDS],
    /// The heads of the lists of locks, by address.
    pub(crate) objects: [AtomicU32; OBJECT_BUCKETS],
    /// The heads of the lists of condition variables, by address.
    pub(crate) conditions: [AtomicU32; CONDITION_BUCKETS],
    /// The heads of the lists of barriers, by address.
    pub(crate) barriers: [AtomicU32; BARRIER_BUCKETS],
    /// The heads of the lists of sites, by a hash of all their frames.
    pub(crate) sites: [AtomicU32; SITE_BUCKETS],
    /// The last site that was seen with given innermost frames, by a hash of these frames.
    pub(crate) near_sites: [AtomicU32; SITE_BUCKETS],
    /// The file's name in the folder. It is empty if another process has made the file.
    name: [AtomicU8; NAME_BYTES],
}

static STATE: AtomicPtr<State> = AtomicPtr::new(ptr::null_mut());

impl State {
    /// Returns the state of this process, or null if there is none yet.
    #[inline(always)]
    pub(crate) fn current() -> *const Self {
        STATE.load(Ordering::Acquire)
    }

    /// Returns the state of this process. Makes the state if there is none. Returns `None` if there
    /// is no memory.
    pub(crate) fn get() -> Option<&'static Self> {
        let known = STATE.load(Ordering::Acquire);
        if !known.is_null() {
            // SAFETY: the state's mapping is never unmapped.
            return Some(unsafe { &*known });
        }
        let size = size_of::<Self>();
        // SAFETY: this makes a new private mapping at an address that the kernel chooses.
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
        // SAFETY: this gives advice on the mapping that was just made.
        if unsafe { libc::madvise(fresh, size, libc::MADV_WIPEONFORK) } != 0 {
            // SAFETY: the registered handler only writes a static.
            unsafe { libc::pthread_atfork(None, None, Some(forget)) };
        }
        let fresh = fresh.cast::<Self>();
        match STATE.compare_exchange(ptr::null_mut(), fresh, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: zero bytes are a valid state, and the mapping is never unmapped.
            Ok(_) => Some(unsafe { &*fresh }),
            Err(theirs) => {
                // SAFETY: nobody else knows the mapping.
                unsafe { libc::munmap(fresh.cast(), size) };
                // SAFETY: the state's mapping is never unmapped.
                Some(unsafe { &*theirs })
            }
        }
    }

    /// Returns the recording of this process. Begins a recording if there is none. Returns `None`
    /// while another thread begins it, and if there can be none.
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
        let (created, folder, name) = match Self::create() {
            Ok(created) => created,
            Err(lack) => {
                lost::tell(lack);
                self.stage.store(stage::OFF, Ordering::Release);
                return None;
            }
        };
        for (to, from) in self.name.iter().zip(name) {
            to.store(from, Ordering::Relaxed);
        }
        for (to, from) in self.identities.iter().zip([created.id, folder]) {
            to[0].store(from.device, Ordering::Relaxed);
            to[1].store(from.inode, Ordering::Relaxed);
        }
        self.backed.store(created.backed, Ordering::Relaxed);
        self.used.store(size_of::<FileHeader>() as u64, Ordering::Relaxed);
        self.capacity.store(created.capacity, Ordering::Relaxed);
        self.length.store(created.length, Ordering::Relaxed);
        self.base.store(created.base, Ordering::Release);
        self.stage.store(stage::RECORDING, Ordering::Release);
        Some(created.base)
    }

    /// Makes the file. Also returns which folder it is in, and its name there.
    fn create() -> Result<(File, FileId, [u8; NAME_BYTES]), Lack> {
        let folder = Folder::open()?;
        let (file, name) = File::create(&folder)?;
        Ok((file, folder.id, name))
    }

    /// Returns the file as it is now. No other thread may let it grow meanwhile.
    fn file(&self) -> File {
        File {
            base: self.base.load(Ordering::Acquire),
            backed: self.backed.load(Ordering::Acquire),
            capacity: self.capacity.load(Ordering::Relaxed),
            length: self.length.load(Ordering::Relaxed),
            id: self.identity(0),
        }
    }

    fn identity(&self, index: usize) -> FileId {
        let [device, inode] = &self.identities[index];
        FileId { device: device.load(Ordering::Relaxed), inode: inode.load(Ordering::Relaxed) }
    }

    /// Lets the recording grow beyond `seen` bytes, the size that the caller has seen. Returns the
    /// new size, or `None` if it cannot grow.
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
        let file = self.file();
        let grown = if file.backed > seen {
            Ok(file.backed)
        } else if folder::is_still(self.identity(1)) {
            let mut name = [0; NAME_BYTES];
            for (to, from) in name.iter_mut().zip(&self.name) {
                *to = from.load(Ordering::Relaxed);
            }
            file.grow(&name)
        } else {
            Err(Lack::Permission)
        };
        match grown {
            Ok(grown) => self.backed.store(grown, Ordering::Release),
            Err(lack) => {
                self.stuck.store(1, Ordering::Relaxed);
                // SAFETY: a recording begins with its header and is never unmapped.
                let header = unsafe { &*file.base.cast::<FileHeader>() };
                header.lack.store(lack.number(), Ordering::Relaxed);
            }
        }
        self.growing.store(0, Ordering::Release);
        grown.ok()
    }

    /// Reduces the recording's mapping to what is appropriate for a process that is about to have
    /// `available` bytes of address space.
    pub(crate) fn shrink(&self, available: u64) {
        if self.stage.load(Ordering::Acquire) != stage::RECORDING {
            return;
        }
        if self.growing.swap(1, Ordering::Acquire) != 0 {
            // Another thread lets the file grow, and is about to need the address space.
            return;
        }
        self.capacity.store(self.file().shrink(available), Ordering::Relaxed);
        self.growing.store(0, Ordering::Release);
    }

    /// Takes the lowest number that no living thread has. Returns `NO_NUMBER` if there is none
    /// left.
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

    /// Makes a number free again.
    pub(crate) fn return_number(&self, number: u32) {
        if let Some(word) = self.numbers.get(number as usize / 64) {
            word.fetch_and(!(1 << (number % 64)), Ordering::Release);
        }
    }
}

/// Is called in a child if the kernel cannot wipe pages. From then on, the child does not use its
/// parent's state.
extern "C" fn forget() {
    STATE.store(ptr::null_mut(), Ordering::SeqCst);
}
