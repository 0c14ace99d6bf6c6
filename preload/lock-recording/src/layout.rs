//! The header and the blocks of a recording.

use core::sync::atomic::{AtomicU32, AtomicU64};

use crate::{BUCKETS, sparse};

/// The first word of a recording. It also shows the byte order, because it differs if it is read in
/// the other one.
pub const MAGIC: u64 = u64::from_le_bytes(*b"kcrecord");

/// The version of this layout. It changes whenever the layout changes.
pub const VERSION: u32 = 4;

/// Blocks start at multiples of this number of bytes, which is the size of a cache line.
pub const UNIT: usize = 64;

/// The largest size of a recording. It makes a [`UnitId`] fit in 22 bits.
pub const MAX_FILE_BYTES: usize = UNIT << 22;

/// No block is larger than this number of bytes. The recorder begins a block only where one of this
/// size would have room, so that one comparison tells whether a block is inside.
pub const LARGEST_BLOCK: usize = 2048;

/// The room for the path of an executable or library, including a final zero byte.
pub const PATH_BYTES: usize = 1024;

/// The number of return addresses that are kept of a call site.
pub const MAX_FRAMES: usize = 16;

/// The largest number of shards that a lock has in each mode.
pub const SHARDS: usize = 32;

/// The thread slot that is shared by all threads without a slot of their own.
pub const SHARED_SLOT: usize = SHARDS - 1;

/// The number of threads alive at one time that have numbers of their own. These numbers are below
/// it.
pub const THREADS: usize = 4096;

/// The number that is shared by all threads without a number of their own.
pub const NO_NUMBER: u32 = THREADS as u32;

/// The number of outer locks that a shard can count apart.
pub const NESTED: usize = 4;

/// The number of counters in [`ContentionBlock::met`]. The last one also counts all larger numbers
/// of waiters.
pub const MET: usize = 64;

/// The position of a block: its distance from the start of the file in bytes, divided by [`UNIT`].
/// 0 means that there is no block.
pub type UnitId = u32;

/// The kinds of blocks, as the header of each block names them.
pub mod kind {
    /// The space was never written.
    pub const NONE: u32 = 0;
    /// The block is a [`LockBlock`](crate::LockBlock).
    pub const LOCK: u32 = 0x4b43_0001;
    /// The block is a [`ShardBlock`](crate::ShardBlock).
    pub const SHARD: u32 = 0x4b43_0002;
    /// The block is a [`ContentionBlock`](crate::ContentionBlock).
    pub const CONTENTION: u32 = 0x4b43_0003;
    /// The block is a [`SiteBlock`](crate::SiteBlock).
    pub const SITE: u32 = 0x4b43_0004;
    /// The block is a [`ThreadBlock`](crate::ThreadBlock).
    pub const THREAD: u32 = 0x4b43_0005;
    /// The block is a [`ConditionBlock`](crate::ConditionBlock).
    pub const CONDITION: u32 = 0x4b43_0006;
    /// The block is a [`ModuleBlock`](crate::ModuleBlock).
    pub const MODULE: u32 = 0x4b43_0007;
    /// The block is a [`HistogramBlock`](crate::HistogramBlock).
    pub const HISTOGRAM: u32 = 0x4b43_0008;
    /// The block is a [`CallerBlock`](crate::CallerBlock).
    pub const CALLER: u32 = 0x4b43_0009;
    /// The block is a [`BarrierBlock`](crate::BarrierBlock).
    pub const BARRIER: u32 = 0x4b43_000a;
}

/// Families of locks, as numbers.
pub mod family {
    /// Mutexes of POSIX, `pthread_mutex_t`.
    pub const MUTEX: u32 = 1;
    /// Read-write locks of POSIX, `pthread_rwlock_t`.
    pub const READ_WRITE: u32 = 2;
    /// Spin locks of POSIX, `pthread_spinlock_t`.
    pub const SPIN: u32 = 3;
}

/// Attributes of locks, as bits.
pub mod attribute {
    /// The holder may take the lock again.
    pub const RECURSIVE: u32 = 1;
    /// If the holder takes the lock again, that is an error.
    pub const ERROR_CHECK: u32 = 1 << 1;
    /// A waiter spins before it sleeps.
    pub const ADAPTIVE: u32 = 1 << 2;
    /// The next owner is told that the last one died.
    pub const ROBUST: u32 = 1 << 3;
    /// The holder runs at the priority of its waiters, or at a priority ceiling.
    pub const PRIORITY: u32 = 1 << 4;
    /// The lock may be in memory that processes share.
    pub const PROCESS_SHARED: u32 = 1 << 5;
    /// Waiting writers go before readers.
    pub const PREFER_WRITER: u32 = 1 << 6;
}

/// What a process lacks to record more, as numbers.
pub mod lack {
    /// The process lacks nothing.
    pub const NOTHING: u64 = 0;
    /// The file system is full, or the limit of a file's size or of the number of files is reached.
    pub const ROOM: u64 = 1;
    /// The file or its folder may not be written, or does not exist.
    pub const PERMISSION: u64 = 2;
    /// There is no memory, or no more address space.
    pub const MEMORY: u64 = 3;
}

/// Modes of holding a lock, as indices.
pub mod mode {
    /// Held by one thread alone.
    pub const EXCLUSIVE: usize = 0;
    /// Held together with other readers.
    pub const SHARED: usize = 1;
}

/// The first bytes of the file. Times in cycles are readings of the time-stamp counter.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct FileHeader {
    /// [`MAGIC`]. It is written last.
    pub magic: AtomicU64,
    /// [`VERSION`]. A reader refuses any other.
    pub version: AtomicU32,
    /// The number of the process that writes the file.
    pub pid: AtomicU32,
    /// The number of bytes from the start of the file to the end of the last block.
    pub used: AtomicU64,
    /// The clock when the recording began, in cycles.
    pub first_cycles: AtomicU64,
    /// `CLOCK_MONOTONIC` at the same moment, in nanoseconds.
    pub first_ns: AtomicU64,
    /// The clock at a later moment, which is as late as possible, in cycles.
    pub last_cycles: AtomicU64,
    /// `CLOCK_MONOTONIC` at that later moment, in nanoseconds.
    pub last_ns: AtomicU64,
    /// The processor time of the process until that later moment, in nanoseconds.
    pub cpu_ns: AtomicU64,
    /// The number of threads created so far, including the first one.
    pub threads_started: AtomicU64,
    /// The number of threads that took a lock.
    pub threads_locking: AtomicU64,
    /// The number of threads that are alive.
    pub threads_alive: AtomicU64,
    /// The largest number of threads that were alive at one time.
    pub threads_peak: AtomicU64,
    /// The number of locks for which there was no room.
    pub locks_not_recorded: AtomicU64,
    /// One of [`lack`], if the recording could not grow.
    pub lack: AtomicU64,
    /// Room for later versions; 0.
    pub reserved: [AtomicU64; 2],
    /// The path of the executable, up to a zero byte.
    pub executable: [u8; PATH_BYTES],
}

/// The first word of a block.
#[derive(Debug)]
#[repr(C)]
pub struct BlockHeader {
    /// One of [`kind`]. It is written after [`units`](Self::units).
    pub kind: AtomicU32,
    /// The length of the block in units.
    pub units: AtomicU32,
}

/// A type of block.
///
/// # Safety
/// The type is `repr(C)`, begins with a [`BlockHeader`], and is valid when all its bytes are zero.
/// It consists of atomics, and of bytes that are written only before the header.
pub unsafe trait Block {
    /// The kind of such blocks, one of [`kind`].
    const KIND: u32;
}

/// A histogram of durations in cycles.
#[derive(Debug)]
#[repr(C)]
pub struct Histogram {
    /// The sum of the durations.
    pub sum: AtomicU64,
    /// The number of durations in each bucket; see [`bucket_of`](crate::bucket_of).
    pub buckets: [AtomicU64; BUCKETS],
}

/// A histogram of durations in cycles that uses few buckets. It takes a single cache line.
///
/// If a program has thousands of locks, most of them are taken so rarely, or are held for so
/// uniform a time, that their durations are in a handful of buckets. A full [`Histogram`] for each
/// of them would cost more time, in page faults and cache misses, than everything else that is
/// recorded.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct SparseHistogram {
    /// The sum of the durations that are counted here.
    pub sum: AtomicU64,
    /// Each entry contains a bucket and its count; see [`sparse`](crate::sparse). The entries in
    /// use come first.
    pub entries: [AtomicU32; sparse::ENTRIES],
    /// The [`HistogramBlock`] of the durations for which there is no room here. It is 0 while there
    /// are none.
    pub more: AtomicU32,
}

/// A lock. The first cache lines, up to the shards, are written only when something is created. On
/// a machine with few cores, an exclusive acquisition reads only the first cache line.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct LockBlock {
    /// The kind and the length of the block.
    pub header: BlockHeader,
    /// The address of the lock. It is 0 if this block stands for many locks.
    pub address: AtomicU64,
    /// 1 if this block stands for many locks, otherwise 0.
    pub many: AtomicU32,
    /// The family of the lock: one of [`family`].
    pub family: AtomicU32,
    /// The [`ShardBlock`]s of each mode.
    pub shards: [[AtomicU32; SHARDS]; 2],
    /// The attributes of the lock, as bits of [`attribute`].
    pub attributes: AtomicU32,
    /// The [`SiteBlock`] of the place where the lock was created.
    pub site: AtomicU32,
    /// For the recorder: the next lock in a list.
    pub next: AtomicU32,
    /// For the recorder: the next unused block of the same site.
    pub next_free: AtomicU32,
    /// The [`ContentionBlock`] of each mode.
    pub contention: [AtomicU32; 2],
    /// The number of locks that were counted here.
    pub instances: AtomicU64,
    /// The number of threads that wait now.
    pub waiters: AtomicU32,
    /// The core of the last exclusive holder plus 1, if the lock itself has no room for it.
    pub last_core: AtomicU32,
    /// The number of tries and timed waits that failed, by mode.
    pub failed: [AtomicU64; 2],
    /// How long holders slept during timed holds, multiplied by the number of holds that each timed
    /// hold stands for, by mode, in cycles. The sum over all locks, and over all intervals between
    /// locks ([`ThreadBlock::asleep_between`]), estimates the sum of [`ThreadBlock::asleep`].
    pub asleep: [AtomicU64; 2],
    /// The places where the lock is taken: the first [`CallerBlock`] of a list.
    pub callers: AtomicU32,
}

/// How often this lock was taken while another lock was the innermost one held. The upper 24 bits
/// are the [`UnitId`] of the other lock, and the lower 40 bits are the count. The word is 0 while
/// it is not in use.
///
/// If there are more outer locks than words, the rarest one's count passes to another lock. So the counts
/// are upper bounds, and add up to all the times that the lock was taken inside others.
pub type Nested = AtomicU64;

/// A shard of the counters of a lock; see [`LockBlock::shards`]. Every acquisition writes the first
/// cache line, and a timed one also writes the second. The block is aligned to both lines, because
/// processors also fetch the neighbour of a line, and that should not belong to another core.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct ShardBlock {
    /// The kind and the length of the block.
    pub header: BlockHeader,
    /// The thread that takes the lock most often, as a word of [`majority`](crate::majority). It is
    /// kept for exclusive holds, and in the slot that threads share.
    pub taken_by: AtomicU64,
    /// Acquisitions on the core of the previous holder. For shared holds, these are all
    /// acquisitions.
    pub same_core: AtomicU64,
    /// Acquisitions on another core.
    pub other_core: AtomicU64,
    /// The locks inside of which this one was taken.
    pub nested: [Nested; NESTED],
    /// How long the lock was held. This excludes the time to take and hold other locks inside, and
    /// time off the processor.
    pub holds: SparseHistogram,
}

/// A histogram in a block of its own, because only timed events need it.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct HistogramBlock {
    /// The kind and the length of the block.
    pub header: BlockHeader,
    /// How long what is counted took, in clock cycles.
    pub histogram: Histogram,
}

/// How long threads waited for a lock in one mode, and how many waiters they met.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct ContentionBlock {
    /// The kind and the length of the block.
    pub header: BlockHeader,
    /// The [`LockBlock`] of the lock that was waited for.
    pub lock: AtomicU32,
    /// The mode in which it was waited for: one of [`mode`].
    pub mode: AtomicU32,
    /// The element with index `n` is the number of acquisitions that had to wait and found `n`
    /// other waiters.
    pub met: [AtomicU64; MET],
    /// The waits that ended with the lock.
    pub wait: Histogram,
}

/// A place in a program where a lock is taken, and what happened there.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct SiteBlock {
    /// The kind and the length of the block.
    pub header: BlockHeader,
    /// A hash of the frames and of the family of the locks that are created here.
    pub hash: AtomicU64,
    /// For the recorder: the next site in a list.
    pub next: AtomicU32,
    /// For the recorder: a block of a destroyed lock that may be used again.
    pub free: AtomicU32,
    /// For the recorder: the number of locks of this site that have a block of their own.
    pub blocks: AtomicU32,
    /// For the recorder: the block for all further locks of this site.
    pub many: AtomicU32,
    /// The return addresses, innermost first. The addresses behind the last one are 0.
    pub frames: [AtomicU64; MAX_FRAMES],
}

/// What threads do between locks.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct ThreadBlock {
    /// The kind and the length of the block.
    pub header: BlockHeader,
    /// How long threads slept, in cycles, without waiting for locks, conditions or barriers.
    pub asleep: AtomicU64,
    /// How long threads slept during timed intervals between locks, multiplied by the number of
    /// intervals that each timed one stands for. See [`LockBlock::asleep`].
    pub asleep_between: AtomicU64,
    /// The time on the processor from a release to the next acquisition, while no lock is held.
    pub think: Histogram,
}

/// What waits on a condition variable took.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct ConditionBlock {
    /// The kind and the length of the block.
    pub header: BlockHeader,
    /// The address of the condition variable.
    pub address: AtomicU64,
    /// The [`SiteBlock`] of the place that first waited for it or signalled it.
    pub site: AtomicU32,
    /// For the recorder: the next condition variable in a list.
    pub next: AtomicU32,
    /// The [`LockBlock`] of the lock with which a thread last waited for it.
    pub lock: AtomicU32,
    /// For the recorder: the next unused block.
    pub next_free: AtomicU32,
    /// The number of waits that timed out.
    pub timed_out: AtomicU64,
    /// The number of calls of `pthread_cond_signal`.
    pub signals: AtomicU64,
    /// The number of calls of `pthread_cond_broadcast`.
    pub broadcasts: AtomicU64,
    /// The waits, including those that timed out.
    pub wait: Histogram,
}

/// A place where a lock is taken. All counts are estimated from samples.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct CallerBlock {
    /// The kind and the length of the block.
    pub header: BlockHeader,
    /// The [`SiteBlock`] of the place.
    pub site: AtomicU32,
    /// The [`CallerBlock`] of the next place where the same lock is taken.
    pub next: AtomicU32,
    /// The number of acquisitions.
    pub acquisitions: AtomicU64,
    /// The number of acquisitions that had to wait.
    pub contended: AtomicU64,
    /// The sum of their waits, in cycles.
    pub wait: AtomicU64,
}

/// What rounds of a barrier took.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct BarrierBlock {
    /// The kind and the length of the block.
    pub header: BlockHeader,
    /// The address of the barrier. It is 0 if the barrier was destroyed.
    pub address: AtomicU64,
    /// The [`SiteBlock`] of the place that initialized the barrier, or that first waited at it.
    pub site: AtomicU32,
    /// For the recorder: the next barrier in a list.
    pub next: AtomicU32,
    /// For the recorder: the next unused block.
    pub next_free: AtomicU32,
    /// The number of threads that the barrier waits for.
    pub parties: AtomicU32,
    /// How many times the barrier let the threads go on.
    pub rounds: AtomicU64,
    /// The waits at the barrier.
    pub wait: Histogram,
}

/// A range of executable memory and the file from which it was mapped.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct ModuleBlock {
    /// The kind and the length of the block.
    pub header: BlockHeader,
    /// The first address that belongs to it.
    pub start: AtomicU64,
    /// The address behind the last one.
    pub end: AtomicU64,
    /// The offset of the first address in the file.
    pub offset: AtomicU64,
    /// The path of the file, up to a zero byte. It may be empty.
    pub path: [u8; PATH_BYTES],
}

macro_rules! blocks {
    ($($type:ty => $kind:ident,)*) => {$(
        // SAFETY: the type is repr(C), begins with the header, and contains only atomics and byte
        // arrays. `path` is written before the header.
        unsafe impl Block for $type {
            const KIND: u32 = kind::$kind;
        }
        const _: () = assert!(size_of::<$type>().is_multiple_of(UNIT));
        const _: () = assert!(size_of::<$type>() <= LARGEST_BLOCK);
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
