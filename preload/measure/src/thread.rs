//! The state that the recorder keeps for the calling thread.
//!
//! # Where it lies
//! A shared library finds a `thread_local!` by a call of `__tls_get_addr`, which would happen at
//! each lock and each unlock. A library that is loaded together with the program may use the
//! initial-exec model instead, in which variables have a fixed distance from the thread pointer.
//! Stable Rust cannot choose this model. So on x86-64 the variable is defined in assembly.

use core::cell::Cell;

use kilocore_lock_recording::{LockBlock, ShardBlock, ThreadBlock};

use crate::debt::Debt;
use crate::mode::Mode;
use crate::pace::Pace;
use crate::state::State;
use crate::walk::Chain;

/// The largest number of held locks that are known of a thread. If a thread holds more, those that
/// it took first are forgotten.
pub(crate) const HELD: usize = 32;

/// A lock that the thread holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Held {
    /// The address of the lock.
    pub(crate) object: usize,
    /// The lock's block in the recording.
    pub(crate) lock: *const LockBlock,
    /// The shard in which the hold is counted. It is null if there is no room.
    pub(crate) shard: *const ShardBlock,
    /// When the lock was requested, in cycles.
    pub(crate) request: u64,
    /// When the lock was acquired, in cycles.
    pub(crate) start: u64,
    /// The cycles since then that were spent waiting for or holding locks that were taken inside.
    pub(crate) inner: u64,
    /// How often the holder has taken the lock again.
    pub(crate) again: u32,
    /// Whether other threads may write `shard` at the same time.
    pub(crate) atomic: bool,
    /// The mode in which the lock is held.
    pub(crate) mode: Mode,
}

/// A wait that takes fewer cycles than this has not given up the core.
const LEAST_SLEEP: u64 = 1 << 12;

/// The state of a thread. It is all zero at first.
///
/// A signal handler may run a wrapper between any two instructions of another wrapper. The cells
/// make this harmless: at worst, a duration is lost.
#[repr(C)]
pub(crate) struct Thread {
    /// The mapping into which this thread records. It is null before the thread has joined a
    /// recording. It is also null while the recorder does work of its own, so that the locks that
    /// the thread takes then are not recorded.
    pub(crate) base: Cell<*mut u8>,
    /// The mapping of the recording that the thread joined last.
    pub(crate) joined: Cell<*mut u8>,
    /// Blocks that begin below this unit end inside the recording, as far as the thread knows. It is
    /// at least 1 once the thread has looked.
    pub(crate) reach: Cell<u32>,
    /// The state of the thread's process.
    pub(crate) state: Cell<*const State>,
    /// The number of locks that the thread holds.
    pub(crate) depth: Cell<usize>,
    /// The core on which the thread was last seen.
    pub(crate) core: Cell<u32>,
    /// The thread's number, which no other living thread has, or `NO_NUMBER` if none was left.
    pub(crate) number: Cell<u32>,
    /// The thread's slot for shards of shared holds.
    pub(crate) slot: Cell<u32>,
    /// When the thread released its last lock, in cycles. It is 0 before that, and while the time
    /// is not needed.
    pub(crate) last_release: Cell<u64>,
    /// The think time before the lock that the thread holds. It is counted when the lock is
    /// released.
    pub(crate) pending_think: Cell<u64>,
    /// The block in which think times are counted. It is null if there is no room.
    pub(crate) think: Cell<*const ThreadBlock>,
    /// When the thread's processor time was last read, in cycles.
    pub(crate) mark_cycles: Cell<u64>,
    /// The processor time at that moment, in nanoseconds.
    pub(crate) mark_cpu_ns: Cell<u64>,
    /// How often the thread had given up its core voluntarily by that moment.
    pub(crate) mark_switches: Cell<u64>,
    /// How often the thread has waited for locks and conditions since that moment, and for how many
    /// cycles.
    pub(crate) waits: Cell<u64>,
    pub(crate) waited: Cell<u64>,
    /// The thread's processor time from when it joined until that moment, in cycles.
    pub(crate) ran: Cell<u64>,
    /// How much of the processor time was counted so far as holds, think times and spinning.
    pub(crate) counted: Cell<u64>,
    /// The time that holds were denied.
    pub(crate) hold_debt: Debt,
    /// The time that think times were denied.
    pub(crate) think_debt: Debt,
    /// Chooses the acquisitions for which the caller is determined.
    pub(crate) takes: Pace,
    /// Does the same for acquisitions that have to wait.
    pub(crate) waiting: Pace,
    /// The site that makes the present acquisition, or 0 if it was not determined.
    pub(crate) taker: Cell<u32>,
    /// The number of acquisitions that the present one stands for.
    pub(crate) taker_weight: Cell<u64>,
    /// The number of outermost sections to skip before the next timed one.
    pub(crate) skip: Cell<u32>,
    /// The number of sections that a timed one stands for.
    pub(crate) weight: Cell<u32>,
    /// When the last timed section ended, in cycles.
    pub(crate) last_sample: Cell<u64>,
    /// The state of the generator of random numbers.
    pub(crate) random: Cell<u32>,
    /// Whether the current section is timed.
    pub(crate) timed: Cell<bool>,
    /// Whether the recorder does work of its own in this thread.
    pub(crate) busy: Cell<bool>,
    /// Whether the thread was counted among those that take locks.
    pub(crate) locking: Cell<bool>,
    /// Whether the end of the thread was counted.
    pub(crate) ended: Cell<bool>,
    /// The locks that the thread holds, the oldest first.
    pub(crate) held: [Cell<Held>; HELD],
    /// The chain of calls at the last stack walk for a caller that makes or first uses an object.
    pub(crate) chain: Chain,
    /// The chain of calls at the last stack walk for a caller that takes a lock.
    pub(crate) taking: Chain,
}

/// The value of [`Thread::pending_think`] if there is nothing to count.
pub(crate) const NO_THINK: u64 = u64::MAX;

impl Thread {
    /// Returns the state of the calling thread. It must not be handed to another thread.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) fn current() -> &'static Thread {
        let thread: *const Thread;
        // SAFETY: this loads the variable's distance from the thread pointer, which the dynamic
        // linker has stored, and adds the thread pointer, which is at fs:0 by the System V ABI.
        unsafe {
            core::arch::asm!(
                "mov {0}, qword ptr fs:[0]",
                "add {0}, qword ptr [rip + kilocore_measure_thread@GOTTPOFF]",
                out(reg) thread,
                options(pure, readonly, nostack),
            );
        }
        // SAFETY: the variable has the size and the alignment of a Thread and lives as long as the
        // thread. It is zero at the thread's start, which is a valid value.
        unsafe { &*thread }
    }

    /// Returns the state of the calling thread. It must not be handed to another thread.
    #[cfg(not(target_arch = "x86_64"))]
    #[inline(always)]
    pub(crate) fn current() -> &'static Thread {
        use core::mem::MaybeUninit;
        thread_local! {
            static THREAD: MaybeUninit<Thread> = const { MaybeUninit::zeroed() };
        }
        // SAFETY: zero is a valid value. The variable has no destructor, so it lives as long as the
        // thread.
        THREAD.with(|thread| unsafe { &*thread.as_ptr() })
    }

    /// Prepares the thread for the recording at `base`. If it has joined this recording before, it
    /// stays counted there.
    pub(crate) fn reset(&self, base: *mut u8, state: &'static State) {
        self.state.set(state);
        self.reach.set(0);
        if self.joined.replace(base) != base {
            self.locking.set(false);
            self.ended.set(false);
        }
        self.think.set(core::ptr::null());
        self.waited.set(0);
        self.waits.set(0);
        self.ran.set(0);
        self.counted.set(0);
        self.hold_debt.forget();
        self.think_debt.forget();
        self.restart();
    }

    /// Notes that the thread waited for a lock, a condition or a barrier.
    pub(crate) fn note_wait(&self, cycles: u64) {
        if cycles >= LEAST_SLEEP {
            self.waits.set(self.waits.get() + 1);
        }
        self.waited.set(self.waited.get() + cycles);
    }

    /// Forgets the locks that are held, and restarts sampling.
    pub(crate) fn restart(&self) {
        self.depth.set(0);
        self.last_release.set(0);
        self.pending_think.set(NO_THINK);
        self.skip.set(0);
        self.weight.set(1);
        self.last_sample.set(0);
        self.timed.set(false);
        self.takes.restart();
        self.waiting.restart();
        self.taker.set(0);
    }
}

#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".section .tbss.kilocore_measure_thread,\"awT\",@nobits",
    ".p2align 6",
    ".globl kilocore_measure_thread",
    ".hidden kilocore_measure_thread",
    ".type kilocore_measure_thread, @object",
    ".size kilocore_measure_thread, {size}",
    "kilocore_measure_thread:",
    ".zero {size}",
    ".text",
    size = const size_of::<Thread>(),
);

const _: () = assert!(align_of::<Thread>() <= 64);
