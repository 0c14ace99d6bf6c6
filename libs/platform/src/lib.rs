//! One trait, [`Platform`], with everything in a machine that an algorithm may use.
//!
//! # One source, every machine
//! Every lock, log and list of Kilocore is written once, generic over [`Platform`]. The same
//! source then runs natively ([`Native`]), under the model checkers loom and shuttle (features
//! `loom` and `shuttle`), and on a simulated machine (crate `kilocore-sim`). The trait itself costs
//! nothing natively: the atomics of `Native` are those of `core`, the frequent methods are inlined,
//! and parking, waking and yielding take one system call each.
//!
//! # What is in it
//! * [`Atomic`] and [`AtomicInt`]: atomic words, with the orderings of [`core::sync::atomic`].
//! * [`SharedCell`]: plain data that a lock protects. Natively it is just an `UnsafeCell`. A
//!   checker looks for races on it, and the simulator charges for the cache lines that it covers.
//! * [`Platform::wait_until`]: waiting by watching a word. An algorithm calls this instead of
//!   looping itself. The simulator can therefore put a waiter to sleep until the line changes, and
//!   need not simulate each turn of a spin loop.
//! * [`Platform::park`] and [`Platform::unpark`]: a futex.
//! * [`Platform::cpu`], [`Platform::node`] and [`Platform::now`]: where the caller runs, and what
//!   time it is.
//! * [`LogBuckets`]: the logarithmic buckets in which histograms count durations.
//!
//! # Features
//! * `native`, on by default, has `Native`. It needs Linux and `libc`.
//! * `loom` and `shuttle` have `Loom` and `Shuttle`, for tests. They need `std`.
//!
//! The crate is `no_std`, so that the algorithms can be used in a kernel.
#![no_std]
#![warn(missing_docs)]

#[cfg(any(feature = "loom", feature = "shuttle"))]
extern crate std;

mod atomic;
#[cfg(any(feature = "loom", feature = "shuttle"))]
mod checker;
mod cpu_list;
mod cpu_set;
mod ids;
mod log_buckets;
#[cfg(feature = "loom")]
mod loom_platform;
#[cfg(feature = "native")]
mod native;
mod padded;
mod reader_slots;
#[cfg(feature = "shuttle")]
mod shuttle_platform;
mod wait_array;

pub use atomic::{Atomic, AtomicInt, SharedCell};
pub use core::sync::atomic::Ordering;
pub use cpu_list::{MOST_CPUS, cpu_list};
pub use cpu_set::CpuSet;
pub use ids::{CpuId, Cycles, LockLabel, Nanos, NodeId};
pub use log_buckets::LogBuckets;
#[cfg(feature = "loom")]
pub use loom_platform::Loom;
#[cfg(feature = "native")]
pub use native::{Native, announce_wait};
pub use padded::Padded;
pub use reader_slots::{READER_SLOTS, ReaderSlots};
#[cfg(feature = "shuttle")]
pub use shuttle_platform::Shuttle;
pub use wait_array::{WAIT_SLOTS, WaitArray};

/// How a waiter spends its time in [`Platform::wait_until`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// The waiter reads the word again and again, with a spin-loop hint between reads.
    Spin,
    /// The waiter rests its core until the watched cache line is written, if the processor can do
    /// that from user space (`umwait`, `mwaitx`). Otherwise it spins. See
    /// [`Platform::has_low_power_wait`].
    LowPower,
}

/// Why [`Platform::park`] has returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parked {
    /// The caller was woken by [`Platform::unpark`], or for no reason at all. It must check again
    /// whether what it waits for has happened.
    Woken,
    /// The word did not hold the expected value, so the caller never slept.
    Changed,
    /// The timeout passed before anybody woke the caller.
    TimedOut,
}

/// A machine, as seen by an algorithm.
///
/// # Safety
/// Unsafe code relies on the machine, because every lock uses atomic words to hand data from one
/// thread to another. An implementation therefore promises:
///
/// * **Atomics** behave as their traits say and follow the C++11 memory model. Each operation has
///   the ordering that the caller asks for, or a stronger one.
/// * **Cells** contain the value that they were made with. Every access to a cell gets the same
///   valid pointer to that value, as long as the cell is not moved.
/// * **[`wait_until`](Self::wait_until)** returns only a value that it has read from the word with
///   acquire ordering and that `done` has accepted.
/// * **[`unpark`](Self::unpark)** does not read the word.
/// * **Locks of cores:** of the calls of [`acquire_at_home`](Self::acquire_at_home) and
///   [`acquire_from_afar`](Self::acquire_from_afar) on one word, no second one returns true before the
///   lock has been released.
/// * **Layout:** on [`Native`], and on every other platform whose words lie in memory that a
///   program has laid out, an atomic has the size and alignment of its value. An atomic whose bytes
///   are all zero has the value 0.
///
/// # Progress
/// A waiter in `wait_until` returns in finite time once the watched word satisfies its condition
/// for good. In [`park`](Self::park), the comparison and the falling asleep are one step: `unpark`
/// cannot come between them and miss the thread.
pub unsafe trait Platform: Sized + Send + Sync + 'static {
    /// A 32-bit atomic word. It is the only kind of word on which a thread can park.
    type U32: AtomicInt<Value = u32>;
    /// A 64-bit atomic word.
    type U64: AtomicInt<Value = u64>;
    /// A pointer-sized atomic word.
    type Usize: AtomicInt<Value = usize>;
    /// An atomic word that holds a pointer.
    type Ptr<T: 'static>: Atomic<Value = *mut T>;
    /// Plain data. The algorithm must order the accesses to it by other means, such as a lock.
    type Cell<T: Send + 'static>: SharedCell<T>;

    /// Whether this is a model checker. If so, algorithms reduce their limits to two at most, such
    /// as the turns to spin or the number of times that a waiter may be passed over. The rare paths
    /// are then taken within the few steps that a checker can explore.
    const CHECKED: bool = false;

    /// Whether a load may be sequentially consistent. If not, which is so under loom, an algorithm that
    /// needs such a load exchanges the word for what it is, which loom knows to be as good.
    const SEQUENTIAL_LOADS: bool = !Self::CHECKED;

    /// Returns the core on which the caller runs now. Unless the thread is pinned, it may move to
    /// another core at any time. An algorithm may use the result for locality, but its correctness
    /// must not depend on it.
    fn cpu() -> CpuId;

    /// Returns the NUMA node on which the caller runs now. As with [`cpu`](Self::cpu), the thread
    /// may move at any time.
    fn node() -> NodeId;

    /// Returns the time since some fixed moment, in cycles of the time-stamp counter.
    fn now() -> Cycles;

    /// Watches `cell` until `done` accepts its value, and returns that value.
    ///
    /// The read whose value `done` accepts has acquire ordering. The writer only has to store to
    /// `cell`; it need not wake the waiter. A waiter never sleeps in the operating system, but
    /// after a good part of a millisecond it may offer its processor to other threads that could
    /// run.
    fn wait_until<A: Atomic>(cell: &A, how: Wait, done: impl FnMut(A::Value) -> bool) -> A::Value;

    /// Returns whether [`Wait::LowPower`] really rests the core on this machine. If it does not, an
    /// algorithm that wants to spare the core parks instead.
    fn has_low_power_wait() -> bool;

    /// Takes as long as `turns` turns of a spin loop, without touching memory.
    fn pause(turns: u32);

    /// Calls `wait`, in which the caller waits for other threads and calls [`pause`](Self::pause) any
    /// number of times. A platform may take this for a sign that a pause may be long.
    #[inline(always)]
    fn patiently<R>(wait: impl FnOnce() -> R) -> R {
        wait()
    }

    /// Offers the processor to another thread that could run.
    fn yield_now();

    /// Sleeps in the operating system if `cell` has the value `expected`; otherwise returns at
    /// once. The sleep ends when the thread is unparked or, if there is a `timeout`, when that much
    /// time has passed. It may also end for no reason.
    ///
    /// The comparison is sequentially consistent with respect to [`unpark`](Self::unpark).
    fn park(cell: &Self::U32, expected: u32, timeout: Option<Nanos>) -> Parked;

    /// Wakes at most `count` of the threads that are parked on `cell`, and returns how many it
    /// woke.
    ///
    /// The caller passes a raw pointer because the word may already be gone: its last user may free
    /// it after seeing it change. `cell` is therefore used only as an address and is not read. If
    /// the address is out of date, the worst effect is a spurious wake-up of its later user.
    fn unpark(cell: *const Self::U32, count: u32) -> u32;

    /// Returns the table of wait slots that all locks of this machine share.
    fn wait_array() -> WaitArray<Self>;

    /// Returns the table of reader slots that all locks of this machine share.
    fn reader_slots() -> ReaderSlots<Self>;

    /// Returns whether a thread that runs on a lock's home can acquire it more cheaply than by an atomic
    /// exchange ([`acquire_at_home`](Self::acquire_at_home)), if the homes are the first `cores` cores.
    ///
    /// The answer may differ from call to call. So whoever makes a lock asks once, and the lock is used in
    /// one way as long as it lives: by these functions if the answer was yes, or else by exchanges. Asking
    /// may take milliseconds.
    fn has_cheap_homes(_cores: u32) -> bool {
        false
    }

    /// Acquires the lock of a core, unless somebody has it, and returns whether it did. It is cheap if the
    /// caller runs on the lock's `home`, and right in any case. It may fail although nobody has the lock.
    ///
    /// The word is 0 if the lock is free. Whoever has acquired the lock releases it by a store of 0 with
    /// release ordering, from any core and any thread. Acquiring it is an acquire operation.
    ///
    /// # Safety
    /// [`has_cheap_homes`](Self::has_cheap_homes) has returned true. For as long as the word is that of a
    /// lock, it is changed by these functions and such releases only, and always with the same `home`. Only
    /// threads of this process use it, or those of a process that is the child of its `fork`. The C library
    /// knows the calling thread, and no other thread has the same control block, as the child of a `vfork`
    /// has.
    #[inline(always)]
    #[track_caller]
    unsafe fn acquire_at_home(word: &Self::U32, _home: CpuId) -> bool {
        // Acquire: pairs with the last holder's release.
        word.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Like [`acquire_at_home`](Self::acquire_at_home), for a caller that probably runs elsewhere. It may
    /// take microseconds, and does not wait for the lock.
    ///
    /// # Safety
    /// As for [`acquire_at_home`](Self::acquire_at_home).
    #[inline(always)]
    #[track_caller]
    unsafe fn acquire_from_afar(word: &Self::U32, _home: CpuId) -> bool {
        // Acquire: pairs with the last holder's release.
        word.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Returns a number for the calling thread, by which it may pick a slot. It stays the same as long
    /// as the thread lives. Natively, no two threads that live at a time have the same number.
    fn thread_key() -> usize;

    /// Returns a number for the place of `object`, by which a caller may pick a slot. The number is
    /// the same at each call until the object moves. Natively it is the object's address. In a
    /// simulation it is a number that is the same in each run.
    fn address_key<T>(object: &T) -> usize;

    /// Calls `work` with `value` at a place where other threads may access it until `work` returns: what
    /// a waiter keeps on its stack, such as its node of a queue. By default, and natively, the place is
    /// the caller's stack frame.
    ///
    /// Where the compiler puts a frame must not change a simulated figure. So a simulation has a stack
    /// of its own for these values, on which each begins with a cache line, and refuses words that lie
    /// in a frame.
    #[inline(always)]
    fn with_local<T, R>(value: T, work: impl FnOnce(&T) -> R) -> R {
        work(&value)
    }

    /// Calls `work`: a few instructions in the middle of which others wait for the caller. A platform that
    /// can keep the caller from being preempted meanwhile does so, as a kernel can. By default, and
    /// natively, it only calls `work`, and a waiter has to bear with a caller that was preempted.
    #[inline(always)]
    fn unpreempted<R>(work: impl FnOnce() -> R) -> R {
        work()
    }

    /// Announces that the memory of `object` is about to go back to an allocator, which may hand it
    /// out again for another object. Natively this does nothing. A simulation then treats the next
    /// use of the address as new memory, so that its result does not depend on the host's
    /// allocator.
    #[inline(always)]
    fn discard<T>(_object: *const T) {}
}

// The example of the README is compiled and run with the tests.
#[cfg(all(doctest, feature = "native"))]
#[doc = include_str!("../README.md")]
struct Readme;
