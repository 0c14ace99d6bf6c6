//! What the recorder keeps of the calling thread.
//!
//! # Where it lies
//! A `thread_local!` of a shared library is reached by a call of `__tls_get_addr`, at each lock
//! and each unlock. A library that is loaded with the program may use the initial-exec model
//! instead: its variables have a fixed distance from the thread pointer. Stable Rust cannot ask
//! for that model, so on x86-64 the variable is defined in assembly.

use core::cell::Cell;

use kilocore_lock_recording::{LockBlock, ShardBlock, ThreadBlock};

use crate::debt::Debt;
use crate::mode::Mode;
use crate::pace::Pace;
use crate::state::State;
use crate::walk::Chain;

/// Locks that a thread can hold at once; beyond that the ones taken first are forgotten.
pub(crate) const HELD: usize = 32;

/// A lock that the thread holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Held {
    /// The lock's address.
    pub(crate) object: usize,
    /// Its record.
    pub(crate) lock: *const LockBlock,
    /// Where the hold is counted; null if there is no room.
    pub(crate) shard: *const ShardBlock,
    /// When it was asked for, in cycles.
    pub(crate) request: u64,
    /// When it was obtained.
    pub(crate) start: u64,
    /// Time since then that was spent waiting for or holding locks taken inside.
    pub(crate) inner: u64,
    /// How often it was taken again by its holder.
    pub(crate) again: u32,
    /// Whether others write to `shard` at the same time.
    pub(crate) atomic: bool,
    /// How it is held.
    pub(crate) mode: Mode,
}

/// Waits that take fewer cycles than this did not give up the core.
const LEAST_SLEEP: u64 = 1 << 12;

/// State of a thread. All zero at first.
///
/// Signal handlers may run wrappers in between any two instructions of another wrapper; cells
/// keep that harmless: at worst a duration is lost.
#[repr(C)]
pub(crate) struct Thread {
    /// The mapping this thread records into; null before it has joined one, and while the
    /// recorder is busy with itself, so that locks taken then are passed on.
    pub(crate) base: Cell<*mut u8>,
    /// The mapping it joined last.
    pub(crate) joined: Cell<*mut u8>,
    /// State of its process.
    pub(crate) state: Cell<*const State>,
    /// The number of locks held.
    pub(crate) depth: Cell<usize>,
    /// The core it was last seen on.
    pub(crate) core: Cell<u32>,
    /// Its number, which no other living thread has; `NO_NUMBER` if there was none left.
    pub(crate) number: Cell<u32>,
    /// Its slot for shards of shared holds.
    pub(crate) slot: Cell<u32>,
    /// When it released its last lock, in cycles; 0 before that, and while nobody needs it.
    pub(crate) last_release: Cell<u64>,
    /// The think time before the lock it holds, to be counted when that is released.
    pub(crate) pending_think: Cell<u64>,
    /// Where think times go; null if there is no room.
    pub(crate) think: Cell<*const ThreadBlock>,
    /// When its processor time was last read, in cycles, …
    pub(crate) mark_cycles: Cell<u64>,
    /// … what it was, in nanoseconds, …
    pub(crate) mark_cpu_ns: Cell<u64>,
    /// … how often it had given up its core by its own will, …
    pub(crate) mark_switches: Cell<u64>,
    /// … and how often and for how many cycles it waited for locks and conditions since.
    pub(crate) waits: Cell<u64>,
    pub(crate) waited: Cell<u64>,
    /// Processor time from when it joined until that was last read, in cycles, …
    pub(crate) ran: Cell<u64>,
    /// … and how much of it was counted so far as holds and think times.
    pub(crate) counted: Cell<u64>,
    /// What holds were denied of it, …
    pub(crate) hold_debt: Debt,
    /// … and think times.
    pub(crate) think_debt: Debt,
    /// Which acquisitions are looked at for their caller.
    pub(crate) takes: Pace,
    /// Which contended ones are.
    pub(crate) waiting: Pace,
    /// The caller of the acquisition under way, a site, or 0 if that is not looked at, …
    pub(crate) taker: Cell<u32>,
    /// … and how many acquisitions that stands for.
    pub(crate) taker_weight: Cell<u64>,
    /// Outermost sections to go before the next one that is timed.
    pub(crate) skip: Cell<u32>,
    /// How many sections a timed one stands for.
    pub(crate) weight: Cell<u32>,
    /// When the last timed section ended.
    pub(crate) last_sample: Cell<u64>,
    /// State of the generator of random numbers.
    pub(crate) random: Cell<u32>,
    /// Whether the current section is timed.
    pub(crate) timed: Cell<bool>,
    /// Whether the recorder is busy with itself.
    pub(crate) busy: Cell<bool>,
    /// Whether it was counted among the threads that take locks.
    pub(crate) locking: Cell<bool>,
    /// Whether its end was counted.
    pub(crate) ended: Cell<bool>,
    /// The locks it holds, the oldest first.
    pub(crate) held: [Cell<Held>; HELD],
    /// The way it came when it last walked its stack for who makes a lock.
    pub(crate) chain: Chain,
    /// The same for who takes one.
    pub(crate) taking: Chain,
}

/// [`Thread::pending_think`] when there is nothing to count.
pub(crate) const NO_THINK: u64 = u64::MAX;

impl Thread {
    /// The calling thread's. Must not be handed to another thread.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) fn current() -> &'static Thread {
        let thread: *const Thread;
        // SAFETY: loads the variable's distance from the thread pointer, which the dynamic
        // linker has stored, and adds the thread pointer, which the System V ABI keeps at fs:0.
        unsafe {
            core::arch::asm!(
                "mov {0}, qword ptr fs:[0]",
                "add {0}, qword ptr [rip + kilocore_measure_thread@GOTTPOFF]",
                out(reg) thread,
                options(pure, readonly, nostack),
            );
        }
        // SAFETY: the variable is as large and as aligned as a Thread, zeroed at the thread's
        // start, which is a valid value, and lives as long as the thread.
        unsafe { &*thread }
    }

    /// The calling thread's. Must not be handed to another thread.
    #[cfg(not(target_arch = "x86_64"))]
    #[inline(always)]
    pub(crate) fn current() -> &'static Thread {
        use core::mem::MaybeUninit;
        thread_local! {
            static THREAD: MaybeUninit<Thread> = const { MaybeUninit::zeroed() };
        }
        // SAFETY: zero is a valid value, and without a destructor the variable lives as long as
        // the thread.
        THREAD.with(|thread| unsafe { &*thread.as_ptr() })
    }

    /// Begins anew in the recording at `base`. What was counted there already is not forgotten.
    pub(crate) fn reset(&self, base: *mut u8, state: &'static State) {
        self.state.set(state);
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

    /// Forgets the locks held and the course of sampling.
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
