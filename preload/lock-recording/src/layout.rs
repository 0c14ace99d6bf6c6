//! The blocks of a recording.

use core::sync::atomic::{AtomicU32, AtomicU64};

use crate::{BUCKETS, sparse};

/// First word of a recording. Read with the other byte order it is something else.
pub const MAGIC: u64 = u64::from_le_bytes(*b"kcrecord");

/// Version of this layout; it changes whenever the layout does.
pub const VERSION: u32 = 3;

/// Blocks start at multiples of this many bytes, a cache line.
pub const UNIT: usize = 64;

/// A recording never grows beyond this, so that a [`UnitId`] fits in 22 bits.
pub const MAX_FILE_BYTES: usize = UNIT << 22;

/// Room for the path of an executable or library, including a final zero byte.
pub const PATH_BYTES: usize = 1024;

/// Return addresses kept of a call site.
pub const MAX_FRAMES: usize = 16;

/// Shards that a lock has at most in each mode.
pub const SHARDS: usize = 32;

/// The thread slot that all threads share who did not get one of their own.
pub const SHARED_SLOT: usize = SHARDS - 1;

/// Threads alive at a time that are told apart by numbers of their own, below this.
pub const THREADS: usize = 4096;

/// The number of all threads who did not get one of their own.
pub const NO_NUMBER: u32 = THREADS as u32;

/// Outer locks that a shard can count.
pub const NESTED: usize = 4;

/// Numbers of waiters met that are told apart; the last stands for all above, too.
pub const MET: usize = 64;

/// Where a block begins: bytes from the start of the file divided by [`UNIT`]. 0 is none.
pub type UnitId = u32;

/// Kinds of blocks.
pub mod kind {
    /// Space that was never written.
    pub const NONE: u32 = 0;
    /// A [`LockBlock`](crate::LockBlock).
    pub const LOCK: u32 = 0x4b43_0001;
    /// A [`ShardBlock`](crate::ShardBlock).
    pub const SHARD: u32 = 0x4b43_0002;
    /// A [`ContentionBlock`](crate::ContentionBlock).
    pub const CONTENTION: u32 = 0x4b43_0003;
    /// A [`SiteBlock`](crate::SiteBlock).
    pub const SITE: u32 = 0x4b43_0004;
    /// A [`ThreadBlock`](crate::ThreadBlock).
    pub const THREAD: u32 = 0x4b43_0005;
    /// A [`ConditionBlock`](crate::ConditionBlock).
    pub const CONDITION: u32 = 0x4b43_0006;
    /// A [`ModuleBlock`](crate::ModuleBlock).
    pub const MODULE: u32 = 0x4b43_0007;
    /// A [`HistogramBlock`](crate::HistogramBlock).
    pub const HISTOGRAM: u32 = 0x4b43_0008;
    /// A [`CallerBlock`](crate::CallerBlock).
    pub const CALLER: u32 = 0x4b43_0009;
    /// A [`BarrierBlock`](crate::BarrierBlock).
    pub const BARRIER: u32 = 0x4b43_000a;
}

/// Families of locks, as numbers.
pub mod family {
    /// `pthread_mutex_t`
    pub const MUTEX: u32 = 1;
    /// `pthread_rwlock_t`
    pub const READ_WRITE: u32 = 2;
    /// `pthread_spinlock_t`
    pub const SPIN: u32 = 3;
}

/// Attributes of locks, as bits.
pub mod attribute {
    /// Its holder may take it again.
    pub const RECURSIVE: u32 = 1;
    /// Taking it again is an error.
    pub const ERROR_CHECK: u32 = 1 << 1;
    /// Spins before it sleeps.
    pub const ADAPTIVE: u32 = 1 << 2;
    /// Its next owner is told that the last one died.
    pub const ROBUST: u32 = 1 << 3;
    /// Lends its holder the priority of its waiters, or a ceiling.
    pub const PRIORITY: u32 = 1 << 4;
    /// May lie in memory that processes share.
    pub const PROCESS_SHARED: u32 = 1 << 5;
    /// Waiting writers go before readers.
    pub const PREFER_WRITER: u32 = 1 << 6;
}

/// Modes of holding a lock, as indices.
pub mod mode {
    /// Alone.
    pub const EXCLUSIVE: usize = 0;
    /// With other readers.
    pub const SHARED: usize = 1;
}

/// The first bytes of the file. Times in cycles are of the time-stamp counter.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct FileHeader {
    /// [`MAGIC`]; written last.
    pub magic: AtomicU64,
    /// [`VERSION`]
    pub version: AtomicU32,
    /// Process id.
    pub pid: AtomicU32,
    /// Bytes from the start of the file to the end of the last block.
    pub used: AtomicU64,
    /// The clock when the recording began, in cycles.
    pub first_cycles: AtomicU64,
    /// `CLOCK_MONOTONIC` at the same moment.
    pub first_ns: AtomicU64,
    /// The clock at some later moment, as late as possible, in cycles.
    pub last_cycles: AtomicU64,
    /// `CLOCK_MONOTONIC` at that moment.
    pub last_ns: AtomicU64,
    /// Processor time of the process until then, in nanoseconds.
    pub cpu_ns: AtomicU64,
    /// Threads created so far, the first one included.
    pub threads_started: AtomicU64,
    /// Threads that took a lock.
    pub threads_locking: AtomicU64,
    /// Threads alive.
    pub threads_alive: AtomicU64,
    /// The most threads alive at one time.
    pub threads_peak: AtomicU64,
    /// Locks for which there was no room.
    pub locks_not_recorded: AtomicU64,
    /// Unused.
    pub reserved: [AtomicU64; 3],
    /// Path of the executable, up to a zero byte.
    pub executable: [u8; PATH_BYTES],
}

/// The first word of a block.
#[derive(Debug)]
#[repr(C)]
pub struct BlockHeader {
    /// One of [`kind`]; written after [`units`](Self::units).
    pub kind: AtomicU32,
    /// Length of the block in units.
    pub units: AtomicU32,
}

/// A type of block.
///
/// # Safety
/// The type is `repr(C)`, begins with a [`BlockHeader`], is valid when all its bytes are zero and
/// consists of atomics, or of bytes that are written only before the header.
pub unsafe trait Block {
    /// Its kind.
    const KIND: u32;
}

/// Durations in cycles.
#[derive(Debug)]
#[repr(C)]
pub struct Histogram {
    /// Their sum.
    pub sum: AtomicU64,
    /// How many fall into each bucket.
    pub buckets: [AtomicU64; BUCKETS],
}

/// Durations of few different lengths in cycles, in a single cache line.
///
/// Most of the locks of a program that has thousands are taken so rarely, or for so uniform a
/// time, that their durations fall into a handful of buckets. A full [`Histogram`] for each of
/// them would cost more time in page faults and cache misses than all else that is recorded.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct SparseHistogram {
    /// Sum of the durations counted here.
    pub sum: AtomicU64,
    /// A bucket and its count each, see [`sparse`](crate::sparse); the ones in use come first.
    pub entries: [AtomicU32; sparse::ENTRIES],
    /// Where the durations are for which there is no room here: a [`HistogramBlock`], 0 before the
    /// first one.
    pub more: AtomicU32,
}

/// A lock. The first cache lines, up to the shards, are written when something is created only;
/// on a machine of few cores an exclusive acquisition reads no more than the first one.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct LockBlock {
    /// Kind and length.
    pub header: BlockHeader,
    /// Where the lock is; 0 if this block stands for many at once.
    pub address: AtomicU64,
    /// 1 if this block stands for many locks at once.
    pub many: AtomicU32,
    /// One of [`family`].
    pub family: AtomicU32,
    /// Shards by mode: [`ShardBlock`]s.
    pub shards: [[AtomicU32; SHARDS]; 2],
    /// Bits of [`attribute`].
    pub attributes: AtomicU32,
    /// Who created it: a [`SiteBlock`].
    pub site: AtomicU32,
    /// For the recorder: the next lock in a list.
    pub next: AtomicU32,
    /// For the recorder: the next unused block of the same site.
    pub next_free: AtomicU32,
    /// What waiting for it was like, by mode: a [`ContentionBlock`].
    pub contention: [AtomicU32; 2],
    /// How many locks were counted here.
    pub instances: AtomicU64,
    /// Threads waiting now.
    pub waiters: AtomicU32,
    /// Core of the last exclusive holder plus 1, where the lock itself has no room for that.
    pub last_core: AtomicU32,
    /// Tries and timed waits that failed, by mode.
    pub failed: [AtomicU64; 2],
    /// What timed holds had of the holder's sleep, and stand for, by mode, in cycles. The sum over
    /// all locks and intervals between them is an estimate of the sum of [`ThreadBlock::asleep`].
    pub asleep: [AtomicU64; 2],
    /// Where it is taken: the first [`CallerBlock`] of a list.
    pub callers: AtomicU32,
}

/// How often another lock was the innermost one held: the other's [`UnitId`] in the upper 24
/// bits, the count in the lower 40; 0 while unused.
pub type Nested = AtomicU64;

/// Part of what is known of a lock, found through [`LockBlock::shards`]: a cache line that every
/// acquisition writes, and one for those that are timed. Aligned to both, because processors fetch
/// the neighbour of a line, too, which should not be another core's.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct ShardBlock {
    /// Kind and length.
    pub header: BlockHeader,
    /// The number of the thread that takes most, for exclusive holds and in the slot that threads
    /// share: see [`majority`](crate::majority).
    pub taken_by: AtomicU64,
    /// Acquisitions on the core of the previous holder; for shared holds, all acquisitions.
    pub same_core: AtomicU64,
    /// Acquisitions on another core.
    pub other_core: AtomicU64,
    /// Locks that this one was taken inside of.
    pub nested: [Nested; NESTED],
    /// Holds, less taking and holding locks inside, and less time off the processor.
    pub holds: SparseHistogram,
}

/// A histogram that is kept apart, because only timed events need it.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct HistogramBlock {
    /// Kind and length.
    pub header: BlockHeader,
    /// The histogram.
    pub histogram: Histogram,
}

/// What waiting for a lock was like.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct ContentionBlock {
    /// Kind and length.
    pub header: BlockHeader,
    /// The [`LockBlock`].
    pub lock: AtomicU32,
    /// One of [`mode`].
    pub mode: AtomicU32,
    /// How many other waiters an acquisition met that had to wait.
    pub met: [AtomicU64; MET],
    /// Waits that ended with the lock.
    pub wait: Histogram,
}

/// A call site.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct SiteBlock {
    /// Kind and length.
    pub header: BlockHeader,
    /// Hash of the frames and of the family of the locks it creates.
    pub hash: AtomicU64,
    /// For the recorder: the next site in a list.
    pub next: AtomicU32,
    /// For the recorder: a block of a destroyed lock that may be used again.
    pub free: AtomicU32,
    /// For the recorder: locks of this site that have a block of their own.
    pub blocks: AtomicU32,
    /// For the recorder: the block for all further ones.
    pub many: AtomicU32,
    /// Return addresses, innermost first, 0 behind the last.
    pub frames: [AtomicU64; MAX_FRAMES],
}

/// What threads do between locks.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct ThreadBlock {
    /// Kind and length.
    pub header: BlockHeader,
    /// Sleep, in cycles: all that was not waiting for locks, conditions and barriers.
    pub asleep: AtomicU64,
    /// What timed intervals between locks had of it, and stand for. See [`LockBlock::asleep`].
    pub asleep_between: AtomicU64,
    /// Time on the processor from a release to the next acquisition, with no lock held.
    pub think: Histogram,
}

/// A condition variable.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct ConditionBlock {
    /// Kind and length.
    pub header: BlockHeader,
    /// Where it is.
    pub address: AtomicU64,
    /// Who first waited for or signalled it: a [`SiteBlock`].
    pub site: AtomicU32,
    /// For the recorder: the next in a list.
    pub next: AtomicU32,
    /// The [`LockBlock`] of the lock it was last waited on with.
    pub lock: AtomicU32,
    /// For the recorder: the next unused block.
    pub next_free: AtomicU32,
    /// Waits that ended by their time limit.
    pub timed_out: AtomicU64,
    /// Calls of `pthread_cond_signal`.
    pub signals: AtomicU64,
    /// Calls of `pthread_cond_broadcast`.
    pub broadcasts: AtomicU64,
    /// Waits, the timed-out ones included.
    pub wait: Histogram,
}

/// A place where a lock is taken. All counts are estimates by sampling.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct CallerBlock {
    /// Kind and length.
    pub header: BlockHeader,
    /// Who takes it: a [`SiteBlock`].
    pub site: AtomicU32,
    /// The next place where the same lock is taken: a [`CallerBlock`].
    pub next: AtomicU32,
    /// Acquisitions.
    pub acquisitions: AtomicU64,
    /// Acquisitions that had to wait.
    pub contended: AtomicU64,
    /// Their waits, in cycles.
    pub wait: AtomicU64,
}

/// A barrier.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct BarrierBlock {
    /// Kind and length.
    pub header: BlockHeader,
    /// Where it is; 0 if it was destroyed.
    pub address: AtomicU64,
    /// Who initialized it, or first waited: a [`SiteBlock`].
    pub site: AtomicU32,
    /// For the recorder: the next in a list.
    pub next: AtomicU32,
    /// For the recorder: the next unused block.
    pub next_free: AtomicU32,
    /// How many threads it waits for.
    pub parties: AtomicU32,
    /// How many times it let them go on.
    pub rounds: AtomicU64,
    /// Waits.
    pub wait: Histogram,
}

/// A stretch of executable memory and the file it was mapped from.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct ModuleBlock {
    /// Kind and length.
    pub header: BlockHeader,
    /// First address.
    pub start: AtomicU64,
    /// Address behind the last.
    pub end: AtomicU64,
    /// Offset of the first address in the file.
    pub offset: AtomicU64,
    /// Path of the file, up to a zero byte; may be empty.
    pub path: [u8; PATH_BYTES],
}

macro_rules! blocks {
    ($($type:ty => $kind:ident,)*) => {$(
        // SAFETY: repr(C), header first, atomics and byte arrays only; `path` is written before
        // the header is.
        unsafe impl Block for $type {
            const KIND: u32 = kind::$kind;
        }
        const _: () = assert!(size_of::<$type>().is_multiple_of(UNIT));
    )*};
}

blocks! {
    LockBlock => LOCK,
    ShardBlock => SHARD,
    ContentionBlock => CONTENTION,
    SiteBlock => SITE,
    ThreadBlock => THREAD,
    ConditionBlock => CONDITION,
    ModuleBlock => MODULE,
    HistogramBlock => HISTOGRAM,
    CallerBlock => CALLER,
    BarrierBlock => BARRIER,
}

const _: () = assert!(size_of::<SparseHistogram>() == UNIT);
const _: () = assert!(size_of::<ShardBlock>() == 2 * UNIT);
const _: () = assert!(size_of::<FileHeader>().is_multiple_of(UNIT));
