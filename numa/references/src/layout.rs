//! The layout of the memory that a recorded program and its reader share.
//!
//! A [`FileHeader`] comes first, then a [`RingHeader`] for each ring, and then the rings' slots. A
//! thread of the program writes into one ring, and one reader empties all of them. Nothing in it grows:
//! a thread whose ring is full waits. Both sides use only atomics, so neither can break the other.

use core::mem::size_of;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The first word of the memory.
pub const MAGIC: u64 = u64::from_le_bytes(*b"kcrefers");
/// The version of this layout and of the records in it. It changes whenever they change.
pub const VERSION: u32 = 3;
/// There are at most so many rings.
pub const MOST_RINGS: u32 = 4096;
/// A ring has room for at least so many slots: for the longest record, several times over.
pub const FEWEST_SLOTS: u32 = 256;
/// A ring has room for at most so many slots.
pub const MOST_SLOTS: u32 = 1 << 24;

/// A half of a record, or less: two words.
pub type Slot = [AtomicU64; 2];

/// What a ring is used for.
pub mod state {
    /// Nobody uses it. A thread of the program may take it.
    pub const FREE: u32 = 0;
    /// A thread is about to begin with it.
    pub const TAKEN: u32 = 1;
    /// A thread writes into it.
    pub const LIVE: u32 = 2;
    /// Its thread has ended. When the ring is empty, the reader frees it.
    pub const ENDED: u32 = 3;
}

/// The header of the shared memory, which comes before the rings.
#[derive(Debug)]
#[repr(C, align(256))]
pub struct FileHeader {
    /// [`MAGIC`]. The reader writes it, with everything up to `reader`.
    pub magic: AtomicU64,
    /// [`VERSION`]. Whoever opens the memory refuses any other.
    pub version: AtomicU32,
    /// How many rings there are.
    pub rings: AtomicU32,
    /// How many slots each has: a power of two.
    pub slots: AtomicU32,
    /// The instructions after which a quantum ends.
    pub quantum: AtomicU32,
    /// The process id of the reader. If that process is gone, nobody waits for room any more.
    pub reader: AtomicU32,
    /// Not 0 when the reader reads no more.
    pub closed: AtomicU32,
    /// The process id of the program, as soon as it records.
    pub program: AtomicU32,
    /// The number of the next thread.
    pub threads: AtomicU32,
    /// Threads for which there was no ring.
    pub threads_unrecorded: AtomicU64,
    /// No ring from this one on was ever used.
    pub rings_used: AtomicU32,
    /// Not 0 while the reader sleeps.
    pub reader_sleeps: AtomicU32,
    /// A word that the reader sleeps on. It changes whenever somebody wakes the reader.
    pub doorbell: AtomicU32,
    /// Not 0 when the program has said all: it exits.
    pub finished: AtomicU32,
    /// How many changes of the address space there were. Each quantum begins with such a number, its
    /// *epoch*, and so a reader can tell whether the program saw a change before it used a page.
    pub epoch: AtomicU64,
}

/// What a thread and the reader say to each other about a ring. Each writes lines of its own.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct RingHeader {
    /// How many slots the thread has filled so far.
    pub head: AtomicU64,
    /// The epoch of the quantum that the thread is in.
    pub epoch: AtomicU64,
    /// How often the thread has entered or left the system. While the number is odd, it is in there.
    pub crossings: AtomicU32,
    /// Who has the ring: one of [`state`].
    pub state: AtomicU32,
    /// The number of the thread that writes into the ring.
    pub thread: AtomicU32,
    /// Not 0 while the thread waits for room.
    pub writer_waits: AtomicU32,
    second: Second,
}

/// The reader's lines of a ring.
#[derive(Debug)]
#[repr(C, align(128))]
struct Second {
    tail: AtomicU64,
    room: AtomicU32,
}

impl RingHeader {
    /// How many slots the reader has emptied so far.
    #[must_use]
    pub fn tail(&self) -> &AtomicU64 {
        &self.second.tail
    }

    /// A word that the thread sleeps on while the ring is full. It changes when there is room.
    #[must_use]
    pub fn room(&self) -> &AtomicU32 {
        &self.second.room
    }
}

/// Why memory is none that a program and a reader share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// It is something else.
    #[error("this is no memory for references")]
    NoReferences,
    /// The other side has another version.
    #[error("the references have version {0}, and {VERSION} is needed; build all of it anew")]
    OtherVersion(u32),
    /// It is smaller than it says, or has impossible sizes.
    #[error("the memory for references has impossible sizes")]
    Sizes,
}

/// How much of everything there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// How many rings: from 1 to [`MOST_RINGS`].
    pub rings: u32,
    /// How many slots in each: a power of two from [`FEWEST_SLOTS`] to [`MOST_SLOTS`].
    pub slots: u32,
}

impl Sizes {
    fn possible(self) -> bool {
        (1..=MOST_RINGS).contains(&self.rings)
            && (FEWEST_SLOTS..=MOST_SLOTS).contains(&self.slots)
            && self.slots.is_power_of_two()
    }

    /// The bytes of the memory.
    #[must_use]
    pub const fn bytes(self) -> usize {
        self.slots_at() + self.rings as usize * self.slots as usize * size_of::<Slot>()
    }

    const fn slots_at(self) -> usize {
        size_of::<FileHeader>() + self.rings as usize * size_of::<RingHeader>()
    }
}

/// The memory that both sides share.
#[derive(Debug, Clone, Copy)]
pub struct Shared<'a> {
    header: &'a FileHeader,
    rings: &'a [RingHeader],
    slots: &'a [Slot],
    each: usize,
}

impl<'a> Shared<'a> {
    /// Writes the header into new memory.
    ///
    /// # Errors
    /// If there cannot be such sizes, or the memory is too small for them.
    ///
    /// # Safety
    /// The memory is readable and writable for `'a`, begins at a multiple of 256, has `bytes` bytes that
    /// are all zero, and is used by nobody else than through this type.
    pub unsafe fn create(
        base: *mut u8,
        bytes: usize,
        sizes: Sizes,
        quantum: u32,
        reader: u32,
    ) -> Result<Self, LayoutError> {
        if !sizes.possible() || bytes < sizes.bytes() {
            return Err(LayoutError::Sizes);
        }
        // SAFETY: the caller promises the memory, and there is enough for a header.
        let header: &'a FileHeader = unsafe { &*base.cast() };
        header.version.store(VERSION, Ordering::Relaxed);
        header.rings.store(sizes.rings, Ordering::Relaxed);
        header.slots.store(sizes.slots, Ordering::Relaxed);
        header.quantum.store(quantum, Ordering::Relaxed);
        header.reader.store(reader, Ordering::Relaxed);
        header.magic.store(MAGIC, Ordering::Release);
        // SAFETY: the same memory.
        unsafe { Self::open(base, bytes) }
    }

    /// Finds everything in memory that somebody else has created.
    ///
    /// # Errors
    /// If it is none.
    ///
    /// # Safety
    /// The memory is readable and writable for `'a`, begins at a multiple of 256, has `bytes` bytes, and
    /// is used by nobody else than through this type.
    pub unsafe fn open(base: *mut u8, bytes: usize) -> Result<Self, LayoutError> {
        if bytes < size_of::<FileHeader>() {
            return Err(LayoutError::NoReferences);
        }
        // SAFETY: the caller promises the memory, and there is enough for a header. All of it are
        // atomics, for which any bytes are valid.
        let header: &'a FileHeader = unsafe { &*base.cast() };
        if header.magic.load(Ordering::Acquire) != MAGIC {
            return Err(LayoutError::NoReferences);
        }
        match header.version.load(Ordering::Relaxed) {
            VERSION => {}
            other => return Err(LayoutError::OtherVersion(other)),
        }
        let sizes = Sizes {
            rings: header.rings.load(Ordering::Relaxed),
            slots: header.slots.load(Ordering::Relaxed),
        };
        if !sizes.possible() || bytes < sizes.bytes() {
            return Err(LayoutError::Sizes);
        }
        let (count, each) = (sizes.rings as usize, sizes.slots as usize);
        // SAFETY: there is enough, as was just compared, and both have sizes that keep them aligned.
        let (rings, slots) = unsafe {
            let rings =
                core::slice::from_raw_parts(base.add(size_of::<FileHeader>()).cast(), count);
            let slots =
                core::slice::from_raw_parts(base.add(sizes.slots_at()).cast(), count * each);
            (rings, slots)
        };
        Ok(Self { header, rings, slots, each })
    }

    /// The header of the shared memory.
    #[must_use]
    pub fn header(&self) -> &'a FileHeader {
        self.header
    }

    /// The headers of all rings, in their order.
    #[must_use]
    pub fn rings(&self) -> &'a [RingHeader] {
        self.rings
    }

    /// A ring with its slots.
    ///
    /// # Panics
    /// If there are fewer rings.
    #[must_use]
    pub fn ring(&self, index: usize) -> (&'a RingHeader, &'a [Slot]) {
        (&self.rings[index], &self.slots[index * self.each..][..self.each])
    }
}
