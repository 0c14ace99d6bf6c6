//! One trait, [`Platform`], with everything that an algorithm may use of a machine.
//!
//! # One source, every machine
//! Every lock, log and list of Kilocore is written once, generic over [`Platform`]. The same
//! source then runs natively ([`Native`]), under the model checkers loom and shuttle (features
//! `loom` and `shuttle`), and on a simulated machine (crate `kilocore-sim`). Nothing here costs
//! anything natively: each method of `Native` is one inlined instruction or system call.
//!
//! # What is in it
//! * [`Atomic`] and [`AtomicInt`]: atomic words, with the orderings of [`core::sync::atomic`].
//! * [`SharedCell`]: plain data that a lock protects. Natively a bare `UnsafeCell`; a checker
//!   looks for races on it and the simulator charges for the cache lines it covers.
//! * [`Platform::wait_until`]: waiting by watching a word. This is what lets a simulator put a
//!   waiter to sleep until the line changes instead of simulating each turn of a spin loop.
//! * [`Platform::park`] and [`Platform::unpark`]: a futex.
//! * where the caller runs ([`Platform::cpu`], [`Platform::node`]) and what time it is.
//!
//! The crate is `no_std`, so that the algorithms can live in a kernel.
#![no_std]
#![warn(missing_docs)]

#[cfg(any(feature = "loom", feature = "shuttle"))]
extern crate std;

mod atomic;
#[cfg(any(feature = "loom", feature = "shuttle"))]
mod checker;
mod ids;
#[cfg(feature = "loom")]
mod loom_platform;
#[cfg(feature = "native")]
mod native;
mod padded;
#[cfg(feature = "shuttle")]
mod shuttle_platform;
mod wait_array;

pub use atomic::{Atomic, AtomicInt, SharedCell};
pub use core::sync::atomic::Ordering;
pub use ids::{CpuId, Cycles, Nanos, NodeId};
#[cfg(feature = "loom")]
pub use loom_platform::Loom;
#[cfg(feature = "native")]
pub use native::Native;
pub use padded::Padded;
#[cfg(feature = "shuttle")]
pub use shuttle_platform::Shuttle;
pub use wait_array::{WAIT_SLOTS, WaitArray};

/// How a waiter spends its time in [`Platform::wait_until`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Re-read as fast as the core can, with a spin-loop hint between reads.
    Spin,
    /// Rest the core until the watched cache line is written, where the processor can do that
    /// from user space (`umwait`, `mwaitx`); otherwise spin. See
    /// [`Platform::has_low_power_wait`].
    LowPower,
}

/// Why [`Platform::park`] returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parked {
    /// Woken by [`Platform::unpark`], or for no reason at all: look again.
    Woken,
    /// The word did not hold the expected value, so the caller never slept.
    Changed,
    /// The time allowed ran out.
    TimedOut,
}

/// A machine, as seen by an algorithm.
///
/// # Safety
/// Unsafe code trusts a machine: every lock hands data from thread to thread by its words. So an
/// implementation promises:
///
/// * **Atomics** are the words that they are said to be and follow the C++11 memory model, with the
///   orderings that are asked for or stronger ones.
/// * **Cells** show the value that they were made with, in its place, to whoever asks: the same
///   valid pointer as long as the cell is not moved.
/// * **[`wait_until`](Self::wait_until)** returns only what it has read from the word with acquire
///   ordering and `done` has accepted.
/// * **[`unpark`](Self::unpark)** does not read the word.
/// * **On [`Native`]**, and on whatever else runs over memory that a program has laid out, an
///   atomic has the size and alignment of its value, and all zeros are 0.
///
/// # Progress
/// A waiter in `wait_until` returns in finite time once the watched word satisfies its condition
/// for good. A thread between its comparison and its sleep in [`park`](Self::park) is not missed by
/// `unpark`: the comparison and the falling asleep are one step.
pub unsafe trait Platform: Sized + Send + Sync + 'static {
    /// A 32-bit atomic word; the only kind that can be parked on.
    type U32: AtomicInt<Value = u32>;
    /// A 64-bit atomic word.
    type U64: AtomicInt<Value = u64>;
    /// A pointer-sized atomic word.
    type Usize: AtomicInt<Value = usize>;
    /// An atomic pointer.
    type Ptr<T: 'static>: Atomic<Value = *mut T>;
    /// Plain data whose accesses the algorithm orders by other means.
    type Cell<T: Send + 'static>: SharedCell<T>;

    /// Whether this is a model checker: then limits (turns to spin, acquisitions until a waiter
    /// is passed over no more) shrink to one or two, so that the rare paths are taken in the
    /// few steps that a checker can explore.
    const CHECKED: bool = false;

    /// The core that the caller runs on now. Stale as soon as it is read unless migration is
    /// excluded by other means: good for locality, never for correctness.
    fn cpu() -> CpuId;

    /// The NUMA node that the caller runs on now; as stale as [`cpu`](Self::cpu).
    fn node() -> NodeId;

    /// Time since some fixed moment, in cycles of the time-stamp counter.
    fn now() -> Cycles;

    /// Watches `cell` until `done` accepts its value, and returns that value.
    ///
    /// The read that satisfies `done` has acquire ordering. The writer needs to do nothing
    /// beyond its store. Never sleeps in the operating system, but a waiter that has waited
    /// for a good part of a millisecond may offer its processor to threads that could run.
    fn wait_until<A: Atomic>(cell: &A, how: Wait, done: impl FnMut(A::Value) -> bool) -> A::Value;

    /// Whether [`Wait::LowPower`] really rests the core here. Where it does not, an algorithm
    /// that wants to spare the core parks instead.
    fn has_low_power_wait() -> bool;

    /// Passes the time of `turns` turns of a spin loop without touching memory.
    fn pause(turns: u32);

    /// Offers the processor to another thread that could run.
    fn yield_now();

    /// Sleeps in the operating system while `cell` holds `expected`, until unparked or, given
    /// `timeout`, until that much time has passed. May wake for no reason.
    ///
    /// The comparison is sequentially consistent with respect to [`unpark`](Self::unpark).
    fn park(cell: &Self::U32, expected: u32, timeout: Option<Nanos>) -> Parked;

    /// Wakes at most `count` threads parked on `cell` and says how many it woke.
    ///
    /// `cell` is only an address here: it is not read, and a spurious wake-up of a later user
    /// of the same address is the worst that an outdated one can do. The caller passes a raw
    /// pointer because the word may be gone once its last user has seen it change.
    fn unpark(cell: *const Self::U32, count: u32) -> u32;

    /// The table of waiting slots that all locks of this machine share.
    fn wait_array() -> WaitArray<Self>;

    /// Returns a number for the place of `object`, by which a caller may pick a slot. The number is
    /// the same at each call until the object moves. Natively it is the object's address. In a
    /// simulation it is a number that is the same in each run.
    fn address_key<T>(object: &T) -> usize;

    /// Announces that the memory of `object` is about to go back to an allocator, which may hand it
    /// out again for another object. Natively this does nothing. A simulation then treats the next
    /// use of the address as new memory, so that its result does not depend on the host's allocator.
    #[inline(always)]
    fn discard<T>(_object: *const T) {}
}
