//! The simulated machine, as algorithms see it.

use std::cell::UnsafeCell;
use std::sync::atomic as real;

use kilocore_platform::{
    Atomic, AtomicInt, CpuId, Cycles, Nanos, NodeId, Ordering, Padded, Parked, Platform,
    SharedCell, WAIT_SLOTS, Wait, WaitArray,
};

use crate::coherence::{Access, LineId};
use crate::costs::LONGEST_STEP;
use crate::engine::{self, Intent};
use crate::kernel_lock::KernelLock;
use crate::outcome::{Activity, TaskTimes};
use crate::waiting::Check;

/// The machine of the [`Simulation`](crate::Simulation) that runs on this host thread.
///
/// Outside a simulated task (while a simulation is set up or looked at afterwards) its atomics
/// and cells work and cost nothing, and its clock stands still.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sim;

/// Charges for an access to the line at `address`, in simulated order.
#[inline]
fn charge(address: usize, access: Access) {
    // SAFETY: the reference ends with this expression, before anything suspends.
    let served = match unsafe { engine::current() } {
        Some(engine) => engine.access_privately(address, access),
        None => return,
    };
    if let Some(line) = served {
        charge_in_order(line, access);
    }
}

fn charge_in_order(line: LineId, access: Access) {
    give_way_to_earlier();
    // SAFETY: as in `charge`.
    if let Some(engine) = unsafe { engine::current() } {
        engine.access(line, access);
    }
}

/// Lets everything happen that is earlier than the current core's time.
pub(crate) fn give_way_to_earlier() {
    loop {
        // SAFETY: the reference ends before the suspension.
        let must = unsafe { engine::current() }.is_some_and(|engine| engine.must_give_way());
        if !must {
            return;
        }
        // SAFETY: there is an engine, so this is a fiber of its; no reference is alive.
        unsafe { engine::suspend(Intent::Continue) };
    }
}

/// Words of simulated memory. They hold their values in real atomics, which the host needs only
/// for sharing between its threads to be well defined; all order is the simulator's.
macro_rules! simulated_word {
    ($(#[$doc:meta])* $name:ident[$($parameter:ident)?] $real:ty => $value:ty) => {
        $(#[$doc])*
        #[derive(Debug)]
        #[repr(transparent)]
        pub struct $name$(<$parameter: 'static>)?($real);

        impl$(<$parameter: 'static>)? $name$(<$parameter>)? {
            #[inline(always)]
            fn charge(&self, access: Access) {
                charge(std::ptr::from_ref(self).addr(), access);
            }

            #[inline(always)]
            fn modify(&self, change: impl FnOnce($value) -> Option<$value>) -> $value {
                self.charge(Access::Rmw);
                let old = self.0.load(Ordering::Relaxed);
                if let Some(new) = change(old) {
                    self.0.store(new, Ordering::Relaxed);
                }
                old
            }
        }

        impl$(<$parameter: 'static>)? Atomic for $name$(<$parameter>)? {
            type Value = $value;

            fn new(value: $value) -> Self {
                Self(<$real>::new(value))
            }

            #[inline]
            fn load(&self, _order: Ordering) -> $value {
                self.charge(Access::Read);
                self.0.load(Ordering::Relaxed)
            }

            #[inline]
            fn store(&self, value: $value, order: Ordering) {
                // A sequentially consistent store is a swap, as compilers make it on x86.
                let access =
                    if order == Ordering::SeqCst { Access::Rmw } else { Access::Write };
                self.charge(access);
                self.0.store(value, Ordering::Relaxed);
            }

            #[inline]
            fn swap(&self, value: $value, _order: Ordering) -> $value {
                self.modify(|_| Some(value))
            }

            #[inline]
            fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                _success: Ordering,
                _failure: Ordering,
            ) -> Result<$value, $value> {
                let old = self.modify(|old| (old == current).then_some(new));
                if old == current { Ok(old) } else { Err(old) }
            }

            #[inline]
            fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(current, new, success, failure)
            }
        }
    };
}

macro_rules! simulated_integer {
    ($(#[$doc:meta])* $name:ident $real:ty => $value:ty) => {
        simulated_word! { $(#[$doc])* $name[] $real => $value }

        impl AtomicInt for $name {
            #[inline]
            fn fetch_add(&self, value: $value, _order: Ordering) -> $value {
                self.modify(|old| Some(old.wrapping_add(value)))
            }

            #[inline]
            fn fetch_sub(&self, value: $value, _order: Ordering) -> $value {
                self.modify(|old| Some(old.wrapping_sub(value)))
            }

            #[inline]
            fn fetch_and(&self, value: $value, _order: Ordering) -> $value {
                self.modify(|old| Some(old & value))
            }

            #[inline]
            fn fetch_or(&self, value: $value, _order: Ordering) -> $value {
                self.modify(|old| Some(old | value))
            }
        }
    };
}

simulated_integer! {
    /// A simulated 32-bit word.
    SimU32 real::AtomicU32 => u32
}
simulated_integer! {
    /// A simulated 64-bit word.
    SimU64 real::AtomicU64 => u64
}
simulated_integer! {
    /// A simulated word of the size of a pointer.
    SimUsize real::AtomicUsize => usize
}
simulated_word! {
    /// A simulated pointer.
    SimPtr[T] real::AtomicPtr<T> => *mut T
}

/// Simulated plain data. Each access is charged once for every line that it covers.
#[derive(Debug)]
pub struct SimCell<T>(UnsafeCell<T>);

// SAFETY: sharing the cell only hands out raw pointers; whoever dereferences one argues that its
// accesses are ordered.
unsafe impl<T: Send> Sync for SimCell<T> {}

impl<T> SimCell<T> {
    fn charge(&self, access: Access) {
        // SAFETY: the reference ends with the statement.
        let Some(line_shift) = unsafe { engine::current() }.map(|e| e.costs.line_shift) else {
            return;
        };
        let start = self.0.get().addr();
        let last = start + size_of::<T>().max(1) - 1;
        for line in start >> line_shift..=last >> line_shift {
            charge(line << line_shift, access);
        }
    }
}

impl<T: Send> SharedCell<T> for SimCell<T> {
    fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        self.charge(Access::Read);
        read(self.0.get())
    }

    fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        // Data that is changed is read first as a rule, so the core waits for it.
        self.charge(Access::Read);
        self.charge(Access::Write);
        write(self.0.get())
    }
}

/// What a context switch takes of the host's time, in memory operations.
const OPERATIONS_A_SWITCH: u64 = 4;

impl Sim {
    /// Computes for a while without touching memory that others touch.
    pub fn work(duration: Cycles) {
        // SAFETY: the reference ends with the expression, before the suspension.
        let too_long = unsafe { engine::current() }.is_some_and(|engine| {
            engine.work(duration.0);
            engine.takes_too_long()
        });
        if too_long {
            // SAFETY: there is an engine, so this is a fiber of its; no reference is alive.
            unsafe { engine::suspend(Intent::GiveUp) };
        }
    }

    /// Lets everything happen that is earlier than the caller's time, as each access to memory does:
    /// for tasks that share something that is not simulated, such as a counter of the experiment.
    pub fn catch_up() {
        give_way_to_earlier();
    }

    /// How long cores have done what for the calling task so far.
    #[must_use]
    pub fn times() -> TaskTimes {
        // SAFETY: the reference ends with the expression.
        unsafe { engine::current() }.map_or_else(TaskTimes::default, |engine| {
            engine.tasks[engine.running_task() as usize].times
        })
    }

    /// What the simulation has cost the host so far, in a measure that is the same on every host:
    /// about the number of memory operations that would have taken as long.
    #[must_use]
    pub fn effort() -> u64 {
        // SAFETY: the reference ends with the expression.
        unsafe { engine::current() }
            .map_or(0, |engine| engine.operations + OPERATIONS_A_SWITCH * engine.switches)
    }

    /// Spins on `cell` until `done` accepts its value, but no longer than `patience`; gives the
    /// value last read. A spin loop with a bound on its turns, without simulating each of them.
    pub fn watch_for<A: Atomic>(
        cell: &A,
        patience: Cycles,
        done: impl FnMut(A::Value) -> bool,
    ) -> A::Value {
        watch(cell, Activity::Spinning, Some(patience), done)
    }

    /// Sleeps in the operating system for a while, as a thread that waits for a device does.
    pub fn sleep(duration: Cycles) {
        give_way_to_earlier();
        // SAFETY: the reference ends with the block, before the suspension.
        unsafe {
            let Some(engine) = engine::current() else { return };
            engine.pass(Activity::System, engine.costs.futex_call);
            engine.sleep(Some(duration.0.min(LONGEST_STEP)));
        }
        // SAFETY: there is an engine, so this is a fiber of its; no reference is alive.
        unsafe { engine::suspend(Intent::Sleep) };
    }

    fn in_task() -> bool {
        // SAFETY: the reference ends with the expression.
        unsafe { engine::current() }.is_some()
    }
}

thread_local! {
    /// The waiting slots of the simulations of a host thread, one after the other. They live for
    /// ever, as the platform's contract asks.
    static SLOTS: &'static [Padded<SimU32>] =
        Box::leak((0..WAIT_SLOTS).map(|_| Padded(SimU32::new(0))).collect());
}

/// Sees to it that this host thread has its waiting slots, which outlive any simulation.
pub(crate) fn prepare_wait_slots() {
    SLOTS.with(|_| ());
}

/// Clears what an earlier simulation on this host thread may have left in the waiting slots.
pub(crate) fn reset_wait_slots() {
    for slot in SLOTS.with(|slots| *slots) {
        slot.0.0.store(0, Ordering::Relaxed);
    }
}

// SAFETY: all tasks of a simulation run on one thread of the host, so that its words, which are
// those of `core`, are sequentially consistent, and the cell is an `UnsafeCell`; `wait_until`
// returns a value that `done` accepted, and `unpark` takes the address for a name.
unsafe impl Platform for Sim {
    type U32 = SimU32;
    type U64 = SimU64;
    type Usize = SimUsize;
    type Ptr<T: 'static> = SimPtr<T>;
    type Cell<T: Send + 'static> = SimCell<T>;

    fn cpu() -> CpuId {
        // SAFETY: the reference ends with the expression.
        CpuId(unsafe { engine::current() }.map_or(0, |engine| engine.current))
    }

    fn node() -> NodeId {
        // SAFETY: the reference ends with the expression.
        let engine = unsafe { engine::current() };
        NodeId(engine.map_or(0, |engine| engine.cores[engine.current as usize].place.node))
    }

    fn now() -> Cycles {
        // SAFETY: the reference ends with the expression.
        Cycles(unsafe { engine::current() }.map_or(0, |engine| engine.now()))
    }

    fn wait_until<A: Atomic>(cell: &A, how: Wait, done: impl FnMut(A::Value) -> bool) -> A::Value {
        let activity = match how {
            Wait::Spin => Activity::Spinning,
            Wait::LowPower => Activity::LowPower,
        };
        watch(cell, activity, None, done)
    }

    fn has_low_power_wait() -> bool {
        true
    }

    fn pause(turns: u32) {
        // SAFETY: the reference ends with the statement.
        if let Some(engine) = unsafe { engine::current() } {
            engine.pass(Activity::Spinning, engine.costs.pause * u64::from(turns));
        }
    }

    fn yield_now() {
        // SAFETY: the reference ends with the expression, before the suspension.
        let others = unsafe { engine::current() }.is_some_and(|engine| {
            engine.pass(Activity::System, engine.costs.futex_call);
            engine.others_want_core()
        });
        if others {
            // SAFETY: there is an engine, so this is a fiber of its; no reference is alive.
            unsafe { engine::suspend(Intent::GiveWay) };
        }
    }

    fn park(cell: &SimU32, expected: u32, timeout: Option<Nanos>) -> Parked {
        let address = std::ptr::from_ref(cell).addr();
        let bucket = enter_futex(address);
        let changed = cell.load(Ordering::SeqCst) != expected;
        // Nobody can come between this and going to sleep: the lock is free from the store on, and
        // no other task runs before this one suspends.
        leave_futex(bucket);
        if changed {
            return Parked::Changed;
        }
        // SAFETY: the reference ends with the block, before the suspension.
        unsafe {
            let Some(engine) = engine::current() else { return Parked::Woken };
            let ghz = engine.costs.clock_ghz;
            let cycles = |Nanos(ns): Nanos| ((ns as f64 * ghz) as u64).min(LONGEST_STEP);
            engine.sleep_on(address, timeout.map(cycles));
        }
        // SAFETY: there is an engine, so this is a fiber of its; no reference is alive.
        unsafe { engine::suspend(Intent::Sleep) };
        // SAFETY: the reference ends with the block.
        unsafe {
            let engine = engine::current().expect("in a task");
            let task = engine.running_task();
            if !engine.tasks[task as usize].timed_out {
                return Parked::Woken;
            }
            engine.leave_futex(address, task);
            Parked::TimedOut
        }
    }

    fn unpark(cell: *const SimU32, count: u32) -> u32 {
        let bucket = enter_futex(cell.addr());
        // SAFETY: the reference ends with the expression.
        let woken =
            unsafe { engine::current() }.map_or(0, |engine| engine.wake(cell.addr(), count));
        leave_futex(bucket);
        woken
    }

    fn wait_array() -> WaitArray<Self> {
        WaitArray::new(SLOTS.with(|slots| *slots))
    }

    fn discard<T>(object: *const T) {
        // SAFETY: the reference ends with the statement.
        if let Some(engine) = unsafe { engine::current() } {
            let line_shift = engine.costs.line_shift;
            engine.memory.forget(object.addr(), size_of::<T>(), line_shift);
        }
    }

    fn address_key<T>(object: &T) -> usize {
        let address = std::ptr::from_ref(object).addr();
        // SAFETY: the reference ends with the expression.
        unsafe { engine::current() }.map_or(0, |engine| {
            let shift = engine.costs.line_shift;
            let node = engine.cores[engine.current as usize].place.node;
            let line = engine.memory.line_at(address, shift, node).0 as usize;
            line << shift | address & ((1 << shift) - 1)
        })
    }
}

/// Waits until `done` accepts the value of `cell` or `patience` is over, and gives the value last
/// read.
pub(crate) fn watch<A: Atomic>(
    cell: &A,
    activity: Activity,
    patience: Option<Cycles>,
    mut done: impl FnMut(A::Value) -> bool,
) -> A::Value {
    let mut value = cell.load(Ordering::Acquire);
    if done(value) || !Sim::in_task() {
        return value;
    }
    let mut check = || {
        value = cell.load(Ordering::Acquire);
        done(value)
    };
    let check: *mut (dyn FnMut() -> bool + '_) = &raw mut check;
    // SAFETY: only the lifetime changes. The engine calls the condition while this fiber is
    // suspended below, which is while it lives, and forgets it when the wait is over.
    let check: Check = unsafe { std::mem::transmute(check) };
    // SAFETY: the reference ends with the block, before the suspension.
    unsafe {
        let engine = engine::current().expect("in a task");
        let address = std::ptr::from_ref(cell).addr();
        let node = engine.cores[engine.current as usize].place.node;
        let line = engine.memory.line_at(address, engine.costs.line_shift, node);
        engine.watch(
            line,
            check,
            activity,
            patience.map(|Cycles(cycles)| cycles.min(LONGEST_STEP)),
        );
    }
    // SAFETY: this is a fiber of the engine; no reference to it is alive.
    unsafe { engine::suspend(Intent::Wait) };
    value
}

/// Enters a futex system call on the word at `address`: the cost of the call, and the lock of the
/// word's hash bucket, which is the lock given back if the kernel has one to wait for.
fn enter_futex(address: usize) -> Option<&'static KernelLock> {
    give_way_to_earlier();
    // SAFETY: the reference ends with the block.
    let (bucket, lock) = unsafe {
        let engine = engine::current()?;
        engine.pass(Activity::System, engine.costs.futex_call);
        (engine.bucket(address), engine.bucket_lock(address))
    };
    give_way_to_earlier();
    if let Some(lock) = lock {
        // SAFETY: locks of buckets live as long as the engine, and this fiber no longer.
        let lock = unsafe { &*lock };
        lock.acquire();
        return Some(lock);
    }
    // SAFETY: the reference ends with the expression.
    unsafe { engine::current() }?.enter_futex(bucket);
    None
}

/// Lets a bucket go.
fn leave_futex(bucket: Option<&'static KernelLock>) {
    if let Some(lock) = bucket {
        lock.release();
    }
}
