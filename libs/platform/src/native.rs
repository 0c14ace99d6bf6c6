//! The real machine, on Linux.
//!
//! Atomics are those of `core`. Parking is the futex system call. Waiting is a loop around the
//! processor's spin hint or, if CPUID reports them, `umwait` (Intel) and `mwaitx` (AMD). On x86-64,
//! core and node come from `rdpid`, or from `rdtscp` on processors without it. Both read a register
//! in which Linux keeps the two numbers, so neither costs a system call.
//!
//! On x86-64 with glibc, the lock of a core is acquired by a restartable sequence (`restartable.rs`). A
//! process that has asked for that also learns from its registration where it runs, which is cheaper yet.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use crate::{Atomic, CpuId, Cycles, Nanos, NodeId, Padded, Parked, Platform, SharedCell};
use crate::{READER_SLOTS, ReaderSlots, WAIT_SLOTS, Wait, WaitArray};

mod announce;
#[cfg(target_arch = "x86_64")]
mod cpuid;
mod low_power;
#[cfg(target_arch = "x86_64")]
mod place;
#[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
mod restartable;

pub use announce::announce_wait;

/// The machine this program runs on.
#[derive(Debug, Clone, Copy, Default)]
pub struct Native;

/// `UnsafeCell` with the sharing that [`SharedCell`] promises; no more than the data.
#[derive(Debug)]
#[repr(transparent)]
pub struct NativeCell<T>(UnsafeCell<T>);

// SAFETY: sharing the cell only hands out raw pointers; whoever dereferences one argues that
// its accesses are ordered. `T: Send` because the data is reached from several threads in turn.
unsafe impl<T: Send> Sync for NativeCell<T> {}

impl<T: Send> SharedCell<T> for NativeCell<T> {
    #[inline(always)]
    fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }
    #[inline(always)]
    fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }
    #[inline(always)]
    fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }
}

static WAIT_SLOT_TABLE: [Padded<AtomicU32>; WAIT_SLOTS] =
    [const { Padded(AtomicU32::new(0)) }; WAIT_SLOTS];

static READER_SLOT_TABLE: Padded<[AtomicUsize; READER_SLOTS]> =
    Padded([const { AtomicUsize::new(0) }; READER_SLOTS]);

/// Turns that a waiter spins before it first offers its processor to other threads: a fraction of a
/// millisecond, far longer than any critical section that spinning suits. The thread that it waits
/// for may have lost its processor, or never had one.
const TURNS_BEFORE_YIELD: u32 = 4096;
/// Turns between later offers.
const TURNS_BETWEEN_YIELDS: u32 = 256;
/// The number of turns that a low-power rest counts for. A rest lasts until the line is written or
/// for some tens of microseconds.
const TURNS_OF_A_REST: u32 = 1024;

// SAFETY: the words are those of `core`, the cell is its `UnsafeCell`; `wait_until` returns after
// an acquire load whose value `done` accepted, and `unpark` gives the kernel an address that
// FUTEX_WAKE on a private futex does not follow.
unsafe impl Platform for Native {
    type U32 = AtomicU32;
    type U64 = AtomicU64;
    type Usize = AtomicUsize;
    type Ptr<T: 'static> = AtomicPtr<T>;
    type Cell<T: Send + 'static> = NativeCell<T>;

    #[inline]
    fn cpu() -> CpuId {
        #[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
        if let Some(cpu) = restartable::cpu() {
            return cpu;
        }
        CpuId(cpu_and_node().0)
    }

    #[inline]
    fn node() -> NodeId {
        NodeId(cpu_and_node().1)
    }

    #[inline(always)]
    fn now() -> Cycles {
        now()
    }

    #[inline(always)]
    fn wait_until<A: Atomic>(
        cell: &A,
        how: Wait,
        mut done: impl FnMut(A::Value) -> bool,
    ) -> A::Value {
        let mut turns: u32 = 0;
        loop {
            let value = cell.load(Ordering::Acquire);
            if done(value) {
                return value;
            }
            turns += match how {
                Wait::Spin => {
                    core::hint::spin_loop();
                    let before = TURNS_BEFORE_YIELD - turns;
                    let mut left = before;
                    announce_wait(cell, &mut left);
                    before.saturating_sub(left) + 1
                }
                Wait::LowPower => {
                    low_power::rest(cell, |value| !done(value));
                    TURNS_OF_A_REST
                }
            };
            if turns >= TURNS_BEFORE_YIELD {
                turns -= TURNS_BETWEEN_YIELDS;
                Self::yield_now();
            }
        }
    }

    #[inline]
    fn has_low_power_wait() -> bool {
        low_power::available()
    }

    #[inline(always)]
    fn pause(turns: u32) {
        for _ in 0..turns {
            core::hint::spin_loop();
        }
    }

    fn yield_now() {
        // SAFETY: sched_yield takes no argument and touches no memory of ours.
        unsafe { libc::sched_yield() };
    }

    fn park(cell: &AtomicU32, expected: u32, timeout: Option<Nanos>) -> Parked {
        let time = timeout.map(|Nanos(nanos)| libc::timespec {
            tv_sec: (nanos / 1_000_000_000) as libc::time_t,
            tv_nsec: (nanos % 1_000_000_000) as libc::c_long,
        });
        let time_ptr = time.as_ref().map_or(core::ptr::null(), core::ptr::from_ref);
        // The locks are put under programs that read errno across a pthread_mutex_lock.
        // SAFETY: errno of the calling thread, which is always there.
        let errno = unsafe { libc::__errno_location() };
        // SAFETY: as above.
        let before = unsafe { errno.read() };
        // SAFETY: `cell` is a live, aligned 32-bit word for the whole call and `time_ptr` is
        // null or points to a timespec that outlives it; FUTEX_WAIT writes to neither.
        let result = unsafe {
            libc::syscall(
                libc::SYS_futex,
                cell.as_ptr(),
                libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
                expected,
                time_ptr,
            )
        };
        if result == 0 {
            return Parked::Woken;
        }
        // SAFETY: as above.
        match unsafe { errno.replace(before) } {
            libc::EAGAIN => Parked::Changed,
            libc::ETIMEDOUT => Parked::TimedOut,
            _ => Parked::Woken, // EINTR: as good as woken for no reason
        }
    }

    fn unpark(cell: *const AtomicU32, count: u32) -> u32 {
        // As in `park`: errno stays as it was.
        // SAFETY: errno of the calling thread, which is always there.
        let errno = unsafe { libc::__errno_location() };
        // SAFETY: as above.
        let before = unsafe { errno.read() };
        // SAFETY: FUTEX_WAKE on a private futex uses the address as a name and does not read
        // it; an address that is no longer mapped makes the call fail harmlessly.
        let woken = unsafe {
            libc::syscall(
                libc::SYS_futex,
                cell.addr(),
                libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
                count.min(i32::MAX as u32),
            )
        };
        // SAFETY: as above.
        unsafe { errno.write(before) };
        woken.max(0) as u32
    }

    #[inline(always)]
    fn wait_array() -> WaitArray<Self> {
        WaitArray::new(&WAIT_SLOT_TABLE)
    }

    #[inline(always)]
    fn reader_slots() -> ReaderSlots<Self> {
        ReaderSlots::new(&READER_SLOT_TABLE.0)
    }

    #[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
    fn has_cheap_homes(cores: u32) -> bool {
        // SAFETY: sysconf only reads.
        let all = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
        // On a core that is no lock's home, each attempt would take a system call.
        all <= cores.into() && restartable::available()
    }

    #[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
    #[inline(always)]
    unsafe fn acquire_at_home(word: &AtomicU32, home: CpuId) -> bool {
        // SAFETY: the caller's promise.
        unsafe { restartable::acquire_at_home(word, home) }
    }

    #[cfg(all(target_arch = "x86_64", target_env = "gnu"))]
    #[inline]
    unsafe fn acquire_from_afar(word: &AtomicU32, home: CpuId) -> bool {
        // SAFETY: the caller's promise.
        unsafe { restartable::acquire_from_afar(word, home) }
    }

    #[inline(always)]
    fn thread_key() -> usize {
        thread_key()
    }

    #[inline(always)]
    fn address_key<T>(object: &T) -> usize {
        core::ptr::from_ref(object).addr()
    }
}

/// Returns the address of the thread's control block, which begins with that address.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn thread_key() -> usize {
    let key;
    // SAFETY: on x86-64, every thread's `fs` points to its control block, by the convention for
    // thread-local storage of ELF. The instruction reads the first word of it and nothing else.
    unsafe {
        core::arch::asm!(
            "mov {}, fs:0",
            out(reg) key,
            options(nostack, preserves_flags, readonly, pure)
        );
    }
    key
}

/// Returns the address of the thread's `errno`.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn thread_key() -> usize {
    // SAFETY: the function takes no argument, and every thread has an `errno`.
    unsafe { libc::__errno_location() }.addr()
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn now() -> Cycles {
    // SAFETY: rdtsc is part of x86-64 and open to user space under Linux.
    Cycles(unsafe { core::arch::x86_64::_rdtsc() })
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn now() -> Cycles {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a live timespec for the kernel to fill in.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    Cycles(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn cpu_and_node() -> (u32, u32) {
    let id = match place::says() {
        place::Says::Rdpid => {
            let id: u64;
            // SAFETY: the processor has the instruction, which writes this register and no more.
            unsafe {
                core::arch::asm!("rdpid {}", out(reg) id, options(nomem, nostack, preserves_flags))
            };
            id as u32
        }
        place::Says::Rdtscp => {
            let mut id = 0;
            // SAFETY: rdtscp is in every x86-64 processor since 2008; `id` is ours to write.
            unsafe { core::arch::x86_64::__rdtscp(&mut id) };
            id
        }
        place::Says::System => return asked_of_system(),
    };
    // Linux keeps node << 12 | cpu in the register that both read.
    (id & 0xFFF, id >> 12)
}

#[cfg(not(target_arch = "x86_64"))]
fn cpu_and_node() -> (u32, u32) {
    asked_of_system()
}

/// The core and the node of the calling thread, by a call of the system.
#[cold]
fn asked_of_system() -> (u32, u32) {
    let (mut cpu, mut node) = (0u32, 0u32);
    // SAFETY: getcpu writes two 32-bit words, both ours; the third argument is unused.
    unsafe {
        libc::syscall(libc::SYS_getcpu, &mut cpu, &mut node, core::ptr::null_mut::<u8>());
    }
    (cpu, node)
}
